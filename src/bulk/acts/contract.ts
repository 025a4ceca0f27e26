import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { DeviceBatchRow, pageDevices, updateDevice } from '../../devices/contract.ts'
import { forceUnbindDevice, transferDevice, unbindDevice } from '../../devices/ownership/contract.ts'
import { deleteSite, pageSites, SiteBatchRow, updateSite } from '../../sites/contract.ts'
import { operation } from '../../vocabulary/operation.ts'
import { pageOf, pageQuery, sortMembers, timeRange } from '../../vocabulary/pages.ts'
import type { Admission } from '../../vocabulary/roles.ts'
import {
  anyAppId,
  appId,
  described,
  integer,
  moment,
  named,
  nullable,
  oneOf,
  optional,
  ownAppId,
  reasonText,
  shownKey,
  textOneOf,
} from '../../vocabulary/values.ts'
import { jobStatusValues, jobStatusWords } from '../jobs/contract.ts'
import { JobFailure } from '../jobs/failure/contract.ts'

/** The acts on each kind of row, with the operation that does the same to one row. */
export const singleOf = {
  devices: { update: updateDevice, unbind: unbindDevice, forceUnbind: forceUnbindDevice, transfer: transferDevice },
  sites: { update: updateSite, delete: deleteSite },
} satisfies Record<string, Record<string, Admission>>

export type ActKind = keyof typeof singleOf
export type ActName = 'update' | 'unbind' | 'forceUnbind' | 'transfer' | 'delete'

/** The operation that does to one row what the act does to many; undefined for an act that the kind does not know. */
export const singleOperation = (kind: ActKind, act: ActName): Admission | undefined =>
  (singleOf[kind] as Partial<Record<ActName, Admission>>)[act]

const kinds = Object.keys(singleOf) as ActKind[]
const actNames: readonly ActName[] = ['update', 'unbind', 'forceUnbind', 'transfer', 'delete']

interface Choice {
  description?: string
  const?: unknown
  anyOf?: Choice[]
}

const wordsOf = ({ description, anyOf = [] }: Choice): string =>
  description ?? anyOf.map(wordsOf).find((words) => words !== '') ?? ''

const isFlag = ({ const: value, anyOf = [] }: Choice): boolean => value === 'true' || anyOf.some(isFlag)

/** The query members of a page operation that an act does not take as filters. */
const noFilters = ['appId', ...Object.keys(pageQuery), ...sortMembers]

/**
 * The filters of a page operation as members of a JSON body. A filter that is the text `true` or `false` in a query is a
 * boolean here.
 */
function filtersOf({ query }: { query?: TObject }): TObject {
  const members = Object.entries((query as TObject).properties).filter(([name]) => !noFilters.includes(name))
  return Type.Object(
    Object.fromEntries(
      members.map(([name, schema]): [string, TSchema] => [
        name,
        isFlag(schema as object) ? optional(Type.Boolean({ description: wordsOf(schema as Choice) })) : schema,
      ]),
    ),
  )
}

const all = optional(Type.Boolean({ description: 'true: every row; without other filters.' }))

/** The filters of each kind, and the members that an update of it sets. */
export const actFilters = {
  devices: Type.Object({ ...filtersOf(pageDevices).properties, all }),
  sites: Type.Object({ ...filtersOf(pageSites).properties, all }),
} satisfies Record<ActKind, TObject>

const { deviceNo: _, ...deviceMembers } = Type.Partial(DeviceBatchRow).properties
export const actChanges = {
  devices: named('DeviceChanges', Type.Object(deviceMembers, { examples: [{ tag: 'lane=1' }] })),
  sites: named('SiteChanges', Type.Object(Type.Partial(SiteBatchRow).properties)),
} satisfies Record<ActKind, TObject>

type Members = Record<string, unknown>

/**
 * The request is checked against the filters of its own kind, member by member; the OpenAPI document shows the filters
 * of both kinds.
 */
const ActFilter = Type.Unsafe<Members>({
  type: 'object',
  description:
    'The filters of the page operation of the kind, as JSON values: at least one of them, or `all`. A row must fit all of them.',
  [shownKey]: named(
    'ActFilter',
    Type.Object(
      { ...actFilters.sites.properties, ...actFilters.devices.properties },
      { examples: [{ cityCode: '360100' }] },
    ),
  ),
})
const ActChanges = Type.Unsafe<Members>({
  type: 'object',
  description: 'For update: the members to change, as the update of one row takes them.',
  [shownKey]: Type.Union([actChanges.devices, actChanges.sites]),
})

const ActKindName = named('ActKind', textOneOf(kinds, 'The kind of the rows.'))
const ActNameText = named(
  'ActName',
  textOneOf(
    actNames,
    'Of devices: update, unbind and, for operators, forceUnbind and transfer; of sites: update and delete.',
  ),
)
const ActStatus = named('ActStatus', described(oneOf(...jobStatusValues), jobStatusWords))

const members = {
  appId: Type.String(),
  kind: ActKindName,
  act: ActNameText,
  filter: ActFilter,
  set: nullable(ActChanges),
  targetAppId: nullable(
    Type.String({ description: 'for a transfer: the new owner; null for callers that may not see it' }),
  ),
  reason: nullable(Type.String()),
  dryRun: Type.Boolean({ description: 'True: the rows were only counted.' }),
  status: ActStatus,
  rows: Type.Integer({ description: 'How many rows matched when the act began.' }),
  done: Type.Integer({ description: 'Rows that the act changed.' }),
  unchanged: Type.Integer({ description: 'Rows that needed no change; they write no event.' }),
  refused: Type.Integer({ description: 'Rows that were refused.' }),
  actor: Type.String(),
  createTime: moment,
  finishTime: nullable(Type.String({ description: 'When the act ended; null before.' })),
  error: nullable(Type.String({ description: 'Why the act failed; null if it did not fail.' })),
  failure: nullable(JobFailure),
}

export const ActRecord = named('Act', Type.Object({ id: Type.Integer(), ...members }))
export type ActRecord = Static<typeof ActRecord>

const BegunAct = named(
  'BegunAct',
  Type.Object({
    id: nullable(Type.Integer({ description: 'null for a dry run, of which nothing is kept' })),
    ...members,
  }),
)
export type BegunAct = Static<typeof BegunAct>

const folder = '/api/bulk/v1/act'
const callers = ['application', 'operator'] as const
const id = integer(1)

export const createAct = operation({
  id: 'createAct',
  group: 'bulk',
  summary:
    'Carries out an operation on every device or site that matches, in the background: on the rows that exist when this is answered and that still match when the act reaches them. Each row writes the event of the single operation. One import or act of an application at a time.',
  method: 'POST',
  path: `${folder}/create`,
  callers,
  example: { kind: 'devices', act: 'update', filter: { cityCode: '360100' }, set: { tag: 'lane=1' } },
  body: Type.Object({
    appId: ownAppId,
    kind: ActKindName,
    act: ActNameText,
    filter: ActFilter,
    set: optional(ActChanges),
    targetAppId: optional(described(appId, 'For transfer: the application that the devices go to; it must be online.')),
    reason: optional(described(reasonText, 'In words; forceUnbind and transfer must have one.')),
    expectedRows: optional(
      described(integer(), 'How many rows the caller has seen to match: with another number the act is refused.'),
    ),
    dryRun: optional(
      Type.Boolean({
        description: 'true: only counts the rows. Nothing is kept: `id` is null, and no idempotency key is used up.',
      }),
    ),
  }),
  data: BegunAct,
  refusals: ['confirmationRequired', 'applicationNotFound', 'importRunning', 'rowsChanged'],
  // Millions of rows are counted before the answer, in steps.
  answerTimeoutMs: 60_000,
  idempotent: true,
})

export const getAct = operation({
  id: 'getAct',
  group: 'bulk',
  summary: 'Answers one act and its progress.',
  method: 'GET',
  path: `${folder}/detail`,
  callers,
  query: Type.Object({ appId: anyAppId, id }),
  data: ActRecord,
  refusals: ['applicationNotFound', 'importNotFound'],
})

export const pageActs = operation({
  id: 'pageActs',
  group: 'bulk',
  summary: 'Pages through the acts of the last 7 days, newest first.',
  method: 'GET',
  path: `${folder}/page`,
  callers,
  query: Type.Object({
    appId: anyAppId,
    ...pageQuery,
    kind: optional(ActKindName),
    status: optional(ActStatus),
    ...timeRange,
  }),
  data: pageOf(ActRecord),
  refusals: ['applicationNotFound'],
})

export const cancelAct = operation({
  id: 'cancelAct',
  group: 'bulk',
  summary: 'Cancels an act that waits or runs; rows that it has changed stay so.',
  method: 'POST',
  path: `${folder}/cancel`,
  callers,
  body: Type.Object({ appId: anyAppId, id }),
  data: ActRecord,
  refusals: ['applicationNotFound', 'importNotFound', 'importRunning'],
})

/** The outcomes of a row. */
export const actOutcomes = ['done', 'unchanged', 'refused'] as const

export const getActResult = operation({
  id: 'getActResult',
  group: 'bulk',
  summary:
    'Answers one line of NDJSON for each row that has an outcome: `outcome`, `code`, `msg`, `errors`, and the `deviceNo` or the site’s `id`.',
  method: 'GET',
  path: `${folder}/result`,
  callers,
  query: Type.Object({
    appId: anyAppId,
    id,
    outcome: optional(textOneOf(actOutcomes, 'Only rows with this outcome.')),
  }),
  data: Type.Unknown(),
  answers: ['application/x-ndjson'],
  refusals: ['applicationNotFound', 'importNotFound'],
})
