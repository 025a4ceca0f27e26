import { requireMatch } from '../http/etag.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { ofEachApplication, type WriteKind } from '../writes/kind.ts'
import type { DeviceUpdate } from './contract.ts'
import { changeDevice, type Device, deviceTag, deviceText, showDevice } from './rules.ts'
import { findDevices, saveChangedDevices } from './store.ts'

type KnownDevices = ReadonlyMap<string, Map<string, Device>>

/** Updates devices. Throws 20002 and 10009. */
export const deviceUpdates: WriteKind<DeviceUpdate, KnownDevices, Device> = {
  read: (tx, writes) =>
    ofEachApplication(writes, (appId, own) =>
      findDevices(tx, appId, [...new Set(own.map(({ body }) => body.deviceNo))]),
    ),

  decide(known, { appId, body, actor, ifMatch }) {
    const devices = known.get(appId as string)
    const before = devices?.get(body.deviceNo)
    if (devices === undefined || before === undefined) throw new Refusal('deviceNotFound')
    requireMatch(ifMatch, deviceTag(before))
    const device = changeDevice(before, body)
    const etag = deviceTag(device)
    const record = deviceText(showDevice(device))
    const shown = { record, etag }
    if (etag === deviceTag(before)) return { outcome: 'existing', shown, rows: [], events: [] }
    devices.set(body.deviceNo, device)
    const event = { appId: device.appId, type: 'device.updated', actor, subject: device.deviceNo, record } as const
    return { outcome: 'updated', shown, rows: [device], events: [event] }
  },

  save: saveChangedDevices,
}
