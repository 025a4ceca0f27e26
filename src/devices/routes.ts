import { requireActingFor, requireApplicationOf, requireApplicationsOf } from '../callers/permissions.ts'
import type { Context } from '../context.ts'
import { JsonText } from '../http/answer.ts'
import { runBatch } from '../http/batch.ts'
import { tagged } from '../http/etag.ts'
import { type Handler, handleOutOfTurn, read } from '../http/handler.ts'
import { validator } from '../http/validate.ts'
import { shownText, writeLane } from '../writes/lane.ts'
import {
  createDevice,
  createDevices,
  DeviceBatchRow,
  DeviceUpdateRow,
  getDevice,
  pageDevices,
  updateDevice,
  updateDevices,
} from './contract.ts'
import { registrationLane } from './lane.ts'
import type { Catalogue } from './models/catalogue.ts'
import { readDevicePage } from './pages.ts'
import { deviceTag, membersOf, showDevice } from './rules.ts'
import { requireDeviceOf } from './store.ts'
import { deviceUpdates } from './writes.ts'

const readRow = validator(DeviceBatchRow, 'device', undefined)
const readUpdate = validator(DeviceUpdateRow, 'device', undefined)

export function deviceRoutes(context: Context, catalogue: Catalogue): Handler[] {
  const { sql } = context
  const register = registrationLane(context, catalogue)
  const update = writeLane(context, { name: 'deviceChanges' }, deviceUpdates)

  return [
    handleOutOfTurn(createDevice, async ({ caller, body, idempotency, pending }) => {
      const actor = requireActingFor(caller, body.appId)
      const { record, boundAt } = await register({ caller, body, actor, idempotency, pending })
      return new JsonText(record, { etag: deviceTag(membersOf(body, boundAt)) })
    }),

    handleOutOfTurn(createDevices, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      return runBatch(context, request, {
        owner: appId,
        rows: body.devices,
        name: 'deviceNo',
        readRow,
        write: async (row, key) =>
          (await register({ caller, body: { ...row, appId }, actor, idempotency: key, pending: request.pending }))
            .record,
      })
    }),

    handleOutOfTurn(updateDevice, async ({ caller, actor, body, header, pending }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const change = { caller, actor, appId, body, ifMatch: header('if-match'), idempotency: undefined, pending }
      return shownText(await update(change))
    }),

    handleOutOfTurn(updateDevices, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const change = { caller, actor, appId, ifMatch: null, pending: request.pending }
      return runBatch(context, request, {
        owner: appId,
        rows: body.devices,
        name: 'deviceNo',
        readRow: readUpdate,
        write: async (row, idempotency) => (await update({ ...change, body: row, idempotency })).record,
      })
    }),

    read(getDevice, async ({ sql, caller, query }) => {
      const appIds = await requireApplicationsOf(sql, caller, query.appId)
      const device = await requireDeviceOf(sql, appIds, query.deviceNo)
      return tagged(showDevice(device), deviceTag(device))
    }),

    read(pageDevices, ({ sql, caller, query }) => readDevicePage(sql, caller, query)),
  ]
}
