import { requireMatch } from '../../http/etag.ts'
import type { EventType } from '../../vocabulary/event-types.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import type { WriteKind } from '../../writes/kind.ts'
import { ended, latest, showPlacement } from '../placement/rules.ts'
import { deviceTag, deviceText, showDevice } from '../rules.ts'
import { findHolders } from '../store.ts'
import { findOnlineStatus, type MovedDevice, type OwnedDevice, readOwned, saveOwners } from './store.ts'

export interface OwnerChange {
  deviceNo: string
  target: string | null
  reason: string | null
}

interface KnownOwners {
  devices: Map<string, OwnedDevice>
  elsewhere: ReadonlySet<string>
  online: ReadonlyMap<string, number>
}

/** Unbinds or transfers devices; changes of one device never share a batch. Throws 20002, 10009, 10006 and 20017. */
export const ownerChanges: WriteKind<OwnerChange, KnownOwners, MovedDevice> = {
  async locksOf(sql, writes) {
    const anyones = writes.flatMap(({ appId, body }) => (appId === null ? [body.deviceNo] : []))
    const holders = anyones.length === 0 ? [] : (await findHolders(sql, anyones)).values()
    return [...holders, ...targetsOf(writes)]
  },

  async read(tx, writes, locked) {
    const serials = writes.map(({ body }) => body.deviceNo)
    const [owned, online] = await Promise.all([readOwned(tx, serials, locked), findOnlineStatus(tx, targetsOf(writes))])
    return { ...owned, online }
  },

  decide({ devices, elsewhere, online }, { appId, body, actor, ifMatch }, now) {
    const { deviceNo, target } = body
    const owned = devices.get(deviceNo)
    // The owner changed since the locks were chosen.
    if (appId === null && elsewhere.has(deviceNo)) return { again: true }
    if (owned === undefined || (appId ?? owned.device.appId) !== owned.device.appId) {
      throw new Refusal('deviceNotFound')
    }
    requireMatch(ifMatch, deviceTag(owned.device))
    if (target !== null && online.get(target) !== 1) throw new Refusal('applicationOffline')
    if (target === owned.device.appId) throw new Refusal('deviceAlreadyYours')
    return { outcome: 'updated', ...moveOf(owned, body, { actor, now }) }
  },

  save: saveOwners,
}

/** Composes an owner change. Each log gets its own events; the former owner's doesn't name the new one. */
function moveOf(
  owned: OwnedDevice,
  { deviceNo, target, reason }: OwnerChange,
  { actor, now }: { actor: string; now: Date },
) {
  const { device, placement } = owned
  const over = placement && ended(placement, now, actor, reason)
  const rows = [{ ...owned, target, actor, reason, over, unboundAt: latest(now, owned.heldSince, over?.removedAt) }]
  const last = showDevice(device)
  const eventOf = (type: EventType, record: string, appId = device.appId) => ({
    appId,
    type,
    actor,
    subject: deviceNo,
    record,
  })
  const ends = over === null ? [] : [eventOf('device.unplaced', JSON.stringify(showPlacement(over)))]
  if (target === null) {
    const record = deviceText(last)
    return { shown: { record }, rows, events: [...ends, eventOf('device.unbound', record)] }
  }
  const record = deviceText(showDevice({ ...device, appId: target, boundAt: now }))
  const left = eventOf('device.transferred', JSON.stringify({ ...last, appId: null }))
  return { shown: { record }, rows, events: [...ends, left, eventOf('device.transferred', record, target)] }
}

const targetsOf = (writes: readonly { body: OwnerChange }[]) => [
  ...new Set(writes.flatMap(({ body }) => body.target ?? [])),
]
