import { requireApplication, requireLockedApplication } from '../applications/store.ts'
import { keyOwnerOf } from '../callers/caller.ts'
import { applicationOf, lockApplicationFor, visibleApplications } from '../callers/permissions.ts'
import { takeLock } from '../database/advisory-lock.ts'
import { once } from '../database/idempotency.ts'
import type { Sql, Statements } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'
import type { DeviceRecord } from '../devices/contract.ts'
import { type Device, deviceTag, showDevice } from '../devices/rules.ts'
import { requireDevice } from '../devices/store.ts'
import type { EventType } from '../events/contract.ts'
import { insertEvent } from '../events/store.ts'
import { requireMatch } from '../http/etag.ts'
import { type Handler, handle, type OperationRequest, read } from '../http/serve.ts'
import type { ShowMoment } from '../moments.ts'
import { Refusal, unavailable } from '../refusals.ts'
import { given } from '../values.ts'
import { forceUnbindDevice, getDeviceHistory, transferDevice, unbindDevice } from './contract.ts'
import { deleteDevice, type Ending, findBindings, findOwner, moveDevice } from './store.ts'

/** An owner can change between being read and being locked; more often than this in a row, something is wrong. */
const maxTries = 20

export function deviceOwnershipRoutes({ sql, showMoment }: { sql: Sql; showMoment: ShowMoment }): Handler[] {
  async function logged(tx: Statements, type: EventType, device: Device, { at, by }: Ending) {
    const data = showDevice(device, showMoment)
    await insertEvent(tx, { appId: device.appId, type, time: at, actor: by, subject: device.deviceNo, data })
    return data
  }

  /** The former owner is told the record as it was, but for its owner: the device is not this application's any more. */
  async function loggedAway(tx: Statements, { appId, ...device }: Device, { at, by }: Ending) {
    const data = { ...showDevice({ ...device, appId }, showMoment), appId: null }
    const subject = device.deviceNo
    await insertEvent(tx, { appId, type: 'device.transferred', time: at, actor: by, subject, data })
  }

  async function unbind(tx: Statements, device: Device, ending: Ending) {
    await deleteDevice(tx, device, ending)
    return logged(tx, 'device.unbound', device, ending)
  }

  /**
   * Runs a change of the serial's owner under the locks of its owner and of the application named beside. Throws
   * 20002 when nobody holds the serial.
   */
  async function underOwnersLock(
    { caller, idempotency }: Pick<OperationRequest, 'caller' | 'idempotency'>,
    deviceNo: string,
    beside: string | undefined,
    change: (tx: Statements, device: Device) => Promise<DeviceRecord>,
  ): Promise<DeviceRecord> {
    const step = async (tx: Statements) => {
      // Before the applications' locks: operators who move the same device queue here; else one of them could lose to the others again and again.
      await takeLock(tx, `device ${deviceNo}`)
      const owner = await findOwner(tx, deviceNo)
      if (owner === undefined) throw new Refusal('deviceNotFound')
      // In the order in which batches take them, so that two writers never wait for each other in a circle.
      for (const appId of [...new Set([owner, beside ?? owner])].sort()) await requireLockedApplication(tx, appId)
      if ((await findOwner(tx, deviceNo)) !== owner) return undefined
      return change(tx, await requireDevice(tx, owner, deviceNo))
    }
    for (let tries = 0; tries < maxTries; tries++) {
      const answer = await transaction(sql, (tx) => once(tx, idempotency, keyOwnerOf(caller), () => step(tx)))
      if (answer !== undefined) return answer
    }
    throw unavailable()
  }

  return [
    handle(unbindDevice, async ({ caller, actor, body, header, idempotency }) => {
      const appId = applicationOf(caller, body.appId)
      return transaction(sql, async (tx) => {
        await lockApplicationFor(tx, caller, appId)
        return once(tx, idempotency, appId, async () => {
          const device = await requireDevice(tx, appId, body.deviceNo)
          requireMatch(header('if-match'), deviceTag(device, showMoment(device.boundAt)))
          return unbind(tx, device, { at: new Date(), by: actor, reason: given(body.reason) })
        })
      })
    }),

    read(getDeviceHistory, async ({ sql, caller, query }) => {
      const appId = given(query.appId)
      const isUnbounded = visibleApplications(caller) === null
      if (isUnbounded && appId !== null) await requireApplication(sql, appId)
      // An operator sees every binding, whichever application is named; others those of the one that they name, or of all
      // of theirs.
      const visibleTo = isUnbounded || appId === null ? visibleApplications(caller) : [applicationOf(caller, appId)]
      const list = await findBindings(sql, query.deviceNo, visibleTo, showMoment)
      if (list.length === 0) throw new Refusal('deviceNotFound')
      return { list }
    }),

    handle(forceUnbindDevice, async ({ body, ...request }) =>
      underOwnersLock(request, body.deviceNo, undefined, (tx, device) =>
        unbind(tx, device, { at: new Date(), by: request.actor, reason: body.reason }),
      ),
    ),

    handle(transferDevice, async ({ body: { deviceNo, targetAppId, reason }, ...request }) => {
      const { actor } = request
      await requireApplication(sql, targetAppId)
      return underOwnersLock(request, deviceNo, targetAppId, async (tx, device) => {
        const target = await requireApplication(tx, targetAppId)
        if (target.onlineStatus !== 1) throw new Refusal('applicationOffline')
        if (device.appId === targetAppId) throw new Refusal('deviceAlreadyYours')
        const ending = { at: new Date(), by: actor, reason }
        const moved = await moveDevice(tx, device, targetAppId, ending)
        // Both logs tell it, and neither application learns of the other.
        await loggedAway(tx, device, ending)
        return logged(tx, 'device.transferred', moved, ending)
      })
    }),
  ]
}
