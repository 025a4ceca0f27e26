import Type, { type Static } from 'typebox'
import { batchOf, outcomesOf } from '../../vocabulary/batches.ts'
import { limits } from '../../vocabulary/limits.ts'
import { operation } from '../../vocabulary/operation.ts'
import {
  anyAppId,
  appId,
  deviceNo,
  moment,
  named,
  nullable,
  optional,
  ownAppId,
  reasonText,
} from '../../vocabulary/values.ts'
import { DeviceRecord } from '../contract.ts'

export const unbindDevice = operation({
  id: 'unbindDevice',
  group: 'devices',
  summary:
    'Unbinds a device and frees its serial number immediately; any application can then bind it. The ownership history is kept. Returns the device’s last state.',
  words: { en: 'Unbind a device', zh: '解绑设备' },
  method: 'POST',
  path: '/api/device/entrance/guard/unbind',
  callers: ['application', 'operator'],
  body: Type.Object({ appId: ownAppId, deviceNo, reason: optional(reasonText) }),
  data: DeviceRecord,
  refusals: ['applicationNotFound', 'deviceNotFound'],
  idempotent: true,
  conditional: true,
})

export const DeviceNamed = Type.Object({ deviceNo })

export const unbindDevices = operation({
  id: 'unbindDevices',
  group: 'devices',
  summary:
    'Unbinds up to 1000 devices. Returns one result per serial number, in order. A refused one doesn’t affect the others.',
  words: { en: 'Unbind devices', zh: '批量解绑设备' },
  method: 'POST',
  path: '/api/device/entrance/guard/unbindBatch',
  callers: ['application', 'operator'],
  body: Type.Object({ appId: ownAppId, deviceNos: batchOf(deviceNo), reason: optional(reasonText) }),
  data: outcomesOf('deviceNo', DeviceRecord),
  refusals: ['applicationNotFound'],
  idempotent: true,
  maxBodyBytes: limits.batchBytes,
})

const Binding = named(
  'Binding',
  Type.Object({
    appId: Type.String(),
    boundAt: moment,
    unboundAt: nullable(Type.String({ description: 'when the binding ended; null if it is current' })),
    unboundBy: nullable(Type.String()),
    reason: nullable(Type.String()),
  }),
)
export type Binding = Static<typeof Binding>

export const getDeviceHistory = operation({
  id: 'getDeviceHistory',
  group: 'devices',
  summary: 'Returns the ownership history of a serial number, newest first. Applications see only their own bindings.',
  method: 'GET',
  path: '/api/device/entrance/guard/history',
  callers: ['application', 'operator'],
  query: Type.Object({ appId: anyAppId, deviceNo }),
  data: Type.Object({ list: Type.Array(Binding, { description: 'the latest 1000 bindings' }) }),
  refusals: ['applicationNotFound', 'deviceNotFound'],
})

export const forceUnbindDevice = operation({
  id: 'forceUnbindDevice',
  group: 'deviceOwnership',
  summary: 'Force-unbinds a device of any application and frees its serial number.',
  words: { en: 'Force-unbind a device', zh: '强制解绑设备' },
  method: 'POST',
  path: '/api/platform/v1/device/forceUnbind',
  asksProof: true,
  callers: ['operator'],
  body: Type.Object({ deviceNo, reason: reasonText }),
  data: DeviceRecord,
  refusals: ['deviceNotFound'],
  idempotent: true,
})

export const transferDevice = operation({
  id: 'transferDevice',
  group: 'deviceOwnership',
  summary: 'Transfers a device with all its data to another application, which must be online, in one transaction.',
  words: { en: 'Transfer a device', zh: '转移设备' },
  method: 'POST',
  path: '/api/platform/v1/device/transfer',
  asksProof: true,
  callers: ['operator'],
  body: Type.Object({ deviceNo, targetAppId: appId, reason: reasonText }),
  data: DeviceRecord,
  refusals: ['applicationNotFound', 'applicationOffline', 'deviceNotFound', 'deviceAlreadyYours'],
  idempotent: true,
})

export const transferDevices = operation({
  id: 'transferDevices',
  group: 'deviceOwnership',
  summary:
    'Transfers up to 1000 devices to another application. Returns one result per device, in order. A refused one doesn’t affect the others.',
  words: { en: 'Transfer devices', zh: '批量转移设备' },
  method: 'POST',
  path: '/api/platform/v1/device/transferBatch',
  asksProof: true,
  callers: ['operator'],
  body: Type.Object({ deviceNos: batchOf(deviceNo), targetAppId: appId, reason: reasonText }),
  data: outcomesOf('deviceNo', DeviceRecord),
  refusals: ['applicationNotFound'],
  idempotent: true,
  maxBodyBytes: limits.batchBytes,
})
