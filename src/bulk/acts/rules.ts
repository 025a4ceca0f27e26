import type { Static, TObject, TSchema } from 'typebox'
import { isInteger, unknownWithin, validator } from '../../http/validate.ts'
import { type FieldFault, fieldFault, type Reason, Refusal } from '../../vocabulary/refusals.ts'
import { rolesOf } from '../../vocabulary/roles.ts'
import { given } from '../../vocabulary/values.ts'
import {
  type ActKind,
  type ActName,
  actChanges,
  actFilters,
  type createAct,
  singleOf,
  singleOperation,
} from './contract.ts'

type Body = Static<NonNullable<typeof createAct.body>>
type Members = Record<string, unknown>

export interface GivenAct {
  kind: ActKind
  act: ActName
  filter: Members
  changes: Members | null
  targetAppId: string | null
  reason: string | null
}

export function readAct({ kind, act, filter, set, targetAppId, reason }: Body): GivenAct {
  return {
    kind,
    act,
    filter: givenOf(filter),
    changes: act === 'update' ? pick(actChanges[kind], given(set) ?? {}) : null,
    targetAppId: given(targetAppId),
    reason: given(reason),
  }
}

const givenOf = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== ''))

const pick = ({ properties }: TObject, members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([name]) => Object.hasOwn(properties, name)))

/** Tells whether only operators may start or cancel it, as with one device. */
export const isOperators = (kind: ActKind, act: ActName): boolean => {
  const single = singleOperation(kind, act)
  return single !== undefined && !rolesOf(single).includes('developer')
}

/** Returns the errors that depend on kind and action. */
export function actFaults({ kind, act, filter, set, targetAppId, reason }: Partial<Body>): FieldFault[] {
  if (kind === undefined) return []
  const faults: FieldFault[] = []
  const isKnown = act !== undefined && singleOperation(kind, act) !== undefined
  if (act !== undefined && !isKnown) {
    const names = Object.keys(singleOf[kind])
    const en = `must be one of ${names.join(', ')} for ${kind}`
    faults.push(fieldFault('act', en, `${kind} 只能是 ${names.join('、')} 之一`))
  }
  if (filter !== undefined) faults.push(...filterFaults(kind, filter))
  if (!isKnown) return faults
  const changes = given(set)
  if (act === 'update') faults.push(...changeFaults(kind, changes))
  else if (changes !== null) faults.push({ field: 'set', reason: onlyFor('update') })
  if (act === 'transfer' && given(targetAppId) === null) faults.push({ field: 'targetAppId', reason: required })
  if (act !== 'transfer' && given(targetAppId) !== null)
    faults.push({ field: 'targetAppId', reason: onlyFor('transfer') })
  if (isOperators(kind, act) && given(reason) === null) faults.push({ field: 'reason', reason: required })
  return faults
}

const required: Reason = { en: 'is required for this action', zh: '此操作必填' }
const onlyFor = (act: ActName): Reason => ({ en: `is only for the action ${act}`, zh: `仅用于 ${act}` })

function filterFaults(kind: ActKind, filter: Members): FieldFault[] {
  const schema = actFilters[kind]
  const unknown = { en: `is not a filter of ${kind}`, zh: `不是 ${kind} 的筛选条件` }
  const faults = [...unknownWithin('filter', schema, filter, unknown), ...faultsWithin('filter', schema, filter)]
  if (faults.length > 0) return faults
  const { all, ...others } = givenOf(filter)
  const isEmpty = Object.keys(others).length === 0
  if (all === false) return [fieldFault('filter.all', 'must be true or omitted', '只能是 true，或不填')]
  if (all === undefined && isEmpty) {
    return [fieldFault('filter', 'must have at least one filter, or all: true', '至少要有一个筛选条件，或 all: true')]
  }
  if (all !== undefined && !isEmpty) {
    return [fieldFault('filter.all', 'can’t be combined with other filters', '不得与其他筛选条件同时给出')]
  }
  return []
}

function changeFaults(kind: ActKind, changes: Members | null): FieldFault[] {
  if (changes === null || Object.keys(pick(actChanges[kind], changes)).length === 0) {
    return [fieldFault('set', 'must have at least one field to change', '至少要有一个要修改的字段')]
  }
  return faultsWithin('set', actChanges[kind], changes)
}

const readers = new Map<TObject, (value: unknown) => unknown>()

/** Checks an object by a schema. Returns the errors with `member` before each field. */
function faultsWithin(member: string, schema: TObject, value: Members): FieldFault[] {
  const read = readers.get(schema) ?? validator(schema, member, undefined)
  readers.set(schema, read)
  try {
    read(value)
    return []
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return (error.errors ?? []).map(({ field, reason }) => ({ field: `${member}.${field}`, reason }))
  }
}

/** Reads texts as the JSON types of a schema; empty means null. */
export const readTexts = ({ properties }: TObject, texts: Record<string, string>): Members =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, readText(properties[name], text)]))

function readText(schema: TSchema | undefined, text: string): unknown {
  if (text === '') return null
  if (schema === undefined) return text
  if (isInteger(schema) && /^\d{1,16}$/.test(text)) return Number(text)
  return isBoolean(schema) && /^(true|false)$/.test(text) ? text === 'true' : text
}

const isBoolean = ({ type, anyOf = [] }: { type?: string; anyOf?: object[] }): boolean =>
  type === 'boolean' || anyOf.some(isBoolean)
