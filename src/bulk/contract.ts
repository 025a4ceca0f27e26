import Type, { type Static, type TObject, type TSchema } from 'typebox'
import { pageBillingRules } from '../billing-rules/contract.ts'
import { pageDeliveries } from '../deliveries/contract.ts'
import { DeviceBatchRow, DeviceUpdateRow, ExportedDevice, pageDevices } from '../devices/contract.ts'
import { PlacementBatchRow, PlacementUpsertRow, pagePlacements } from '../devices/placement/contract.ts'
import { pageAudit, pageEvents } from '../events/contract.ts'
import { pageRefusals } from '../events/refusal-log/contract.ts'
import { pageSites, SiteBatchRow, SiteUpdateRow } from '../sites/contract.ts'
import { pagePriceChanges } from '../sites/price-changes/contract.ts'
import { limits } from '../vocabulary/limits.ts'
import { type Operation, operation } from '../vocabulary/operation.ts'
import { pageOf, pageQuery, timeRange } from '../vocabulary/pages.ts'
import {
  anyAppId,
  appId,
  described,
  deviceNo,
  integer,
  moment,
  name,
  named,
  nullable,
  oneOf,
  optional,
  textOneOf,
} from '../vocabulary/values.ts'
import { jobStatusValues, jobStatusWords } from './jobs/contract.ts'
import { JobFailure } from './jobs/failure/contract.ts'

const InventoryRow = Type.Object({ deviceNo, modelName: name })

export const importRows = {
  sites: SiteBatchRow,
  devices: DeviceBatchRow,
  placements: PlacementBatchRow,
  inventory: InventoryRow,
} satisfies Record<string, TObject>
export type ImportKind = keyof typeof importRows

const id = integer(1)
const SiteUpsertRow = Type.Object({ ...SiteUpdateRow.properties, id: optional(id) })

/** A row that proves to be new is checked again for what a create needs. */
const upsertRows = {
  sites: SiteUpsertRow,
  devices: DeviceUpdateRow,
  placements: PlacementUpsertRow,
  inventory: InventoryRow,
} satisfies Record<ImportKind, TObject>

export const importModes = ['create', 'upsert'] as const
export type ImportMode = (typeof importModes)[number]

export const rowsOf = (kind: ImportKind, mode: ImportMode): TObject =>
  mode === 'upsert' ? upsertRows[kind] : importRows[kind]

const ImportKindName = named(
  'ImportKind',
  textOneOf(Object.keys(importRows) as ImportKind[], 'The kind of the file’s rows.'),
)

const mediaTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson', geojson: 'application/geo+json' } as const
export type ImportFormat = 'csv' | 'ndjson'
export type ExportFormat = keyof typeof mediaTypes

export const mediaTypeOf = (format: ExportFormat) => mediaTypes[format]
export const formatOf = (mediaType: string): ImportFormat => (mediaType === mediaTypes.csv ? 'csv' : 'ndjson')

const ImportStatus = named('ImportStatus', described(oneOf(...jobStatusValues), jobStatusWords))

export const ImportRecord = named(
  'Import',
  Type.Object({
    id: Type.Integer(),
    appId: nullable(Type.String({ description: 'the application of the rows; null for the inventory' })),
    kind: ImportKindName,
    format: textOneOf(['csv', 'ndjson'], 'The format of the file.'),
    mode: textOneOf(importModes, 'What to do with a row that already exists with different content.'),
    dryRun: Type.Boolean({ description: 'true: rows are only checked; nothing is written.' }),
    status: ImportStatus,
    rows: Type.Integer({ description: 'Rows in the file.' }),
    created: Type.Integer({ description: 'Rows that were created.' }),
    updated: Type.Integer({ description: 'Rows that already existed with different content and were updated.' }),
    existing: Type.Integer({ description: 'Rows that already existed with the same content.' }),
    refused: Type.Integer({ description: 'Rows that were refused.' }),
    bytes: Type.Integer({ description: 'The size of the file in bytes.' }),
    bytesRead: Type.Integer({ description: 'Bytes processed so far.' }),
    ignoredColumns: Type.Array(Type.String({ examples: ['createTime'] }), {
      description:
        'The columns of the file that were ignored: those of exports and of refused rows that an import cannot set, and those of `ignoreColumns`.',
    }),
    actor: Type.String(),
    createTime: moment,
    finishTime: nullable(Type.String({ description: 'When the import finished; null until then.' })),
    error: nullable(Type.String({ description: 'Why the import failed; null if it didn’t.' })),
    failure: nullable(JobFailure),
  }),
)
export type ImportRecord = Static<typeof ImportRecord>

const folder = '/api/bulk/v1'
const callers = ['application', 'operator'] as const

export const createImport = operation({
  id: 'createImport',
  group: 'bulk',
  summary:
    'Uploads a file of up to 1 GB and imports its rows in the background. An application can run one import or bulk action at a time. Rows that already exist with the same content are counted as `existing`, so you can upload a file again.',
  words: { en: 'Start an import', zh: '开始导入' },
  method: 'POST',
  path: `${folder}/import/create`,
  callers,
  query: Type.Object({
    appId: optional(
      described(
        appId,
        'The application’s id. A caller that is an application may leave out its own id; an operator must name an application, but for the inventory, which belongs to none.',
      ),
    ),
    kind: ImportKindName,
    format: optional(textOneOf(['csv', 'ndjson'], 'The format of the file; by default the media type decides.')),
    mode: optional(
      textOneOf(
        importModes,
        'upsert: updates existing rows that differ, matching devices and placements by `deviceNo` and sites by the `id` column; rows without an id create a site. Fields without a column stay unchanged, an empty cell (null in NDJSON) clears an optional field, and the quote before a formula is removed. Default: create.',
      ),
    ),
    dryRun: optional(
      textOneOf(['true', 'false'], 'true: checks the rows and reports what would happen, without writing anything.'),
    ),
    ignoreColumns: optional(
      Type.String({
        description: 'CSV columns to ignore, separated by commas. A column without a usable name is `column N`.',
        examples: ['remark,column 7'],
      }),
    ),
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
  summary: 'Returns one import with its progress.',
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
  summary: 'Lists imports of the last 7 days, newest first.',
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
  summary: 'Cancels a waiting or running import. Rows already written are kept.',
  words: { en: 'Cancel an import', zh: '取消导入' },
  method: 'POST',
  path: `${folder}/import/cancel`,
  callers,
  body: Type.Object({ appId: anyAppId, id }),
  data: ImportRecord,
  refusals: ['applicationNotFound', 'importNotFound', 'importRunning'],
})

export const refusalColumns = ['refusedLine', 'refusedCode', 'refusedReason'] as const

export const outcomes = ['created', 'updated', 'existing', 'refused'] as const
export type ImportOutcome = (typeof outcomes)[number]

export const getImportResult = operation({
  id: 'getImportResult',
  group: 'bulk',
  summary:
    'Returns the results as NDJSON, one line per processed row: `line`, `outcome`, `code`, `msg`, `errors`, and the `deviceNo` or the site’s `id`.',
  method: 'GET',
  path: `${folder}/import/result`,
  callers,
  query: Type.Object({
    appId: anyAppId,
    id,
    outcome: optional(textOneOf(outcomes, 'Only rows with this result.')),
    rows: optional(
      textOneOf(
        ['true', 'false'],
        `true: the refused rows as they were sent, in the format of the file, with ${refusalColumns.map((name) => `\`${name}\``).join(', ')}. Correct them and send them again.`,
      ),
    ),
  }),
  data: Type.Unknown(),
  answers: [mediaTypes.ndjson, mediaTypes.csv],
  refusals: ['applicationNotFound', 'importNotFound'],
})

const exportPages = {
  sites: pageSites,
  devices: pageDevices,
  placements: pagePlacements,
  billingRules: pageBillingRules,
  priceChanges: pagePriceChanges,
  events: pageEvents,
  audit: pageAudit,
  deliveries: pageDeliveries,
  refusals: pageRefusals,
}
export type ExportKind = keyof typeof exportPages

/** Returns the kind's list operation: only its callers may export. */
export const pageOfKind = (kind: ExportKind): Operation => exportPages[kind] as unknown as Operation

function exportRecord(kind: ExportKind): TObject {
  return kind === 'devices' ? ExportedDevice : exportPages[kind].data.properties.list.items
}

type Query = NonNullable<(typeof exportPages)[ExportKind]['query']>

/** Returns the list operation's filters, without paging and sorting. */
export const exportFilters = (kind: ExportKind): TObject => {
  const { pageNo, pageSize, cursor, ...members } = (exportPages[kind].query as Query).properties
  const { sort, order, ...filters } = members as typeof members & { sort?: TSchema; order?: TSchema }
  // Events are exported in the order that the feed's `order` asks for.
  return Type.Object(sort === undefined && order !== undefined ? { ...filters, order } : filters)
}

interface Column {
  name: string
  path: readonly string[]
}

interface Shape {
  properties?: { [member: string]: TSchema }
}

export function exportColumns(kind: ExportKind): Column[] {
  const columnsOf = ({ properties = {} }: Shape, path: string[]): Column[] =>
    Object.entries(properties).flatMap(([name, member]) =>
      (member as Shape).properties === undefined
        ? [{ name, path: [...path, name] }]
        : columnsOf(member as Shape, [...path, name]),
    )
  return columnsOf(exportRecord(kind), [])
}

const isExported = (kind: ImportKind | ExportKind): kind is ExportKind => kind in exportPages

export const exportedColumns = (kind: ImportKind): Column[] => (isExported(kind) ? exportColumns(kind) : [])

/** Returns columns of exports and refused rows that the import ignores, since it can't set them. */
export function ignoredColumns(kind: ImportKind, mode: ImportMode): string[] {
  const { properties } = rowsOf(kind, mode)
  const exported = exportedColumns(kind).flatMap(({ name }) => (Object.hasOwn(properties, name) ? [] : [name]))
  return [...exported, ...refusalColumns]
}

const kinds = Object.keys(exportPages) as ExportKind[]
/** A filter's values depend on the kind and are checked with it. */
const everyFilter: Record<never, TSchema> = {
  ...Object.assign({}, ...kinds.map((kind) => exportFilters(kind).properties)),
  status: optional(described(integer(), 'The status, as in the list operation of this kind.')),
  type: optional(Type.String({ description: 'One or more event types, separated by commas.' })),
}

export const createExport = operation({
  id: 'createExport',
  group: 'bulk',
  summary:
    'Downloads all rows of one kind as a file, with the filters of that kind’s list operation. In CSV, text that a spreadsheet would read as a formula gets a leading quote. GeoJSON (sites and devices only) is in WGS 84.',
  method: 'GET',
  path: `${folder}/export/create`,
  callers,
  query: Type.Object({
    kind: textOneOf(kinds, 'The kind of the file’s rows. `audit` is refused to applications and developers.'),
    format: optional(textOneOf(Object.keys(mediaTypes) as ExportFormat[], 'The format of the file; csv by default.')),
    ...everyFilter,
  }),
  data: Type.Unknown(),
  answers: Object.values(mediaTypes),
  refusals: ['applicationNotFound'],
})

export const getTemplate = operation({
  id: 'getTemplate',
  group: 'bulk',
  summary: 'Returns a CSV template: an empty file with the columns of an import.',
  method: 'GET',
  path: `${folder}/template`,
  callers,
  query: Type.Object({ kind: ImportKindName }),
  data: Type.Unknown(),
  answers: [mediaTypes.csv],
  refusals: [],
})
