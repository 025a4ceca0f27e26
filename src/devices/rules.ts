import type { Static } from 'typebox'
import type { ShowMoment } from '../moments.ts'
import { divisionName } from '../regions/names.ts'
import { given, quoted } from '../values.ts'
import { type DeviceRecord, defaultCityCode, defaultProvinceCode, type updateDevice } from './contract.ts'

/** What a device reports of itself; the record shows it from then on. */
export interface DeviceState {
  status: number
  onlineStatus: number
  runStatus: number
  statusRemark: string | null
  version: string | null
  batteryStatus: number | null
  batteryEnergy: string | null
}

/** A device as it is kept. */
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

/** Nobody has heard of the device yet (contract §4.2). What is not here is unknown. */
export const freshState = { status: 1, onlineStatus: 2, runStatus: 0 } as const

/**
 * What an update can change, and which binding it belongs to: the device's entity tag is made of these, so
 * that a report of its state does not stand in the way of somebody who edits its name.
 */
export function updatableMembers({ boundAt, appId, deviceNo, ...device }: Device): object {
  const { deviceName, tag, provinceCode, cityCode, districtCode, detailAddress, coordinates } = device
  const place = { provinceCode, cityCode, districtCode, detailAddress, coordinates }
  return { appId, deviceNo, boundAt, deviceName, tag, ...place }
}

/** The device with the members that were given: null clears an optional one, and sets a documented default again. */
export function changeDevice(device: Device, change: Static<NonNullable<typeof updateDevice.body>>): Device {
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

/** The device as its operations answer it (document §2.3). The division names come from the codes. */
export function showDevice(device: Device, showMoment: ShowMoment): DeviceRecord {
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
    // The document calls the address so (§2.3).
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

/**
 * The record as JSON text. Written out, because a serialiser that has to discover the same 27 members every time is
 * the most expensive step of composing a record. The type still holds it to the contract's members.
 */
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
