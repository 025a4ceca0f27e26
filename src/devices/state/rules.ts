import type { ReadMoment } from '../../vocabulary/moments.ts'
import type { FieldFault } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import type { DeviceState } from '../rules.ts'
import { clockAllowanceSeconds, type StateReport } from './contract.ts'

export type ReportedState = Omit<StateReport, 'deviceNo' | 'reportTime'>

/**
 * The state with what was reported: null clears what can be unknown, and says nothing of what cannot. Whatever it says,
 * a device that speaks is online, unless it says that it is not (contract §5).
 */
export function applyReport(state: DeviceState, report: ReportedState): DeviceState {
  const { statusRemark, version, batteryStatus, batteryEnergy } = report
  return {
    status: given(report.status) ?? state.status,
    onlineStatus: given(report.onlineStatus) ?? 1,
    runStatus: given(report.runStatus) ?? state.runStatus,
    statusRemark: statusRemark === undefined ? state.statusRemark : given(statusRemark),
    version: version === undefined ? state.version : given(version),
    batteryStatus: batteryStatus === undefined ? state.batteryStatus : given(batteryStatus),
    batteryEnergy: batteryEnergy === undefined ? state.batteryEnergy : given(batteryEnergy),
  }
}

/** Whether a device in this state and one in the other show the same record. */
export function isSameState(device: DeviceState, state: DeviceState): boolean {
  return (Object.keys(state) as (keyof DeviceState)[]).every((member) => device[member] === state[member])
}

/** Refuses a report of the future, as it is checked. */
export function reportTimeFaults({ reportTime }: { reportTime?: string | null }, readMoment: ReadMoment): FieldFault[] {
  const text = given(reportTime)
  if (text === null || readMoment(text).getTime() <= Date.now() + clockAllowanceSeconds * 1000) return []
  const reason = {
    en: `lies more than ${clockAllowanceSeconds} seconds ahead`,
    zh: `超前当前时间 ${clockAllowanceSeconds} 秒以上`,
  }
  return [{ field: 'reportTime', reason }]
}

/**
 * How much older than the last sign of life the noted one may be, as a part of the time-out: within it no index is
 * touched, and a device is waited for that much longer.
 */
const refreshPart = 0.2

/** The moments and intervals of presence, in milliseconds, for a time-out in seconds. */
export function presenceTimes(timeoutSeconds: number) {
  const refreshMs = timeoutSeconds * 1000 * refreshPart
  return {
    refreshMs,
    /** Silence by the kept moment that is surely as long as the time-out. */
    silenceMs: timeoutSeconds * 1000 + refreshMs,
    tickMs: Math.min(10_000, Math.max(200, refreshMs)),
  }
}
