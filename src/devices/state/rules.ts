import type { ReadMoment } from '../../vocabulary/moments.ts'
import type { FieldFault } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import type { DeviceState } from '../rules.ts'
import { clockAllowanceSeconds, type StateReport } from './contract.ts'

export type ReportedState = Omit<StateReport, 'deviceNo' | 'reportTime'>

/**
 * Applies a report to a state. Null clears a member that can be unknown, and leaves any other as it is. A device that
 * reports is online, unless the report itself says offline (contract §5).
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

/**
 * The members that a device must already have for the report to change nothing; null for a member that the report
 * leaves out. Undefined for a report that clears a member, because null could not tell the two apart.
 */
export function repeatedState(
  report: ReportedState,
): { [Member in keyof DeviceState]: DeviceState[Member] | null } | undefined {
  const { statusRemark, version, batteryStatus, batteryEnergy } = report
  const clears = [statusRemark, version, batteryStatus, batteryEnergy].some(
    (value) => value !== undefined && given(value) === null,
  )
  if (clears) return undefined
  return {
    status: given(report.status),
    onlineStatus: given(report.onlineStatus),
    runStatus: given(report.runStatus),
    statusRemark: given(statusRemark),
    version: given(version),
    batteryStatus: given(batteryStatus),
    batteryEnergy: given(batteryEnergy),
  }
}

/** The members that the new state changes, as they are now; undefined if it changes none, so the record stays the same. */
export function changedMembers(device: DeviceState, state: DeviceState): Partial<DeviceState> | undefined {
  const changed = (Object.keys(state) as (keyof DeviceState)[]).filter((member) => device[member] !== state[member])
  return changed.length === 0 ? undefined : Object.fromEntries(changed.map((member) => [member, device[member]]))
}

/** The fault of a report whose time lies too far in the future. */
export function reportTimeFaults({ reportTime }: { reportTime?: string | null }, readMoment: ReadMoment): FieldFault[] {
  const text = given(reportTime)
  if (text === null || readMoment(text).getTime() <= Date.now() + clockAllowanceSeconds * 1000) return []
  const reason = {
    en: `is more than ${clockAllowanceSeconds} seconds in the future`,
    zh: `超前当前时间 ${clockAllowanceSeconds} 秒以上`,
  }
  return [{ field: 'reportTime', reason }]
}

/**
 * By how much the stored sign of life may lag behind the last one, as a part of the presence timeout. Within it, a
 * report updates no index entry; in return, a device is marked offline that much later.
 */
const refreshPart = 0.2

/** The intervals of presence in milliseconds, for a timeout in seconds. */
export function presenceTimes(timeoutSeconds: number) {
  const refreshMs = timeoutSeconds * 1000 * refreshPart
  return {
    refreshMs,
    /** The age of a stored sign of life at which the device has been silent for at least the timeout. */
    silenceMs: timeoutSeconds * 1000 + refreshMs,
    tickMs: Math.min(10_000, Math.max(200, refreshMs)),
  }
}
