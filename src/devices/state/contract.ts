import Type, { type Static } from 'typebox'
import { batchOf, outcomesOf } from '../../vocabulary/batches.ts'
import { limits } from '../../vocabulary/limits.ts'
import { operation } from '../../vocabulary/operation.ts'
import {
  anyAppId,
  deviceNo,
  deviceNos,
  extended,
  freeText,
  instantText,
  integer,
  moment,
  named,
  nullable,
  optional,
  ownAppId,
  reasonKey,
  shownKey,
} from '../../vocabulary/values.ts'
import { DeviceRecord, DeviceStatus, OnlineStatus, RunStatus } from '../contract.ts'

/** Devices write 87%, 87.5% or 87. */
const percentage = Type.String({
  pattern: String.raw`^(100(\.0{1,2})?|\d{1,2}(\.\d{1,2})?)%?$`,
  description: 'the battery’s charge, as a percentage, for example 87%',
  [reasonKey]: { en: 'must be a percentage from "0%" to "100%"', zh: '必须是 "0%" 至 "100%" 的百分比' },
})

/** A report's time may be this far ahead, because device clocks are set by hand or drift. */
export const clockAllowanceSeconds = 60

export const StateReport = named(
  'StateReport',
  Type.Object({
    deviceNo,
    reportTime: optional({
      ...instantText,
      description: `When the device was in this state: RFC 3339, at most ${clockAllowanceSeconds} seconds in the future. A report older than the latest one changes nothing. A report without this time counts as the latest.`,
    }),
    status: optional(DeviceStatus),
    onlineStatus: optional(OnlineStatus),
    runStatus: optional(RunStatus),
    statusRemark: optional(freeText(255)),
    version: optional(freeText(64)),
    batteryStatus: optional(integer()),
    batteryEnergy: optional(percentage),
  }),
)
export type StateReport = Static<typeof StateReport>

const stateMembers = {
  status: Type.Integer({ [shownKey]: DeviceStatus }),
  onlineStatus: Type.Integer({ [shownKey]: OnlineStatus }),
  runStatus: Type.Integer({ [shownKey]: RunStatus }),
  statusRemark: nullable(Type.String()),
  version: nullable(Type.String()),
  batteryStatus: nullable(Type.Integer()),
  batteryEnergy: nullable(Type.String({ description: 'the battery’s charge, as a percentage' })),
}

export const reportedMembers = Object.keys(stateMembers)

const DeviceStateRecord = named(
  'DeviceState',
  Type.Object({
    appId: Type.String(),
    deviceNo: Type.String(),
    ...stateMembers,
    lastReportTime: nullable(moment),
  }),
)

export type DeviceState = Static<typeof DeviceStateRecord>

const DeviceStates = named(
  'DeviceStates',
  Type.Object({
    list: Type.Array(DeviceStateRecord, {
      description: 'The states, in the order of `deviceNos`, without devices that the caller doesn’t own.',
    }),
  }),
)

export const StateChangeRecord = named(
  'DeviceStateChange',
  Type.Object({
    ...DeviceStateRecord.properties,
    before: Type.Partial(Type.Object(stateMembers), {
      description: 'The fields that changed, with their previous values.',
    }),
  }),
)

const path = '/api/device/entrance/guard/state'
const callers = ['application', 'operator'] as const

export const reportDeviceState = operation({
  id: 'reportDeviceState',
  group: 'devices',
  summary:
    'Reports a device’s state. Only the fields that you send change; null clears the status note, the version and the battery fields. Any report, even an empty one, sets the device online, unless it says that the device is offline.',
  words: { en: 'Report device state', zh: '上报状态' },
  method: 'POST',
  path,
  callers,
  example: { runStatus: 1, batteryEnergy: '87%' },
  body: extended(StateReport, { appId: ownAppId }),
  data: DeviceRecord,
  refusals: ['applicationNotFound', 'deviceNotFound'],
})

export const reportDeviceStates = operation({
  id: 'reportDeviceStates',
  group: 'devices',
  summary:
    'Reports the states of up to 1000 devices. Returns one result per report, in order. A refused report doesn’t affect the others.',
  words: { en: 'Report device states', zh: '批量上报状态' },
  method: 'POST',
  path: '/api/device/entrance/guard/stateBatch',
  callers,
  body: Type.Object({
    appId: ownAppId,
    reports: batchOf(StateReport, 'reports, each as `reportDeviceState` takes it but without `appId`'),
  }),
  data: outcomesOf('deviceNo', DeviceRecord),
  refusals: ['applicationNotFound'],
  idempotent: true,
  maxBodyBytes: limits.batchBytes,
})

export const getDeviceState = operation({
  id: 'getDeviceState',
  group: 'devices',
  summary: 'Returns the state and last report time of a device, or of up to 100 devices with `deviceNos`.',
  method: 'GET',
  path,
  callers,
  query: Type.Object({ appId: anyAppId, deviceNo: optional(deviceNo), deviceNos: optional(deviceNos) }),
  data: named('DeviceStateOrStates', Type.Union([DeviceStateRecord, DeviceStates])),
  answersBy: { deviceNo: DeviceStateRecord, deviceNos: DeviceStates },
  refusals: ['applicationNotFound', 'deviceNotFound'],
})
