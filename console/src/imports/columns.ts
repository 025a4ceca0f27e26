import { type ImportKind, type ImportMode, refusalColumns } from '../../../src/bulk/contract.ts'
import { draftColumns, isNeeded } from './row-faults.ts'
import type { TextColumn } from './table-text.ts'

/** A column that a file of rows may have. */
export interface ImportColumn extends TextColumn<string> {
  isRequired: boolean
}

const column = (isRequired: boolean, name: string, ...headings: string[]): ImportColumn => ({
  name,
  headings,
  isRequired,
})

export const inventoryColumns = [
  { name: 'deviceNo', headings: ['serial', 'serialno', 'serialnumber', 'sn', '设备序列号', '序列号', '设备编号'] },
  { name: 'modelName', headings: ['model', '型号', '设备型号', '型号名称'] },
] as const

/** The optional and required columns of each kind of file: the members of the rows that the service accepts. */
export const importColumns: Record<ImportKind, readonly ImportColumn[]> = {
  sites: [
    column(true, 'siteName', 'name', 'site', '站点名称', '名称'),
    column(true, 'contacts', 'contact', '联系人'),
    column(true, 'contactsPhone', 'phone', '联系电话', '联系人电话'),
    column(true, 'customerServicePhone', '客服电话'),
    column(true, 'businessWeekDay', '营业日'),
    column(true, 'businessStartTime', '开始营业时间', '营业开始时间'),
    column(true, 'businessClosingTime', '结束营业时间', '营业结束时间'),
    column(false, 'sitePictureUrl', '站点图片地址', '站点图片'),
    column(false, 'fastChargeBillRuleId', '快充计费规则', '快充计费规则id'),
    column(false, 'rushingBillRuleId', '慢充计费规则', '慢充计费规则id'),
    column(false, 'placeholderBillRuleId', '占位计费规则', '占位计费规则id'),
    column(false, 'ipcIds', 'ipc设备id'),
    column(true, 'provinceCode', '省编码', '省份编码', '省代码'),
    column(true, 'provinceName', 'province', '省', '省份', '省名称'),
    column(true, 'cityCode', '市编码', '城市编码', '市代码'),
    column(true, 'cityName', 'city', '市', '城市', '市名称'),
    column(true, 'districtCode', '区县编码', '区县代码', '行政区划代码', '区划代码'),
    column(true, 'districtName', 'district', '区县', '区', '区县名称'),
    column(false, 'detailAddress', 'address', '详细地址', '地址'),
    column(false, 'coordinates', 'coordinate', '经纬度', '坐标'),
  ],
  placements: [
    column(true, 'deviceNo', 'serial', 'serialno', 'serialnumber', 'sn', '设备序列号', '序列号', '设备编号'),
    column(true, 'siteId', 'site', '站点id', '站点编号'),
    column(true, 'laneType', 'lane', '车道类型'),
    column(false, 'laneName', '车道名称'),
  ],
  devices: draftColumns.map((one) => ({ ...one, isRequired: isNeeded(one.name) })),
  inventory: inventoryColumns.map((one) => ({ ...one, isRequired: true })),
}

/** The kind of a file's rows, and what happens to rows that already exist. */
export interface RowKind {
  kind: ImportKind
  mode: ImportMode
}

const siteId = column(false, 'id', 'siteid', '站点id', '站点编号')

/** The columns that a file may have. For updates, only the key is required. */
export function columnsOf({ kind, mode }: RowKind): readonly ImportColumn[] {
  const columns = importColumns[kind]
  if (mode === 'create' || kind === 'inventory') return columns
  if (kind === 'sites') return [siteId, ...columns]
  return columns.map((one) => ({ ...one, isRequired: one.name === 'deviceNo' }))
}

/** The columns of each kind's export that no import sets, or only one of updates. The console's build has no schemas. */
const exportedOnly: Record<ImportKind, readonly string[]> = {
  sites: ['id', 'appId', 'createTime', 'longitude', 'latitude'],
  devices: [
    'appId',
    'modelName',
    'productPictureUrl',
    'deviceType',
    'deviceTypeName',
    'status',
    'onlineStatus',
    'statusRemark',
    'runStatus',
    'version',
    'deviceNumber',
    'cityCode',
    'cityName',
    'districtName',
    'provinceCode',
    'provinceName',
    'batteryStatus',
    'batteryEnergy',
    'createTime',
    'lastReportTime',
  ],
  placements: [
    'appId',
    'siteName',
    'placedTime',
    'placedBy',
    'removedTime',
    'removedBy',
    'reason',
    'deviceName',
    'status',
    'onlineStatus',
    'runStatus',
    'statusRemark',
    'lastReportTime',
  ],
  inventory: [],
}

/** Whether a column of the file is one of an export, or of refused rows, that an import cannot set. */
export const isIgnored = (rows: RowKind, name: string | undefined) =>
  name !== undefined &&
  [...exportedOnly[rows.kind], ...refusalColumns].includes(name) &&
  !columnsOf(rows).some((one) => one.name === name)

/** The name of a column that the user leaves out. No column has it, because of its blank. */
export const leftOut = 'left out'

/** The name of a column without one, whose cells are empty as far as they are known. */
export const nameless = ''

export interface ColumnFaults {
  /** Required columns that the file lacks. */
  missing: string[]
  /** Columns to which more than one column of the file is mapped. */
  twice: string[]
  /** Headings that match no column and are not left out. */
  unknown: string[]
  /** Columns of an export that are ignored. */
  ignored: string[]
}

/** The faults in mapping the file's `headings` to the columns `names`. */
export function columnFaults(
  rows: RowKind,
  headings: readonly string[],
  names: readonly (string | undefined)[],
): ColumnFaults {
  const columns = columnsOf(rows)
  // A file of sites with ids has only updates, or its rows are checked one by one by the service.
  const areUpdates = rows.kind === 'sites' && rows.mode === 'upsert' && names.includes('id')
  const needed = areUpdates ? [] : columns.filter(({ isRequired }) => isRequired)
  return {
    missing: needed.map(({ name }) => name).filter((name) => !names.includes(name)),
    twice: columns.map(({ name }) => name).filter((name) => names.indexOf(name) !== names.lastIndexOf(name)),
    unknown: headings.filter(
      (_, index) =>
        names[index] !== leftOut &&
        names[index] !== nameless &&
        !columns.some(({ name }) => name === names[index]) &&
        !isIgnored(rows, names[index]),
    ),
    ignored: headings.filter((_, index) => isIgnored(rows, names[index])),
  }
}
