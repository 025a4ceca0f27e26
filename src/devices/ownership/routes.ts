import { requireApplication } from '../../applications/store.ts'
import { keyOwnerOf } from '../../callers/caller.ts'
import { requireApplicationOf, requireApplicationsOf } from '../../callers/permissions.ts'
import { JsonText } from '../../http/answer.ts'
import { type BatchParts, runBatch } from '../../http/batch.ts'
import { type Handler, handleOutOfTurn, read } from '../../http/handler.ts'
import { validator } from '../../http/validate.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import {
  DeviceNamed,
  forceUnbindDevice,
  getDeviceHistory,
  transferDevice,
  transferDevices,
  unbindDevice,
  unbindDevices,
} from './contract.ts'
import { type OwnershipLaneParts, ownershipLane } from './lane.ts'
import { findBindings } from './store.ts'

type Parts = OwnershipLaneParts & BatchParts

const readRow = validator(DeviceNamed, 'device', undefined)
/** Turns serial numbers into rows of a batch: objects with `deviceNo`. */
const rowsOf = (deviceNos: readonly unknown[]) => deviceNos.map((deviceNo) => ({ deviceNo }))

export function deviceOwnershipRoutes(parts: Parts): Handler[] {
  const { sql, showMoment } = parts
  const change = ownershipLane(parts)

  return [
    handleOutOfTurn(unbindDevice, async ({ caller, actor, body, header, idempotency, pending }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const asked = { deviceNo: body.deviceNo, target: null, reason: given(body.reason), ifMatch: header('if-match') }
      return new JsonText(await change({ caller, actor, appId, ...asked, keyOwner: appId, idempotency, pending }))
    }),

    handleOutOfTurn(unbindDevices, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const asked = { caller, actor, appId, target: null, reason: given(body.reason), ifMatch: null, keyOwner: appId }
      return runBatch(parts, request, {
        owner: appId,
        rows: rowsOf(body.deviceNos),
        name: 'deviceNo',
        readRow,
        write: ({ deviceNo }, idempotency) => change({ ...asked, deviceNo, idempotency, pending: request.pending }),
      })
    }),

    read(getDeviceHistory, async ({ sql, caller, query }) => {
      const visibleTo = await requireApplicationsOf(sql, caller, query.appId)
      const list = await findBindings(sql, query.deviceNo, visibleTo, showMoment)
      if (list.length === 0) throw new Refusal('deviceNotFound')
      return { list }
    }),

    handleOutOfTurn(forceUnbindDevice, async ({ caller, actor, body, idempotency, pending }) => {
      const asked = { ...body, appId: null, target: null, ifMatch: null, keyOwner: keyOwnerOf(caller) }
      return new JsonText(await change({ caller, actor, ...asked, idempotency, pending }))
    }),

    handleOutOfTurn(transferDevice, async ({ caller, actor, body, idempotency, pending }) => {
      const { deviceNo, targetAppId: target, reason } = body
      await requireApplication(sql, target)
      const asked = { deviceNo, target, reason, appId: null, ifMatch: null, keyOwner: keyOwnerOf(caller) }
      return new JsonText(await change({ caller, actor, ...asked, idempotency, pending }))
    }),

    handleOutOfTurn(transferDevices, async ({ caller, actor, body, ...request }) => {
      const { deviceNos, targetAppId: target, reason } = body
      await requireApplication(sql, target)
      const asked = { caller, actor, target, reason, appId: null, ifMatch: null, keyOwner: keyOwnerOf(caller) }
      return runBatch(parts, request, {
        owner: asked.keyOwner,
        rows: rowsOf(deviceNos),
        name: 'deviceNo',
        readRow,
        write: ({ deviceNo }, idempotency) => change({ ...asked, deviceNo, idempotency, pending: request.pending }),
      })
    }),
  ]
}
