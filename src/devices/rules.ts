import { etagOfText } from '../http/etag.ts'
import { divisionName } from '../regions/names.ts'
import { showMoment } from '../vocabulary/moments.ts'
import { given, quoted } from '../vocabulary/values.ts'
import {
  type DeviceRecord,
  type DeviceRegistration,
  type DeviceUpdate,
  defaultCityCode,
  defaultProvinceCode,
} from './contract.ts'

export interface DeviceState {
  status: number
  onlineStatus: number
  runStatus: number
  statusRemark: string | null
  version: string | null
  batteryStatus: number | null
  batteryEnergy: string | null
}

export interface Device extends DeviceState {
  appId: string
  deviceNo: string
  deviceName: string
  tag: string | null
  provinceCode: string
  cityCode: string
  districtCode: string
  detailAddress: string | null
  coordinates: string
  modelName: string | null
  productPictureUrl: string | null
  deviceType: string | null
  deviceTypeName: string | null
  boundAt: Date
}

/** The state before the first report (contract §4.2). Its other fields are null. */
export const freshState = { status: 1, onlineStatus: 2, runStatus: 0 } as const

type TaggedMembers = Pick<Device, 'appId' | 'deviceNo' | 'deviceName' | 'tag' | 'detailAddress' | 'coordinates'> &
  Pick<Device, 'provinceCode' | 'cityCode' | 'districtCode' | 'boundAt'>

/** The tag covers binding and editable fields, not the state: a report must not fail an edit's `If-Match`. */
export function deviceTag(device: TaggedMembers): string {
  const { appId, deviceNo, boundAt, deviceName, tag, detailAddress, coordinates } = device
  const { provinceCode, cityCode, districtCode } = device
  const place = `${provinceCode}\n${cityCode}\n${districtCode}\n${detailAddress ?? ''}\n${coordinates}`
  // No stored text is empty or holds a line feed.
  return etagOfText(`${appId}\n${deviceNo}\n${boundAt.getTime()}\n${deviceName}\n${tag ?? ''}\n${place}`)
}

/** Returns the fields of a new device, with the defaults of the customer's document. */
export function membersOf(body: DeviceRegistration, boundAt: Date): TaggedMembers {
  // Spreading objects costs as much as the digest of a tag.
  return {
    appId: body.appId,
    deviceNo: body.deviceNo,
    deviceName: body.deviceName,
    tag: given(body.tag),
    provinceCode: given(body.provinceCode) ?? defaultProvinceCode,
    cityCode: given(body.cityCode) ?? defaultCityCode,
    districtCode: body.districtCode,
    detailAddress: given(body.detailAddress),
    coordinates: body.coordinates,
    boundAt,
  }
}

/** Returns the changed device. Null clears an optional field or restores its default. */
export function changeDevice(device: Device, change: DeviceUpdate): Device {
  const { tag, provinceCode, cityCode, detailAddress } = change
  return {
    ...device,
    deviceName: change.deviceName ?? device.deviceName,
    tag: tag === undefined ? device.tag : given(tag),
    provinceCode: provinceCode === undefined ? device.provinceCode : (given(provinceCode) ?? defaultProvinceCode),
    cityCode: cityCode === undefined ? device.cityCode : (given(cityCode) ?? defaultCityCode),
    districtCode: change.districtCode ?? device.districtCode,
    detailAddress: detailAddress === undefined ? device.detailAddress : given(detailAddress),
    coordinates: change.coordinates ?? device.coordinates,
  }
}

/** Returns the public record (document §2.3). */
export function showDevice(device: Device): DeviceRecord {
  const { provinceCode, cityCode, districtCode } = device
  return {
    appId: device.appId,
    deviceNo: device.deviceNo,
    tag: device.tag,
    deviceName: device.deviceName,
    modelName: device.modelName,
    productPictureUrl: device.productPictureUrl,
    deviceType: device.deviceType,
    deviceTypeName: device.deviceTypeName,
    status: device.status,
    onlineStatus: device.onlineStatus,
    statusRemark: device.statusRemark,
    runStatus: device.runStatus,
    version: device.version,
    deviceNumber: 1,
    // The customer's document uses this name for the address (§2.3).
    deviceBattery: {
      cityCode,
      cityName: divisionName(cityCode),
      coordinates: device.coordinates,
      detailAddress: device.detailAddress,
      districtCode,
      districtName: divisionName(districtCode),
      provinceCode,
      provinceName: divisionName(provinceCode),
    },
    DeviceBatteryOutput: { batteryStatus: device.batteryStatus, batteryEnergy: device.batteryEnergy },
    createTime: showMoment(device.boundAt),
  }
}

/** Writes the record by hand: a generic serialiser would be the most expensive step of composing it. */
export function deviceText(record: DeviceRecord): string {
  const { deviceBattery: place, DeviceBatteryOutput: battery } = record
  return (
    `{"appId":${quoted(record.appId)},"deviceNo":${quoted(record.deviceNo)},"tag":${quoted(record.tag)},` +
    `"deviceName":${quoted(record.deviceName)},"modelName":${quoted(record.modelName)},` +
    `"productPictureUrl":${quoted(record.productPictureUrl)},"deviceType":${quoted(record.deviceType)},` +
    `"deviceTypeName":${quoted(record.deviceTypeName)},"status":${record.status},` +
    `"onlineStatus":${record.onlineStatus},"statusRemark":${quoted(record.statusRemark)},` +
    `"runStatus":${record.runStatus},"version":${quoted(record.version)},"deviceNumber":${record.deviceNumber},` +
    `"deviceBattery":{"cityCode":${quoted(place.cityCode)},"cityName":${quoted(place.cityName)},` +
    `"coordinates":${quoted(place.coordinates)},"detailAddress":${quoted(place.detailAddress)},` +
    `"districtCode":${quoted(place.districtCode)},"districtName":${quoted(place.districtName)},` +
    `"provinceCode":${quoted(place.provinceCode)},"provinceName":${quoted(place.provinceName)}},` +
    `"DeviceBatteryOutput":{"batteryStatus":${battery.batteryStatus},` +
    `"batteryEnergy":${quoted(battery.batteryEnergy)}},"createTime":${quoted(record.createTime)}}`
  )
}

/** Ranks a UTF-16 code unit by code points: surrogates come last. */
const rankOf = (unit: number) => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)

/** Compares by code points, as the database does (collation "C") and writers lock rows, not by UTF-16 units. */
export function compareSerials(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (a !== b) return rankOf(a) - rankOf(b)
  }
  return one.length - other.length
}
