import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { pageBillingRules } from '../billing-rules/contract.ts'
import { pageDeliveries } from '../deliveries/contract.ts'
import { DeviceBatchRow, pageDevices } from '../devices/contract.ts'
import { pageEvents } from '../events/contract.ts'
import { pageSites, SiteBatchRow } from '../sites/contract.ts'
import { limits } from '../vocabulary/limits.ts'
import { operation } from '../vocabulary/operation.ts'
import { pageOf, pageQuery, timeRange } from '../vocabulary/pages.ts'
import {
  anyAppId,
  described,
  deviceNo,
  integer,
  moment,
  name,
  named,
  nullable,
  oneOf,
  optional,
  ownAppId,
  textOneOf,
} from '../vocabulary/values.ts'

const InventoryRow = Type.Object({ deviceNo, modelName: name })

/** The rows of each kind of import. */
export const importRows = { sites: SiteBatchRow, devices: DeviceBatchRow, inventory: InventoryRow } satisfies Record<
  string,
  TObject
>
export type ImportKind = keyof typeof importRows

const ImportKindName = named('ImportKind', textOneOf(Object.keys(importRows) as ImportKind[], 'What its rows are.'))

const mediaTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson', geojson: 'application/geo+json' } as const
export type ImportFormat = 'csv' | 'ndjson'
export type ExportFormat = keyof typeof mediaTypes

export const mediaTypeOf = (format: ExportFormat) => mediaTypes[format]
export const formatOf = (mediaType: string): ImportFormat => (mediaType === mediaTypes.csv ? 'csv' : 'ndjson')

export const importStatus = { waiting: 1, running: 2, done: 3, failed: 4, cancelled: 5 } as const

const ImportStatus = named(
  'ImportStatus',
  described(oneOf(1, 2, 3, 4, 5), '1 waiting, 2 running, 3 done, 4 failed, 5 cancelled.'),
)

export const ImportRecord = named(
  'Import',
  Type.Object({
    id: Type.Integer(),
    appId: nullable(Type.String({ description: 'null for the inventory' })),
    kind: ImportKindName,
    format: textOneOf(['csv', 'ndjson'], 'How the file was written.'),
    dryRun: Type.Boolean({ description: 'True: its rows are looked at, and nothing is written.' }),
    status: ImportStatus,
    rows: Type.Integer({ description: 'How many rows the file has.' }),
    created: Type.Integer({ description: 'Rows that were created.' }),
    existing: Type.Integer({ description: 'Rows that were there already, with the same content.' }),
    refused: Type.Integer({ description: 'Rows that were refused.' }),
    bytes: Type.Integer({ description: 'How large the file is.' }),
    bytesRead: Type.Integer({ description: 'How much of it is done.' }),
    actor: Type.String(),
    createTime: moment,
    finishTime: nullable(Type.String({ description: 'When it came to its end; null before.' })),
    error: nullable(Type.String({ description: 'Why it failed; null unless it did.' })),
  }),
)
export type ImportRecord = Static<typeof ImportRecord>

const folder = '/api/bulk/v1'
const callers = ['application', 'operator'] as const
const id = integer(1)

export const createImport = operation({
  id: 'createImport',
  group: 'bulk',
  summary:
    'Accepts a file of rows, up to 1 GB, and imports it in the background, one file at a time for an application. A row that exists already with the same content counts as `existing`, so a file can be sent twice.',
  method: 'POST',
  path: `${folder}/import/create`,
  callers,
  query: Type.Object({
    appId: ownAppId,
    kind: ImportKindName,
    format: optional(textOneOf(['csv', 'ndjson'], 'As the media type says, when left out.')),
    dryRun: optional(textOneOf(['true', 'false'], 'true: says what would happen, and writes nothing.')),
  }),
  takes: [mediaTypes.csv, mediaTypes.ndjson],
  data: ImportRecord,
  refusals: ['applicationNotFound', 'importRunning'],
  statuses: {},
  maxBodyBytes: limits.fileBytes,
  idempotent: true,
})

export const getImport = operation({
  id: 'getImport',
  group: 'bulk',
  summary: 'Answers one import, and how far it is.',
  method: 'GET',
  path: `${folder}/import/detail`,
  callers,
  query: Type.Object({ appId: anyAppId, id }),
  data: ImportRecord,
  refusals: ['applicationNotFound', 'importNotFound'],
})

export const pageImports = operation({
  id: 'pageImports',
  group: 'bulk',
  summary: 'Pages through the imports of the last 7 days, newest first.',
  method: 'GET',
  path: `${folder}/import/page`,
  callers,
  query: Type.Object({
    appId: anyAppId,
    ...pageQuery,
    kind: optional(ImportKindName),
    status: optional(ImportStatus),
    ...timeRange,
  }),
  data: pageOf(ImportRecord),
  refusals: ['applicationNotFound'],
})

export const cancelImport = operation({
  id: 'cancelImport',
  group: 'bulk',
  summary: 'Cancels an import that waits or runs; rows that it has written stay.',
  method: 'POST',
  path: `${folder}/import/cancel`,
  callers,
  body: Type.Object({ appId: ownAppId, id }),
  data: ImportRecord,
  refusals: ['applicationNotFound', 'importNotFound', 'importRunning'],
})

/** The outcomes of a row. */
export const outcomes = ['created', 'existing', 'refused'] as const
export type Outcome = (typeof outcomes)[number]

export const getImportResult = operation({
  id: 'getImportResult',
  group: 'bulk',
  summary:
    'Answers one line of NDJSON for each row that has been looked at: `line`, `outcome`, `code`, `msg`, `errors`, and the `deviceNo` or the site’s `id`.',
  method: 'GET',
  path: `${folder}/import/result`,
  callers,
  query: Type.Object({
    appId: anyAppId,
    id,
    outcome: optional(textOneOf(outcomes, 'Only rows that were created, existing or refused.')),
  }),
  data: Type.Unknown(),
  answers: [mediaTypes.ndjson],
  refusals: ['applicationNotFound', 'importNotFound'],
})

/** The operation whose rows and filters each export has. */
export const exportPages = {
  sites: pageSites,
  devices: pageDevices,
  billingRules: pageBillingRules,
  events: pageEvents,
  deliveries: pageDeliveries,
}
export type ExportKind = keyof typeof exportPages

type Query = NonNullable<(typeof exportPages)[ExportKind]['query']>

/** The filters of a kind: what its page operation takes but for the page. */
export const exportFilters = (kind: ExportKind): TObject => {
  const { pageNo, pageSize, cursor, ...filters } = (exportPages[kind].query as Query).properties
  return Type.Object(filters)
}

const kinds = Object.keys(exportPages) as ExportKind[]
/** A filter's name means the same for every kind, but its values depend on the kind and are checked with it. */
const everyFilter: Record<never, TSchema> = {
  ...Object.assign({}, ...kinds.map((kind) => exportFilters(kind).properties)),
  status: optional(described(integer(), 'As the kind’s page operation has it.')),
  type: optional(Type.String({ description: 'One type of event or several, with commas between them.' })),
}

export const createExport = operation({
  id: 'createExport',
  group: 'bulk',
  summary:
    'Answers all rows of a kind as a file, with the filters of its page operation. In CSV a quote is put before text that a spreadsheet would take for a formula. GeoJSON, of sites and devices, is in WGS 84.',
  method: 'GET',
  path: `${folder}/export/create`,
  callers,
  query: Type.Object({
    kind: textOneOf(kinds, 'What its rows are.'),
    format: optional(textOneOf(Object.keys(mediaTypes) as ExportFormat[], 'csv when left out.')),
    ...everyFilter,
  }),
  data: Type.Unknown(),
  answers: Object.values(mediaTypes),
  refusals: ['applicationNotFound'],
})

export const getTemplate = operation({
  id: 'getTemplate',
  group: 'bulk',
  summary: 'Answers an empty CSV file with the columns of an import.',
  method: 'GET',
  path: `${folder}/template`,
  callers,
  query: Type.Object({ kind: ImportKindName }),
  data: Type.Unknown(),
  answers: [mediaTypes.csv],
  refusals: [],
})
