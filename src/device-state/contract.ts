import Type from 'typebox'
import { DeviceRecord } from '../devices/contract.ts'
import { operation } from '../http/operation.ts'
import { deviceNo, freeText, integer, oneOf, optional, ownAppId, reasonKey } from '../values.ts'

/** A battery's level as devices write it: 87%, 87.5%, 87. */
const percentage = Type.String({
  pattern: String.raw`^(100(\.0{1,2})?|\d{1,2}(\.\d{1,2})?)%?$`,
  description: 'a percentage, for example 87%',
  [reasonKey]: { en: 'must be a percentage from "0%" to "100%"', zh: '必须是 "0%" 至 "100%" 的百分比' },
})

export const reportDeviceState = operation({
  id: 'reportDeviceState',
  summary:
    'Reports a device’s state: the members that are given. Any report, also one without members, is a sign of life: it makes the device online unless it says that it is not.',
  method: 'POST',
  path: '/api/device/entrance/guard/state',
  callers: ['application', 'operator'],
  body: Type.Object({
    appId: ownAppId,
    deviceNo,
    status: optional(oneOf(1, 2)),
    onlineStatus: optional(oneOf(1, 2)),
    runStatus: optional(oneOf(0, 1, 2)),
    statusRemark: optional(freeText(255)),
    version: optional(freeText(64)),
    batteryStatus: optional(integer()),
    batteryEnergy: optional(percentage),
  }),
  data: DeviceRecord,
  refusals: ['applicationNotFound', 'deviceNotFound'],
})
