import type { RefusalName } from '../conformance/refusals.ts'
import type { Moment } from './answers.ts'
import { type DeviceMembers, logEvent, type ModelApplication, type Shown, shownDevice, type World } from './world.ts'

/** The members of a device in the body of a create. */
export interface DeviceBody {
  deviceNo: string
  deviceName: string
  tag?: string | null
  provinceCode?: string | null
  cityCode?: string | null
  districtCode: string
  detailAddress?: string | null
  coordinates: string
}

const freshState = {
  status: 1,
  onlineStatus: 2,
  runStatus: 0,
  statusRemark: null,
  version: null,
  batteryStatus: null,
  batteryEnergy: null,
}

export interface Registration {
  app: ModelApplication
  body: DeviceBody
  actor: string
  at: Moment
  /** The idempotency key under which the response is stored, and the body that belongs to the key. */
  key: { name: string; body: string } | undefined
  group?: number
}

/** Applies a create to the model. Returns the record, new or stored under the key, or the refusal. */
export function register(
  world: World,
  { app, body, actor, at, key, group }: Registration,
): { record: Shown } | { refusal: RefusalName } {
  const kept = key && app.kept.get(key.name)
  if (kept !== undefined) return kept.body === key?.body ? kept : { refusal: 'idempotencyKeyReused' }
  if (!app.isOnline) return { refusal: 'applicationOffline' }
  const { deviceNo } = body
  const holder = world.devices.get(deviceNo)
  if (holder !== undefined) return { refusal: holder.app === app ? 'deviceAlreadyYours' : 'deviceBoundElsewhere' }
  const device = { app, deviceNo, members: membersOf(body), state: freshState, boundAt: at }
  world.devices.set(deviceNo, device)
  const record = shownDevice(device)
  logEvent(app, { type: 'device.bound', at, actor, subject: deviceNo, data: record, ...(group ? { group } : {}) })
  if (key !== undefined) app.kept.set(key.name, { body: key.body, record })
  return { record }
}

/** A member that is not given is null, except for the two documented defaults. */
function membersOf({ deviceName, districtCode, coordinates, ...optional }: DeviceBody): DeviceMembers {
  return {
    deviceName,
    tag: optional.tag || null,
    provinceCode: optional.provinceCode || '360000',
    cityCode: optional.cityCode || '360100',
    districtCode,
    detailAddress: optional.detailAddress || null,
    coordinates,
  }
}
