import type { Static, TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { yielder } from '../runtime/event-loop.ts'
import { coordinates, coordinatesReason } from '../vocabulary/coordinates.ts'
import { limits } from '../vocabulary/limits.ts'
import { type FieldFault, invalidRequest, type Reason } from '../vocabulary/refusals.ts'
import { reasonKey } from '../vocabulary/values.ts'

export const absent: Reason = { en: 'is required', zh: '必填' }
const anObject: Reason = { en: 'must be a JSON object', zh: '必须是 JSON 对象' }
const anArray: Reason = { en: 'must be a JSON array', zh: '必须是 JSON 数组' }
const unknown: Reason = { en: 'is not known to this operation', zh: '不是本操作的参数' }
export const notUtf8: Reason = { en: 'must be percent-encoded UTF-8', zh: '必须是百分号编码的 UTF-8' }
const twice: Reason = { en: 'appears twice', zh: '重复给出' }
const misfit: Reason = { en: 'has the wrong type', zh: '类型与文档不符' }

interface Shape {
  type?: string
  properties?: Record<string, TSchema>
  required?: string[]
  items?: TSchema
  anyOf?: TSchema[]
  minItems?: number
  maxItems?: number
  [reasonKey]?: Reason
}

type Check = (value: unknown) => boolean

/** What the schema cannot say; `sent` is without the fields in `faulty` (their paths). */
export type FurtherCheck = (sent: Record<string, unknown>, faulty: readonly string[]) => FieldFault[]

export interface Validator<Value> {
  (value: unknown): Value
  /** Reads the value in slices, with turns of the event loop between them. */
  inSlices(value: unknown): Promise<Value>
}

/**
 * A valid request passes the compiled schema; an invalid one is walked field by field, so that up to a thousand faults
 * are reported. Returns declared fields only: no store ever gets one that no contract names. Throws 10001.
 */
export function validator<Schema extends TSchema>(
  schema: Schema,
  root: string,
  check: FurtherCheck | undefined,
): Validator<Static<Schema>> {
  const pick = picker(schema) ?? ((value: unknown) => value)
  const checks = new Map<TSchema, Check>()
  function requireNone(value: unknown, misfits: FieldFault[]): void {
    const all =
      check === undefined || misfits.length === limits.faultsShown
        ? misfits
        : [...misfits, ...furtherFaults(value, misfits, check)]
    if (all.length > 0) throw invalidRequest(all)
  }
  function read(value: unknown): Static<Schema> {
    const isFitting = fits(schema, value, checks)
    if (!isFitting || check !== undefined) {
      requireNone(value, isFitting ? [] : told(faults(schema, value, '', root, checks)))
    }
    return pick(value) as Static<Schema>
  }
  async function inSlices(value: unknown): Promise<Static<Schema>> {
    const pause = yielder()
    const misfits: FieldFault[] = []
    for (const fault of faults(schema, value, '', root, checks)) {
      if (fault === portionIsOver) await pause()
      else if (misfits.push(fault) === limits.faultsShown) break
    }
    requireNone(value, misfits)
    return (await pickInTurns(schema, value, pause)) as Static<Schema>
  }
  return Object.assign(read, { inSlices })
}

type Pick = (value: unknown) => unknown

/** Like `picker`, but `limits.validatedAtOnce` rows of a list in one turn of the event loop. */
async function pickInTurns(schema: TSchema, value: unknown, pause: () => Promise<void>): Promise<unknown> {
  const { properties } = schema as Shape
  if (properties === undefined) return value
  const picked: Record<string, unknown> = {}
  for (const [member, memberSchema] of Object.entries(properties)) {
    if (!Object.hasOwn(value as object, member)) continue
    const sent = (value as Record<string, unknown>)[member]
    const { items } = memberSchema as Shape
    const pick = picker(items ?? memberSchema) ?? ((same: unknown) => same)
    if (items === undefined || !Array.isArray(sent)) {
      picked[member] = pick(sent)
      continue
    }
    const list: unknown[] = []
    for (let from = 0; from < sent.length; from += limits.validatedAtOnce) {
      await pause()
      for (const item of sent.slice(from, from + limits.validatedAtOnce)) list.push(pick(item))
    }
    picked[member] = list
  }
  return picked
}

/** Leaves out undeclared fields, at any depth; undefined if the schema declares none. */
function picker(schema: TSchema): Pick | undefined {
  const { properties, items, anyOf } = schema as Shape
  if (properties !== undefined) return memberPicker(properties)
  if (items !== undefined) {
    const pick = picker(items)
    return pick && ((value) => (Array.isArray(value) ? value.map(pick) : value))
  }
  // An optional object or list has one alternative with fields; the others are null and "".
  const pickers = (anyOf ?? []).flatMap((option) => picker(option) ?? [])
  if (pickers.length > 1) throw new Error('a union of several objects does not determine the declared members')
  return pickers[0]
}

function memberPicker(properties: Record<string, TSchema>): Pick {
  const members = new Map(Object.entries(properties).map(([member, schema]) => [member, picker(schema)]))
  const nested = [...members].filter(([, pick]) => pick !== undefined)
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const record = value as Record<string, unknown>
    // Most bodies have no other fields, and checking this costs less than a copy.
    if (nested.length === 0 && holdsOnly(record, members)) return value
    const picked: Record<string, unknown> = {}
    for (const [member, pick] of members) {
      if (Object.hasOwn(record, member)) picked[member] = pick === undefined ? record[member] : pick(record[member])
    }
    return picked
  }
}

function holdsOnly(record: Record<string, unknown>, members: ReadonlyMap<string, unknown>): boolean {
  for (const member in record) if (!members.has(member)) return false
  return true
}

/** On the fields that match their schemas, at any depth. A field is reported once. */
function furtherFaults(value: unknown, misfits: FieldFault[], check: FurtherCheck) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  if (misfits.length === 0) return check(value as Record<string, unknown>, [])
  const faulty = misfits.map(({ field }) => field)
  const told = new Set(faulty.flatMap(withAncestors))
  const fits = fitting(value, '', new Set(faulty)) as Record<string, unknown>
  return check(fits, faulty).filter(({ field }) => !told.has(field))
}

/** Such as `rows[1].name`, `rows[1]` and `rows`. */
const withAncestors = (path: string) => [path, ...[...path.matchAll(/[.[]/g)].map(({ index }) => path.slice(0, index))]

/** Without faulty fields, at any depth. Lists with an item that is not a record are left out. */
function fitting(value: unknown, path: string, faulty: ReadonlySet<string>): unknown {
  // A query may have a member without a name, which is not the whole query.
  if (path !== '' && faulty.has(path)) return undefined
  if (Array.isArray(value)) {
    const items = value.map((item, index) => fitting(item, `${path}[${index}]`, faulty))
    return items.includes(undefined) ? undefined : items
  }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [
    name,
    fitting(member, path === '' ? name : `${path}.${name}`, faulty),
  ])
  return Object.fromEntries(members.filter(([, member]) => member !== undefined))
}

/** Yielded now and then in a long list, so that the caller can pause. */
const portionIsOver = Symbol('a limits.validatedAtOnce is over')

type Faults = Generator<FieldFault | typeof portionIsOver, void>

function told(faults: Faults): FieldFault[] {
  const first: FieldFault[] = []
  for (const fault of faults) if (fault !== portionIsOver && first.push(fault) === limits.faultsShown) break
  return first
}

function* faults(schema: TSchema, value: unknown, path: string, root: string, checks: Map<TSchema, Check>): Faults {
  const shape = schema as Shape
  if (shape.properties !== undefined) return yield* objectFaults(shape, value, path, root, checks)
  if (shape.items !== undefined) return yield* arrayFaults(shape, value, path, root, checks)
  if (fits(schema, value, checks)) return
  // An optional object or list is reported field by field too; its other alternatives are null and "".
  const composite = shape.anyOf?.find((option) => (option as Shape).properties ?? (option as Shape).items)
  if (composite !== undefined && typeof value === 'object') return yield* faults(composite, value, path, root, checks)
  const special = shape[reasonKey] === (coordinates as Shape)[reasonKey] ? coordinatesReason(value) : undefined
  yield { field: path, reason: special ?? shape[reasonKey] ?? misfit }
}

function* objectFaults(shape: Shape, value: unknown, path: string, root: string, checks: Map<TSchema, Check>): Faults {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return yield { field: path || root, reason: anObject }
  }
  for (const [member, memberSchema] of Object.entries(shape.properties ?? {})) {
    const field = path === '' ? member : `${path}.${member}`
    const memberValue = Object.hasOwn(value, member) ? (value as Record<string, unknown>)[member] : undefined
    if (memberValue !== undefined) yield* faults(memberSchema, memberValue, field, root, checks)
    else if (shape.required?.includes(member)) yield { field, reason: absent }
  }
}

function* arrayFaults(shape: Shape, value: unknown, path: string, root: string, checks: Map<TSchema, Check>): Faults {
  if (!Array.isArray(value)) return yield { field: path, reason: anArray }
  const items = shape.items as TSchema
  if (value.length > (shape.maxItems ?? Number.POSITIVE_INFINITY) || value.length < (shape.minItems ?? 0)) {
    return yield { field: path, reason: sizeReason(shape) }
  }
  for (const [index, item] of value.entries()) {
    if (index % limits.validatedAtOnce === limits.validatedAtOnce - 1) yield portionIsOver
    if (!fits(items, item, checks)) yield* faults(items, item, `${path}[${index}]`, root, checks)
  }
}

function fits(schema: TSchema, value: unknown, checks: Map<TSchema, Check>): boolean {
  let check = checks.get(schema)
  if (check === undefined) {
    const compiled = Compile(schema)
    check = (candidate) => compiled.Check(candidate)
    checks.set(schema, check)
  }
  return check(value)
}

function sizeReason(shape: Shape): Reason {
  const least = shape.minItems ?? 0
  return shape.maxItems === undefined
    ? { en: `must hold at least ${least} items`, zh: `至少 ${least} 项` }
    : { en: `must hold ${least} to ${shape.maxItems} items`, zh: `必须有 ${least} 至 ${shape.maxItems} 项` }
}

/** Integers become numbers. Throws 10001, also for unknown names: a misspelt filter would match everything. */
export function queryReader<Schema extends TObject>(
  schema: Schema,
  check?: FurtherCheck,
): (query: string) => Static<Schema> {
  const checks = new Map<TSchema, Check>()
  const integers = new Set(
    Object.entries(schema.properties).flatMap(([member, memberSchema]) => (isInteger(memberSchema) ? [member] : [])),
  )
  function parse(query: string): { value: Record<string, unknown>; wrong: Map<string, Reason> } {
    const value: Record<string, unknown> = {}
    const wrong = new Map(undecodable(query).map((member): [string, Reason] => [member, notUtf8]))
    for (const [member, written] of new URLSearchParams(query)) {
      if (!Object.hasOwn(schema.properties, member)) wrong.set(member, unknown)
      else if (Object.hasOwn(value, member)) wrong.set(member, twice)
      else value[member] = integers.has(member) ? wholeNumber(written) : written
    }
    return { value, wrong }
  }
  function read(query: string): Static<Schema> {
    const { value, wrong } = parse(query)
    const all = [...wrong].map(([field, reason]): FieldFault => ({ field, reason }))
    if (wrong.size > 0 || !fits(schema, value, checks)) {
      all.push(...told(faults(schema, value, '', 'query', checks)).filter(({ field }) => !wrong.has(field)))
    }
    if (check !== undefined) all.push(...furtherFaults(value, all, check))
    if (all.length === 0) return value as Static<Schema>
    throw invalidRequest(all.slice(0, limits.faultsShown))
  }
  if (Object.keys(schema.properties).length > 0) return read
  // Nearly every write has an empty query.
  return (query) => (query === '' ? ({} as Static<Schema>) : read(query))
}

/** Not percent-encoded UTF-8: a parser would put replacements into them. */
export function undecodable(query: string): string[] {
  if (!query.includes('%')) return []
  return query.split('&').flatMap((part) => {
    try {
      decodeURIComponent(part)
      return []
    } catch {
      return [...new URLSearchParams(part).keys()]
    }
  })
}

/** Returns the text itself if it is no whole number. */
export function wholeNumber(written: string): number | string {
  return /^(0|[1-9]\d{0,15})$/.test(written) ? Number(written) : written
}

export function isInteger(schema: TSchema): boolean {
  const shape = schema as Shape & { const?: unknown }
  return (
    shape.type === 'integer' ||
    typeof shape.const === 'number' ||
    (shape.anyOf?.some((option) => isInteger(option)) ?? false)
  )
}

const mostUnknown = 100

/** An ignored unknown filter would let more rows match than was meant. */
export function unknownWithin(member: string, schema: TObject, filter: object, reason: Reason): FieldFault[] {
  return Object.keys(filter)
    .filter((name) => !Object.hasOwn(schema.properties, name))
    .slice(0, mostUnknown)
    .map((name) => ({ field: `${member}.${shownName(name)}`, reason }))
}

/** A name can hold anything, and the reader may be a terminal. */
const shownName = (name: string) => (/^\P{Cc}+$/u.test(name) ? name.slice(0, 128) : '?')
