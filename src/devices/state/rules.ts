import { readMoment } from '../../vocabulary/moments.ts'
import type { FieldFault } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import type { DeviceState } from '../rules.ts'
import { clockAllowanceSeconds, type StateReport } from './contract.ts'

export type ReportedState = Omit<StateReport, 'deviceNo' | 'reportTime'>

/** What a report says of each member of the state: null for one that it leaves out, `cleared` for one that it clears. */
export type ReportedValues = Record<keyof DeviceState, number | string | null>

/** No stored text is empty, and no stored number is so small. */
export const cleared = { text: '', number: '-9223372036854775808' } as const

/** Null clears a member that can be unknown, and leaves any other as it is. */
export function reportedValues(report: ReportedState): ReportedValues {
  const { statusRemark, version, batteryStatus, batteryEnergy } = report
  return {
    status: given(report.status),
    onlineStatus: given(report.onlineStatus),
    runStatus: given(report.runStatus),
    statusRemark: statusRemark === undefined ? null : (given(statusRemark) ?? cleared.text),
    version: version === undefined ? null : (given(version) ?? cleared.text),
    batteryStatus: batteryStatus === undefined ? null : (given(batteryStatus) ?? cleared.number),
    batteryEnergy: batteryEnergy === undefined ? null : (given(batteryEnergy) ?? cleared.text),
  }
}

/** Whether a report clears a member. */
export const isClearing = ({ statusRemark, version, batteryStatus, batteryEnergy }: ReportedValues) =>
  batteryStatus === cleared.number || [statusRemark, version, batteryEnergy].includes(cleared.text)

/** The fault of a report whose time lies too far in the future. */
export function reportTimeFaults({ reportTime }: { reportTime?: string | null }): FieldFault[] {
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

/** A break of this part of the presence timeout, or longer, is one in which devices could not be heard (contract §5). */
const breakPart = 0.1
/** With a short timeout, a busy machine delays statements for longer than that part. */
const leastBreakMs = 500

/** The intervals of presence in milliseconds, for a timeout in seconds. */
export function presenceTimes(timeoutSeconds: number) {
  const timeoutMs = timeoutSeconds * 1000
  const refreshMs = timeoutMs * refreshPart
  const breakMs = Math.max(leastBreakMs, timeoutMs * breakPart)
  return {
    timeoutMs,
    refreshMs,
    /** The age of a stored sign of life at which the device has been silent for at least the timeout. */
    silenceMs: timeoutMs + refreshMs,
    tickMs: Math.min(10_000, Math.max(200, refreshMs)),
    breakMs,
    /** How often a serving process notes that it can hear devices; the length of a break is known no more exactly. */
    noteMs: Math.max(100, breakMs / 10),
  }
}
