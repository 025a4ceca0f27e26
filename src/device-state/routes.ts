import type { Logger } from 'pino'
import { requireApplicationOf } from '../callers/permissions.ts'
import type { Sql } from '../database/open.ts'
import { runBatch } from '../http/batch.ts'
import { type Handler, handle, JsonText, read } from '../http/serve.ts'
import { validator } from '../http/validate.ts'
import type { ReadMoment } from '../moments.ts'
import { given } from '../values.ts'
import { getDeviceState, reportDeviceState, reportDeviceStates, StateReport } from './contract.ts'
import { type StateLaneParts, stateLane } from './lane.ts'
import { reportTimeFaults } from './rules.ts'
import { requireReported } from './store.ts'

interface Parts extends StateLaneParts {
  sql: Sql
  log: Logger
  readMoment: ReadMoment
}

export function deviceStateRoutes(parts: Parts): Handler[] {
  const { sql, showMoment, readMoment } = parts
  const submit = stateLane(parts)
  const check = (report: Partial<StateReport>) => reportTimeFaults(report, readMoment)
  const readRow = validator(StateReport, 'report', check)

  const timeOf = (reportTime: StateReport['reportTime']) => {
    const text = given(reportTime)
    return text === null ? null : readMoment(text)
  }

  return [
    handle(
      reportDeviceState,
      async ({ caller, actor, body }) => {
        const { appId: named, deviceNo, reportTime, ...report } = body
        const appId = await requireApplicationOf(sql, caller, named)
        return new JsonText(await submit({ caller, appId, deviceNo, actor, report, at: timeOf(reportTime) }))
      },
      { check },
    ),

    handle(reportDeviceStates, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      return runBatch(parts, request, {
        owner: appId,
        rows: body.reports,
        name: 'deviceNo',
        readRow,
        write({ deviceNo, reportTime, ...report }, key) {
          // What was reported since an attempt that broke off, by itself or by others, stays.
          const at = timeOf(reportTime) ?? key?.triedAt ?? null
          return submit({ caller, appId, deviceNo, actor, report, at })
        },
      })
    }),

    read(getDeviceState, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      const { device, reportedAt } = await requireReported(sql, appId, query.deviceNo)
      const { deviceNo, status, onlineStatus, runStatus, statusRemark, version, batteryStatus, batteryEnergy } = device
      const state = { status, onlineStatus, runStatus, statusRemark, version, batteryStatus, batteryEnergy }
      return { appId, deviceNo, ...state, lastReportTime: reportedAt === null ? null : showMoment(reportedAt) }
    }),
  ]
}
