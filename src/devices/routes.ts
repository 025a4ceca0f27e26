import type { Logger } from 'pino'
import {
  applicationOf,
  lockApplicationFor,
  requireActingFor,
  requireApplicationOf,
  requireApplicationsOf,
} from '../callers/permissions.ts'
import type { Sql } from '../database/open.ts'
import { transaction } from '../database/transaction.ts'
import { insertEvent } from '../events/store.ts'
import { JsonText } from '../http/answer.ts'
import { runBatch } from '../http/batch.ts'
import { requireMatch, tagged } from '../http/etag.ts'
import { type Handler, handle, read } from '../http/handler.ts'
import { validator } from '../http/validate.ts'
import type { ReadTimeRange } from '../vocabulary/moments.ts'
import { createDevice, createDevices, DeviceBatchRow, getDevice, pageDevices, updateDevice } from './contract.ts'
import { type RegistrationParts, registrationLane } from './lane.ts'
import { devicePages } from './pages.ts'
import { changeDevice, deviceTag, membersOf, showDevice } from './rules.ts'
import { requireDevice, requireDeviceOf, saveChangedDevice } from './store.ts'

interface Parts extends RegistrationParts {
  sql: Sql
  log: Logger
  readTimeRange: ReadTimeRange
}

const readRow = validator(DeviceBatchRow, 'device', undefined)

export function deviceRoutes(parts: Parts): Handler[] {
  const { sql, showMoment } = parts
  const register = registrationLane(parts)
  const readPage = devicePages(parts)

  return [
    handle(createDevice, async ({ caller, body, idempotency }) => {
      const actor = requireActingFor(caller, body.appId)
      const { record, boundAt } = await register({ caller, body, actor, idempotency })
      return new JsonText(record, { etag: deviceTag(membersOf(body, boundAt)) })
    }),

    handle(createDevices, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      return runBatch(parts, request, {
        owner: appId,
        rows: body.devices,
        name: 'deviceNo',
        readRow,
        write: async (row, key) =>
          (await register({ caller, body: { ...row, appId }, actor, idempotency: key })).record,
      })
    }),

    handle(updateDevice, async ({ caller, actor, body, header }) => {
      const appId = applicationOf(caller, body.appId)
      const device = await transaction(sql, async (tx) => {
        await lockApplicationFor(tx, caller, appId)
        const before = await requireDevice(tx, appId, body.deviceNo)
        requireMatch(header('if-match'), deviceTag(before))
        const after = changeDevice(before, body)
        if (deviceTag(after) === deviceTag(before)) return before
        await saveChangedDevice(tx, after)
        const data = showDevice(after, showMoment)
        await insertEvent(tx, { appId, type: 'device.updated', actor, subject: after.deviceNo, data })
        return after
      })
      return tagged(showDevice(device, showMoment), deviceTag(device))
    }),

    read(getDevice, async ({ sql, caller, query }) => {
      const appIds = await requireApplicationsOf(sql, caller, query.appId)
      const device = await requireDeviceOf(sql, appIds, query.deviceNo)
      return tagged(showDevice(device, showMoment), deviceTag(device))
    }),

    read(pageDevices, ({ sql, caller, query }) => readPage(sql, caller, query)),
  ]
}
