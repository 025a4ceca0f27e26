import Type, { type Static, type TSchema } from 'typebox'
import { batchOf, outcomesOf } from '../vocabulary/batches.ts'
import { bbox, coordinates } from '../vocabulary/coordinates.ts'
import { limits } from '../vocabulary/limits.ts'
import { operation } from '../vocabulary/operation.ts'
import { pageOf, pageQuery, type Sort, sortedBy, timeRange } from '../vocabulary/pages.ts'
import {
  address,
  anyAppId,
  appId,
  described,
  deviceNo,
  divisionCode,
  extended,
  freeText,
  integer,
  lengths,
  moment,
  momentText,
  momentWords,
  name,
  named,
  nullable,
  oneOf,
  optional,
  ownAppId,
  shownKey,
  tag,
  textOneOf,
} from '../vocabulary/values.ts'

/** The customer's document sets these (§4.2). They apply even if the given district lies in another province. */
export const defaultProvinceCode = '360000'
export const defaultCityCode = '360100'

export const registrationLengths = {
  deviceNo: lengths.serial,
  deviceName: lengths.name,
  tag: lengths.tag,
  provinceCode: lengths.divisionCode,
  cityCode: lengths.divisionCode,
  districtCode: lengths.divisionCode,
  detailAddress: lengths.address,
  coordinates: lengths.coordinates,
}

const registrationMembers = {
  deviceNo,
  deviceName: name,
  tag: optional(tag),
  provinceCode: optional(freeText(lengths.divisionCode)),
  cityCode: optional(freeText(lengths.divisionCode)),
  districtCode: divisionCode,
  detailAddress: optional(address),
  coordinates,
}

export const DeviceBatchRow = named('DeviceBatchRow', Type.Object(registrationMembers))

export const DeviceUpdateRow = named(
  'DeviceUpdateRow',
  Type.Object({ ...Type.Partial(DeviceBatchRow).properties, deviceNo }),
)
export type DeviceUpdate = Static<typeof DeviceUpdateRow>

export const DeviceRegistration = named('DeviceRegistration', extended(DeviceBatchRow, { appId }))
export type DeviceRegistration = Static<typeof DeviceRegistration>

export const DeviceStatus = named('DeviceStatus', described(oneOf(1, 2), '1 normal, 2 faulty.'))
export const OnlineStatus = named('OnlineStatus', described(oneOf(1, 2), '1 online, 2 offline.'))
export const RunStatus = named('RunStatus', described(oneOf(0, 1, 2), '0 closed, 1 open, 2 stopped.'))

const unowned = named(
  'UnownedDevice',
  Type.Object({
    deviceNo: Type.String(),
    tag: nullable(Type.String()),
    deviceName: Type.String(),
    modelName: nullable(Type.String()),
    productPictureUrl: nullable(Type.String()),
    deviceType: nullable(Type.String()),
    deviceTypeName: nullable(Type.String()),
    status: Type.Integer({ [shownKey]: DeviceStatus }),
    onlineStatus: Type.Integer({ [shownKey]: OnlineStatus }),
    statusRemark: nullable(Type.String()),
    runStatus: Type.Integer({ [shownKey]: RunStatus }),
    version: nullable(Type.String()),
    deviceNumber: Type.Integer(),
    deviceBattery: named(
      'DeviceAddress',
      Type.Object(
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
        { description: 'The address of the device (despite the field’s name).' },
      ),
    ),
    DeviceBatteryOutput: named(
      'DeviceBattery',
      Type.Object({
        batteryStatus: nullable(Type.Integer()),
        batteryEnergy: nullable(Type.String({ description: 'the battery’s charge, as a percentage' })),
      }),
    ),
    createTime: moment,
  }),
)

const deviceOf = <Owner extends TSchema>(appId: Owner) =>
  Type.Object({ appId, ...unowned.properties }, { [shownKey]: Type.Intersect([unowned, Type.Object({ appId })]) })

export const DeviceRecord = named('Device', deviceOf(Type.String()))

/** The record in a transfer's event. In the former owner's log `appId` is null, which hides the new owner. */
export const TransferredDevice = named('TransferredDevice', deviceOf(nullable(Type.String())))
export type DeviceRecord = Static<typeof DeviceRecord>

/** An export's row also says when the device last reported. */
export const ExportedDevice = extended(DeviceRecord, { lastReportTime: nullable(moment) })
export type ExportedDevice = Static<typeof ExportedDevice>

export const createDevice = operation({
  id: 'createDevice',
  group: 'devices',
  summary:
    'Creates an entrance device and binds its serial number to an application. The default province is 360000, the default city 360100.',
  words: { en: 'Create a device', zh: '新建设备' },
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
  tagged: true,
})

export const createDevices = operation({
  id: 'createDevices',
  group: 'devices',
  summary: 'Creates up to 1000 devices. Returns one result per row, in order. A refused row doesn’t affect the others.',
  words: { en: 'Create devices', zh: '批量新建设备' },
  method: 'POST',
  path: '/api/device/entrance/guard/createBatch',
  callers: ['application', 'operator'],
  body: Type.Object({
    appId: ownAppId,
    devices: batchOf(DeviceBatchRow, 'devices, each as `createDevice` takes it but without `appId`'),
  }),
  data: outcomesOf('deviceNo', DeviceRecord),
  refusals: ['applicationNotFound'],
  idempotent: true,
  maxBodyBytes: limits.batchBytes,
})

const ofOne = { callers: ['application', 'operator'], refusals: ['applicationNotFound', 'deviceNotFound'] } as const

export const updateDevice = operation({
  id: 'updateDevice',
  group: 'devices',
  summary: 'Updates the fields that you send of a device; null clears an optional field or restores its default.',
  words: { en: 'Update a device', zh: '修改设备' },
  method: 'POST',
  path: '/api/device/entrance/guard/update',
  ...ofOne,
  example: { deviceName: 'East gate barrier' },
  body: extended(DeviceUpdateRow, { appId: ownAppId }),
  data: DeviceRecord,
  tagged: true,
  conditional: true,
})

export const updateDevices = operation({
  id: 'updateDevices',
  group: 'devices',
  summary: 'Updates up to 1000 devices. Returns one result per row, in order. A refused row doesn’t affect the others.',
  words: { en: 'Update devices', zh: '批量修改设备' },
  method: 'POST',
  path: '/api/device/entrance/guard/updateBatch',
  callers: ['application', 'operator'],
  body: Type.Object({
    appId: ownAppId,
    devices: batchOf(DeviceUpdateRow, 'devices, each as `updateDevice` takes it but without `appId`'),
  }),
  data: outcomesOf('deviceNo', DeviceRecord),
  refusals: ['applicationNotFound'],
  idempotent: true,
  maxBodyBytes: limits.batchBytes,
})

export const getDevice = operation({
  id: 'getDevice',
  group: 'devices',
  summary: 'Returns one device. Reported state doesn’t affect the `ETag`.',
  method: 'GET',
  path: '/api/device/entrance/guard/detail',
  ...ofOne,
  query: Type.Object({ appId: anyAppId, deviceNo }),
  data: DeviceRecord,
  tagged: true,
})

export const deviceSorts = [
  'createTime',
  'deviceNo',
  'deviceName',
  'modelName',
  'provinceCode',
  'cityCode',
  'districtCode',
  'status',
  'onlineStatus',
  'runStatus',
] as const
export type DeviceSort = Sort<(typeof deviceSorts)[number]>

export const pageDevices = operation({
  id: 'pageDevices',
  group: 'devices',
  summary: 'Lists devices, newest first. Without `sort`, the devices of several applications are grouped by `appId`.',
  method: 'GET',
  path: '/api/device/entrance/guard/page',
  callers: ['application', 'operator'],
  query: Type.Object({
    appId: anyAppId,
    ...pageQuery,
    ...sortedBy(deviceSorts),
    deviceNo: optional({ ...deviceNo, description: 'part of the serial number, not case-sensitive' }),
    deviceName: optional(freeText(64, 'part of the name, not case-sensitive')),
    tag: optional(tag),
    provinceCode: optional(freeText(lengths.divisionCode)),
    cityCode: optional(freeText(lengths.divisionCode)),
    districtCode: optional(divisionCode),
    modelName: optional(name),
    status: optional(DeviceStatus),
    onlineStatus: optional(OnlineStatus),
    runStatus: optional(RunStatus),
    siteId: optional(described(integer(1), 'Only devices at this site.')),
    isPlaced: optional(
      textOneOf(['true', 'false'], 'true: only devices at a site; false: only devices without a site.'),
    ),
    ...timeRange,
    lastReportFrom: optional(
      described(momentText, `Only devices with a last report at or after this time. ${momentWords}`),
    ),
    lastReportTo: optional(
      described(
        momentText,
        `Only devices with a last report at or before this time (the whole second included). ${momentWords}`,
      ),
    ),
    hasReported: optional(
      textOneOf(
        ['true', 'false'],
        'true: only devices that have reported; false: only devices that have never reported.',
      ),
    ),
    bbox: optional(bbox),
  }),
  data: pageOf(DeviceRecord),
  refusals: ['applicationNotFound'],
})
