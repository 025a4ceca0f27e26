import type { Row } from 'postgres'
import type { Statements } from '../database/open.ts'
import { Refusal } from '../refusals.ts'
import type { Device } from './rules.ts'

export const deviceColumns = `device_no, app_id, device_name, tag, province_code, city_code, district_code,
  detail_address, coordinates, model_name, product_picture_url, device_type, device_type_name, status, online_status,
  run_status, status_remark, version, battery_status, battery_energy, bound_at`

export function toDevice(row: Row): Device {
  return {
    appId: row.app_id,
    deviceNo: row.device_no,
    deviceName: row.device_name,
    tag: row.tag,
    provinceCode: row.province_code,
    cityCode: row.city_code,
    districtCode: row.district_code,
    detailAddress: row.detail_address,
    coordinates: row.coordinates,
    modelName: row.model_name,
    productPictureUrl: row.product_picture_url,
    deviceType: row.device_type,
    deviceTypeName: row.device_type_name,
    status: row.status,
    onlineStatus: row.online_status,
    runStatus: row.run_status,
    statusRemark: row.status_remark,
    version: row.version,
    batteryStatus: row.battery_status,
    batteryEnergy: row.battery_energy,
    boundAt: row.bound_at,
  }
}

/** The application's device with this serial. Throws 20002, also for a serial of another application. */
export async function requireDevice(sql: Statements, appId: string, deviceNo: string): Promise<Device> {
  const [row] = await sql`
    select ${sql.unsafe(deviceColumns)} from device where device_no = ${deviceNo} and app_id = ${appId}`
  if (row === undefined) throw new Refusal('deviceNotFound')
  return toDevice(row)
}

/** Writes what an update can change. The transaction holds the application's lock. */
export async function saveChangedDevice(tx: Statements, device: Device): Promise<void> {
  await tx`
    update device set device_name = ${device.deviceName}, tag = ${device.tag}, province_code = ${device.provinceCode},
      city_code = ${device.cityCode}, district_code = ${device.districtCode}, detail_address = ${device.detailAddress},
      coordinates = ${device.coordinates}
    where device_no = ${device.deviceNo}`
}
