import { type Change, type ChangeOutcome, decided } from '../callers/change-lane.ts'
import type { Statements } from '../database/open.ts'
import { insertEvents } from '../events/store.ts'
import { requireMatch } from '../http/etag.ts'
import type { ShowMoment } from '../vocabulary/moments.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import type { DeviceUpdate } from './contract.ts'
import { changeDevice, type Device, deviceTag, showDevice } from './rules.ts'
import { findDevices, saveChangedDevices } from './store.ts'

/** The result of changes before they are written. */
interface PlannedChanges {
  outcomes: ChangeOutcome<Device>[]
  /** The device after each change that has an effect, in order; a device that changes twice is here twice. */
  steps: { device: Device; actor: string }[]
}

/** Applies changes to devices, in order, and writes nothing. A serial that is not among the devices is refused with 20002. */
export function planDeviceChanges(
  devices: ReadonlyMap<string, Device>,
  changes: readonly Change<DeviceUpdate>[],
): PlannedChanges {
  const now = new Map(devices)
  const steps: PlannedChanges['steps'] = []
  const outcomes = changes.map(({ body, actor, ifMatch }) =>
    decided(() => {
      const before = now.get(body.deviceNo)
      if (before === undefined) throw new Refusal('deviceNotFound')
      const tag = deviceTag(before)
      requireMatch(ifMatch, tag)
      const device = changeDevice(before, body)
      if (deviceTag(device) === tag) return { item: before, isChanged: false }
      now.set(body.deviceNo, device)
      steps.push({ device, actor })
      return { item: device, isChanged: true }
    }),
  )
  return { outcomes, steps }
}

/**
 * Changes devices of an application in a transaction that holds its lock: reads them by their serials, writes those
 * that differ in one statement, and an event for each change in another. A change without effect writes nothing.
 * Returns one outcome for each change, in order: 20002, 10009, or the device.
 */
export async function changeDevices(
  tx: Statements,
  appId: string,
  changes: readonly Change<DeviceUpdate>[],
  showMoment: ShowMoment,
): Promise<ChangeOutcome<Device>[]> {
  const serials = new Set(changes.map(({ body }) => body.deviceNo))
  const { outcomes, steps } = planDeviceChanges(await findDevices(tx, appId, [...serials]), changes)
  const changed = new Map(steps.map(({ device }) => [device.deviceNo, device]))
  await saveChangedDevices(tx, appId, [...changed.values()])
  const events = steps.map(({ device, actor }) => ({
    type: 'device.updated' as const,
    actor,
    subject: device.deviceNo,
    data: showDevice(device, showMoment),
  }))
  await insertEvents(tx, appId, events)
  return outcomes
}
