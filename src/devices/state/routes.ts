import { requireApplicationOf, requireApplicationsOf } from '../../callers/permissions.ts'
import type { Context } from '../../context.ts'
import type { RequestKey } from '../../database/idempotency.ts'
import { JsonText } from '../../http/answer.ts'
import { runBatch } from '../../http/batch.ts'
import { type Handler, handleOutOfTurn, read } from '../../http/handler.ts'
import { validator } from '../../http/validate.ts'
import { readMoment, showMoment } from '../../vocabulary/moments.ts'
import { given } from '../../vocabulary/values.ts'
import { getDeviceState, reportDeviceState, reportDeviceStates, StateReport } from './contract.ts'
import { stateLane } from './lane.ts'
import type { Report } from './routine.ts'
import { reportedValues, reportTimeFaults } from './rules.ts'
import { findReported, type ReportedDevice, requireReported } from './store.ts'

export function deviceStateRoutes(context: Context): Handler[] {
  const { sql } = context
  const submit = stateLane(context)
  const check = (report: Partial<StateReport>) => reportTimeFaults(report)
  const readRow = validator(StateReport, 'report', check)

  const timeOf = (reportTime: StateReport['reportTime']) => {
    const text = given(reportTime)
    return text === null ? null : readMoment(text)
  }

  return [
    handleOutOfTurn(
      reportDeviceState,
      async ({ caller, actor, body, pending }) => {
        const { appId: named, deviceNo, reportTime, ...reported } = body
        const appId = await requireApplicationOf(sql, caller, named)
        const time: Report['time'] = timeOf(reportTime) ?? 'now'
        const values = reportedValues(reported)
        const report = { deviceNo, values, time, isCompared: time !== 'now' }
        return new JsonText(await submit({ caller, appId, actor, ...report, pending }))
      },
      { check },
    ),

    handleOutOfTurn(reportDeviceStates, async ({ caller, actor, body, ...request }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const counts = new Map<string, number>()
      return runBatch(context, request, {
        owner: appId,
        rows: body.reports,
        name: 'deviceNo',
        readRow,
        // A report that is repeated changes nothing.
        keepsNoKeys: true,
        write({ deviceNo, reportTime, ...report }, key) {
          const count = counts.get(deviceNo) ?? 0
          counts.set(deviceNo, count + 1)
          const time = timeOf(reportTime)
          const timed = time === null ? timeOfUntimedRow(key?.attempt, count) : { time, isCompared: true }
          const values = reportedValues(report)
          return submit({ caller, appId, deviceNo, actor, values, ...timed, pending: request.pending })
        },
      })
    }),

    read(
      getDeviceState,
      async ({ sql, caller, query }) => {
        const appIds = await requireApplicationsOf(sql, caller, query.appId)
        const deviceNo = given(query.deviceNo)
        if (deviceNo !== null) return showState(await requireReported(sql, appIds, deviceNo))
        const deviceNos = given(query.deviceNos)?.split(',') ?? []
        const reported = await findReported(sql, appIds, [...new Set(deviceNos)])
        const list = deviceNos.flatMap((deviceNo) => reported.get(deviceNo) ?? [])
        return { list: list.map((one) => showState(one)) }
      },
      { queryCheck: namingFaults },
    ),
  ]
}

const names = ['deviceNo', 'deviceNos'] as const

/** Faults of a query that has both `deviceNo` and `deviceNos`, or neither. */
function namingFaults(query: { [Name in (typeof names)[number]]?: string | null }, faulty: readonly string[]) {
  const count = names.filter((name) => faulty.includes(name) || given(query[name]) !== null).length
  if (count === 1) return []
  const reason =
    count === 0
      ? { en: 'is required: send deviceNo or deviceNos', zh: '为必填：deviceNo 与 deviceNos 二者之一' }
      : {
          en: 'can’t be combined: send either deviceNo or deviceNos',
          zh: 'deviceNo 与 deviceNos 不得同时给出',
        }
  return names.map((field) => ({ field, reason }))
}

function showState({ device, reportedAt }: ReportedDevice) {
  const { appId, deviceNo, status, onlineStatus, runStatus, statusRemark, version, batteryStatus, batteryEnergy } =
    device
  const state = { status, onlineStatus, runStatus, statusRemark, version, batteryStatus, batteryEnergy }
  return { appId, deviceNo, ...state, lastReportTime: reportedAt === null ? null : showMoment(reportedAt) }
}

/**
 * Returns the time of a device's n-th row without one. With an idempotency key, it counts from the batch's first
 * attempt, so that a retry after a crash overwrites no later report.
 */
function timeOfUntimedRow(attempt: RequestKey['attempt'], n: number): Pick<Report, 'time' | 'isCompared'> {
  if (attempt === undefined) return { time: 'now', isCompared: false }
  const { begunAt, isFirst } = attempt
  // 1 ms earlier on a retry: older than its first attempt, if written, and not older than the row before it.
  return { time: new Date(begunAt.getTime() + (isFirst ? n : n - 1)), isCompared: !isFirst }
}
