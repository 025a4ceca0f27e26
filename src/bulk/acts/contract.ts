import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { DeviceBatchRow, pageDevices, updateDevice } from '../../devices/contract.ts'
import { forceUnbindDevice, transferDevice, unbindDevice } from '../../devices/ownership/contract.ts'
import { deleteSite, pageSites, SiteBatchRow, updateSite } from '../../sites/contract.ts'
import { filterMembers, isFlag } from '../../vocabulary/filters.ts'
import { operation } from '../../vocabulary/operation.ts'
import { pageOf, pageQuery, timeRange } from '../../vocabulary/pages.ts'
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

/** Bulk actions by kind, each with the operation that does the same to one row. */
export const singleOf = {
  devices: { update: updateDevice, unbind: unbindDevice, forceUnbind: forceUnbindDevice, transfer: transferDevice },
  sites: { update: updateSite, delete: deleteSite },
} satisfies Record<string, Record<string, Admission>>

export type ActKind = keyof typeof singleOf
export type ActName = 'update' | 'unbind' | 'forceUnbind' | 'transfer' | 'delete'

/** Returns the operation that does the same to one row; undefined for another kind's action. */
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

/** Returns a list operation's filters as fields of a JSON body, where `true` and `false` are booleans. */
function filtersOf({ query }: { query?: TObject }): TObject {
  return Type.Object(
    Object.fromEntries(
      filterMembers(query).map(([name, schema]): [string, TSchema] => [
        name,
        isFlag(schema as object) ? optional(Type.Boolean({ description: wordsOf(schema as Choice) })) : schema,
      ]),
    ),
  )
}

const all = optional(Type.Boolean({ description: 'true: all rows. Can’t be combined with other filters.' }))

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

/** The request is checked against its own kind's filters; the OpenAPI document shows those of both kinds. */
const ActFilter = Type.Unsafe<Members>({
  type: 'object',
  description:
    'Filters of the list operation of this kind, as JSON values: at least one, or `all`. Rows must match all of them.',
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
  description: 'For update: the fields to set, as in the update operation of a single row.',
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
    Type.String({
      description: 'for a transfer: the application that receives the devices; null for callers that may not see it',
    }),
  ),
  reason: nullable(Type.String()),
  dryRun: Type.Boolean({ description: 'true: matches were only counted.' }),
  status: ActStatus,
  rows: Type.Integer({ description: 'Rows that matched at the start.' }),
  done: Type.Integer({ description: 'Rows that were changed.' }),
  unchanged: Type.Integer({ description: 'Rows that needed no change; they write no event.' }),
  refused: Type.Integer({ description: 'Rows that were refused.' }),
  actor: Type.String(),
  createTime: moment,
  finishTime: nullable(Type.String({ description: 'When the bulk action finished; null until then.' })),
  error: nullable(Type.String({ description: 'Why the bulk action failed; null if it didn’t.' })),
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
    'Starts a bulk action: runs an operation in the background on all devices or sites that match the filters. It covers rows that exist at the time of the response and still match when they are processed. Each row writes the same event as the single operation. An application can run one import or bulk action at a time.',
  words: { en: 'Start a bulk action', zh: '开始批量操作' },
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
    targetAppId: optional(
      described(appId, 'For transfer: the application that receives the devices. It must be online.'),
    ),
    reason: optional(described(reasonText, 'The reason; required for forceUnbind and transfer.')),
    expectedRows: optional(
      described(integer(), 'The number of matches that you expect. If it differs, the request is refused.'),
    ),
    dryRun: optional(
      Type.Boolean({
        description: 'true: only counts the rows. Nothing is kept: `id` is null, and no idempotency key is used up.',
      }),
    ),
  }),
  data: BegunAct,
  refusals: ['confirmationRequired', 'applicationNotFound', 'importRunning', 'rowsChanged'],
  // Millions of rows are counted in steps before the response.
  answerTimeoutMs: 60_000,
  idempotent: true,
})

export const getAct = operation({
  id: 'getAct',
  group: 'bulk',
  summary: 'Returns one bulk action with its progress.',
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
  summary: 'Lists bulk actions of the last 7 days, newest first.',
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
  summary: 'Cancels a waiting or running bulk action. Changes already made are kept.',
  words: { en: 'Cancel a bulk action', zh: '取消批量操作' },
  method: 'POST',
  path: `${folder}/cancel`,
  callers,
  body: Type.Object({ appId: anyAppId, id }),
  data: ActRecord,
  refusals: ['applicationNotFound', 'importNotFound', 'importRunning'],
})

export const actOutcomes = ['done', 'unchanged', 'refused'] as const

export const getActResult = operation({
  id: 'getActResult',
  group: 'bulk',
  summary:
    'Returns the results as NDJSON, one line per processed row: `outcome`, `code`, `msg`, `errors`, and the `deviceNo` or the site’s `id`.',
  method: 'GET',
  path: `${folder}/result`,
  callers,
  query: Type.Object({
    appId: anyAppId,
    id,
    outcome: optional(textOneOf(actOutcomes, 'Only rows with this result.')),
  }),
  data: Type.Unknown(),
  answers: ['application/x-ndjson'],
  refusals: ['applicationNotFound', 'importNotFound'],
})
