import type { Row } from 'postgres'
import type { Device } from './rules.ts'

export const registeredColumns = {
  appId: 'app_id',
  deviceNo: 'device_no',
  deviceName: 'device_name',
  tag: 'tag',
  provinceCode: 'province_code',
  cityCode: 'city_code',
  districtCode: 'district_code',
  detailAddress: 'detail_address',
  coordinates: 'coordinates',
  modelName: 'model_name',
  productPictureUrl: 'product_picture_url',
  deviceType: 'device_type',
  deviceTypeName: 'device_type_name',
} as const satisfies Partial<Record<keyof Device, string>>

/** An update can change these. */
export const changeableMembers = [
  ...(['deviceName', 'tag', 'provinceCode', 'cityCode', 'districtCode'] as const),
  ...(['detailAddress', 'coordinates'] as const),
] satisfies (keyof typeof registeredColumns)[]

const columns: Record<keyof Device, string> = {
  ...registeredColumns,
  status: 'status',
  onlineStatus: 'online_status',
  runStatus: 'run_status',
  statusRemark: 'status_remark',
  version: 'version',
  batteryStatus: 'battery_status',
  batteryEnergy: 'battery_energy',
  boundAt: 'bound_at',
}
const members = Object.entries(columns) as [keyof Device, string][]

export const memberOf: Readonly<Record<string, keyof Device>> = Object.fromEntries(
  members.map(([member, column]) => [column, member]),
)

export const deviceTypes: Readonly<Record<string, string>> = {
  ...Object.fromEntries(members.map(([, column]) => [column, 'text'])),
  status: 'smallint',
  online_status: 'smallint',
  run_status: 'smallint',
  battery_status: 'bigint',
  bound_at: 'timestamptz',
}

export const deviceColumns: readonly string[] = members.map(([, column]) => column)

export const deviceColumnsSql = (alias?: string): string =>
  deviceColumns.map((column) => (alias === undefined ? column : `${alias}.${column}`)).join(', ')

export function toDevice(row: Row): Device {
  const device: Record<string, unknown> = {}
  for (const [member, column] of members) device[member] = row[column]
  return device as unknown as Device
}
