import { requireApplication } from '../../applications/store.ts'
import { keyOwnerOf } from '../../callers/caller.ts'
import { requireApplicationOf, requireApplicationsOf } from '../../callers/permissions.ts'
import type { Context } from '../../context.ts'
import { runBatch } from '../../http/batch.ts'
import { type Handler, handleOutOfTurn, read } from '../../http/handler.ts'
import { validator } from '../../http/validate.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { shownText, writeLane } from '../../writes/lane.ts'
import {
  DeviceNamed,
  forceUnbindDevice,
  getDeviceHistory,
  transferDevice,
  transferDevices,
  unbindDevice,
  unbindDevices,
} from './contract.ts'
import { findBindings } from './store.ts'
import { type OwnerChange, ownerChanges } from './writes.ts'

const readRow = validator(DeviceNamed, 'device', undefined)
const rowsOf = (deviceNos: readonly unknown[]) => deviceNos.map((deviceNo) => ({ deviceNo }))

export function deviceOwnershipRoutes(context: Context): Handler[] {
  const { sql, pools } = context
  const lane = { name: 'ownership', claimsOf: ({ deviceNo }: OwnerChange) => [deviceNo] }
  const change = writeLane({ ...context, sql: pools.creates }, lane, ownerChanges)

  return [
    handleOutOfTurn(unbindDevice, async ({ caller, actor, body, header, idempotency, pending }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const unbinding = { deviceNo: body.deviceNo, target: null, reason: given(body.reason) }
      const asked = { caller, actor, appId, ifMatch: header('if-match'), idempotency, pending }
      return shownText(await change({ ...asked, body: unbinding }))
    }),

    handleOutOfTurn(unbindDevices, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const asked = { caller, actor, appId, ifMatch: null, pending: request.pending }
      const reason = given(body.reason)
      return runBatch(context, request, {
        owner: appId,
        rows: rowsOf(body.deviceNos),
        name: 'deviceNo',
        readRow,
        write: async ({ deviceNo }, idempotency) =>
          (await change({ ...asked, body: { deviceNo, target: null, reason }, idempotency })).record,
      })
    }),

    read(getDeviceHistory, async ({ sql, caller, query }) => {
      const visibleTo = await requireApplicationsOf(sql, caller, query.appId)
      const list = await findBindings(sql, query.deviceNo, visibleTo)
      if (list.length === 0) throw new Refusal('deviceNotFound')
      return { list }
    }),

    handleOutOfTurn(forceUnbindDevice, async ({ caller, actor, body, idempotency, pending }) => {
      const asked = { caller, actor, ...ofAnyone, keyOwner: keyOwnerOf(caller), idempotency, pending }
      return shownText(await change({ ...asked, body: { ...body, target: null } }))
    }),

    handleOutOfTurn(transferDevice, async ({ caller, actor, body, idempotency, pending }) => {
      const { deviceNo, targetAppId: target, reason } = body
      await requireApplication(sql, target)
      const asked = { caller, actor, ...ofAnyone, keyOwner: keyOwnerOf(caller), idempotency, pending }
      return shownText(await change({ ...asked, body: { deviceNo, target, reason } }))
    }),

    handleOutOfTurn(transferDevices, async ({ caller, actor, body, ...request }) => {
      const { deviceNos, targetAppId: target, reason } = body
      await requireApplication(sql, target)
      const keyOwner = keyOwnerOf(caller)
      const asked = { caller, actor, ...ofAnyone, keyOwner, pending: request.pending }
      return runBatch(context, request, {
        owner: keyOwner,
        rows: rowsOf(deviceNos),
        name: 'deviceNo',
        readRow,
        write: async ({ deviceNo }, idempotency) =>
          (await change({ ...asked, body: { deviceNo, target, reason }, idempotency })).record,
      })
    }),
  ]
}

const ofAnyone = { appId: null, ifMatch: null }
