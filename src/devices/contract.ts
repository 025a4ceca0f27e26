import Type, { type Static } from 'typebox'
import { operation } from '../http/operation.ts'
import {
  address,
  appId,
  coordinates,
  deviceNo,
  divisionCode,
  freeText,
  moment,
  name,
  nullable,
  optional,
  tag,
} from '../values.ts'

/** The document's defaults (§4.2), also beside a district of another province. */
export const defaultProvinceCode = '360000'
export const defaultCityCode = '360100'

/** What create device takes (document §4.2). */
export const DeviceRegistration = Type.Object({
  appId,
  deviceNo,
  deviceName: name,
  tag: optional(tag),
  provinceCode: optional(freeText(12)),
  cityCode: optional(freeText(12)),
  districtCode: divisionCode,
  detailAddress: optional(address),
  coordinates,
})
export type DeviceRegistration = Static<typeof DeviceRegistration>

/** The device record (document §2.3). */
export const DeviceRecord = Type.Object({
  appId: Type.String(),
  deviceNo: Type.String(),
  tag: nullable(Type.String()),
  deviceName: Type.String(),
  modelName: nullable(Type.String()),
  productPictureUrl: nullable(Type.String()),
  deviceType: nullable(Type.String()),
  deviceTypeName: nullable(Type.String()),
  status: Type.Integer({ description: '1 normal, 2 fault' }),
  onlineStatus: Type.Integer({ description: '1 online, 2 offline' }),
  statusRemark: nullable(Type.String()),
  runStatus: Type.Integer({ description: '0 closed, 1 open, 2 stopped' }),
  version: nullable(Type.String()),
  deviceNumber: Type.Integer(),
  deviceBattery: Type.Object(
    {
      cityCode: Type.String(),
      cityName: nullable(Type.String()),
      coordinates: Type.String(),
      detailAddress: nullable(Type.String()),
      districtCode: Type.String(),
      districtName: nullable(Type.String()),
      provinceCode: Type.String(),
      provinceName: nullable(Type.String()),
    },
    { description: 'the address; the name is the document’s' },
  ),
  DeviceBatteryOutput: Type.Object({
    batteryStatus: nullable(Type.Integer()),
    batteryEnergy: nullable(Type.String({ description: 'a percentage' })),
  }),
  createTime: moment,
})
export type DeviceRecord = Static<typeof DeviceRecord>

export const createDevice = operation({
  id: 'createDevice',
  summary: 'Registers an entrance device by its serial number and binds it to an application (document §4.2).',
  method: 'POST',
  path: '/api/device/entrance/guard/create',
  callers: ['application', 'operator'],
  body: DeviceRegistration,
  data: DeviceRecord,
  refusals: [
    'applicationNotFound',
    'applicationOffline',
    'deviceBoundElsewhere',
    'deviceAlreadyYours',
    'deviceUnknown',
  ],
  idempotent: true,
})
