import { requireMatch } from '../../http/etag.ts'
import type { EventType } from '../../vocabulary/event-types.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import type { WriteKind } from '../../writes/kind.ts'
import { ended, latest, showPlacement } from '../placement/rules.ts'
import { deviceTag, deviceText, showDevice } from '../rules.ts'
import { findHolders } from '../store.ts'
import { findOnlineStatus, type MovedDevice, type OwnedDevice, readOwned, saveOwners } from './store.ts'

/** The change of a device's owner. */
export interface OwnerChange {
  deviceNo: string
  /** The new owner; null to unbind. */
  target: string | null
  reason: string | null
}

interface KnownOwners {
  /** The devices of the locked applications, by serial. */
  devices: Map<string, OwnedDevice>
  /** The serials that others have. */
  elsewhere: ReadonlySet<string>
  /** The `onlineStatus` of each target. */
  online: ReadonlyMap<string, number>
}

/** Unbindings and transfers. Two changes of one device never share a batch. Refuses with 20002, 10009, 10006 and 20017. */
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
    // It has changed its owner since the locks were chosen.
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

/** What a change of owner writes, and answers. Each log gets its own events; that of a former owner does not name the new one. */
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
