import { readMoment } from '../../vocabulary/moments.ts'
import { type FieldFault, fieldFault } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import type { DeviceState } from '../rules.ts'
import { clockAllowanceSeconds, type StateReport } from './contract.ts'

export type ReportedState = Omit<StateReport, 'deviceNo' | 'reportTime'>

/** Null leaves a field as it is, `cleared` clears it. */
export type ReportedValues = Record<keyof DeviceState, number | string | null>

/** No stored text is empty, and no stored number is so small. */
export const cleared = { text: '', number: '-9223372036854775808' } as const

/** Null clears a field that can be unknown, and leaves any other as it is. */
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

export const isClearing = ({ statusRemark, version, batteryStatus, batteryEnergy }: ReportedValues) =>
  batteryStatus === cleared.number || [statusRemark, version, batteryEnergy].includes(cleared.text)

/** Refuses a report time too far in the future. */
export function reportTimeFaults({ reportTime }: { reportTime?: string | null }): FieldFault[] {
  const text = given(reportTime)
  if (text === null || readMoment(text).getTime() <= Date.now() + clockAllowanceSeconds * 1000) return []
  const en = `is more than ${clockAllowanceSeconds} seconds in the future`
  return [fieldFault('reportTime', en, `超前当前时间 ${clockAllowanceSeconds} 秒以上`)]
}

/** `seen_at` may lag by this part of the timeout, to spare index updates; devices go offline that much later. */
const refreshPart = 0.2

/** Devices could not be heard in a break of this part of the timeout or longer (contract §5). */
const breakPart = 0.1
/** On a busy machine, statements are delayed for longer than that part of a short timeout. */
const leastBreakMs = 500

export function presenceTimes(timeoutSeconds: number) {
  const timeoutMs = timeoutSeconds * 1000
  const refreshMs = timeoutMs * refreshPart
  const breakMs = Math.max(leastBreakMs, timeoutMs * breakPart)
  return {
    timeoutMs,
    refreshMs,
    /** At this age of `seen_at`, the device has been silent for at least the timeout. */
    silenceMs: timeoutMs + refreshMs,
    tickMs: Math.min(10_000, Math.max(200, refreshMs)),
    breakMs,
    /** How often a worker notes that it hears devices; breaks are known no more exactly. */
    noteMs: Math.max(100, breakMs / 10),
  }
}
