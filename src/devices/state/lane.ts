import type { CallerCache } from '../../callers/cache.ts'
import type { Caller } from '../../callers/caller.ts'
import { type LaneOutcome, submitter } from '../../callers/submitter.ts'
import type { Config } from '../../config.ts'
import type { OpenLane } from '../../database/lanes.ts'
import type { Sql } from '../../database/open.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { type Device, deviceText, showDevice } from '../rules.ts'
import { type Repeated, readReported } from './repeats/routine.ts'
import { changeStates, type ReportTime, type StateChange } from './routine.ts'
import { applyReport, changedMembers, presenceTimes, type ReportedState, repeatedState } from './rules.ts'
import type { KnownDevice } from './store.ts'

/** A report of a device's state. */
interface Submission {
  caller: Caller
  appId: string
  deviceNo: string
  actor: string
  report: ReportedState
  /** When the report was made; null for now. */
  at: Date | null
  /** Whether no stored report can be newer. */
  isNewest: boolean
}

/** A device, to which the reports of a batch are applied one after the other. */
interface ReportedDevice {
  known: KnownDevice & { isNoted: boolean }
  /** The device with the reports applied so far. */
  device: Device
  reportedAt: Date | null
  time: ReportTime
  hasReport: boolean
  /** Whether an applied report had to be compared with the time of the newest stored one. */
  isCompared: boolean
  events: StateChange['events']
}

export interface StateLaneParts {
  /** A pool of its own for the lane's batches, so that creates never wait for them. */
  writer: Sql
  openLane: OpenLane
  callers: CallerCache
  config: Pick<Config, 'presenceSeconds'>
  showMoment: ShowMoment
}

/** Opens the lane of reports, of single requests and of batches. Returns its submit function. */
export function stateLane(parts: StateLaneParts): (submission: Submission) => Promise<string> {
  const { writer, openLane, callers, config, showMoment } = parts
  const { refreshMs } = presenceTimes(config.presenceSeconds)

  const lane = openLane<Submission, LaneOutcome>('states', {
    // No claims: one write may hold several reports of a device, which it applies in order.
    claims: () => [],
    atOnce: 2,
    async write(submissions) {
      const callers = submissions.map(({ caller }) => caller)
      const serials = [...new Set(submissions.map(({ deviceNo }) => deviceNo))]
      const { devices: known, revoked } = await readReported(
        writer,
        serials,
        repeatedOf(submissions),
        callers,
        refreshMs,
      )
      const devices = new Map([...known].map(([deviceNo, one]) => [deviceNo, withoutReports(one)]))
      const records = submissions.map((submission) =>
        revoked.has(submission.appId) ? undefined : apply(submission, devices.get(submission.deviceNo)),
      )
      const changes = [...devices.values()].filter(({ hasReport, known }) => hasReport && !known.isNoted)
      const written = new Set(
        changes.length === 0 ? [] : await changeStates(writer, changes.map(toChange), callers, new Date()),
      )
      return submissions.map(({ appId, deviceNo }, index) => {
        if (revoked.has(appId)) return { revoked: true }
        const record = records[index]
        if (record === undefined) return { refusal: new Refusal('deviceNotFound') }
        const device = devices.get(deviceNo)
        const isDone = device?.hasReport === false || device?.known.isNoted || written.has(deviceNo)
        return isDone ? { record } : { again: true }
      })
    },
  })

  /** Applies one report. Returns the record, or undefined if the device does not belong to the application. */
  function apply(
    { appId, actor, report, at, isNewest }: Submission,
    reported: ReportedDevice | undefined,
  ): string | undefined {
    if (reported?.device.appId !== appId) return undefined
    const { known, device, reportedAt } = reported
    const textOf = (shown: Device) => deviceText(showDevice(shown, showMoment))
    const isCompared = at !== null && !isNewest
    if (isCompared && reportedAt !== null && at < reportedAt) return textOf(device)
    const state = applyReport(device, report)
    const before = changedMembers(device, state)
    reported.hasReport = true
    reported.isCompared ||= isCompared
    const { time } = reported
    reported.time = at === null ? { ...time, isNow: true } : { ...time, at: later(time.at, at) }
    reported.reportedAt = later(reportedAt, at ?? new Date())
    if (before !== undefined) {
      reported.device = { ...device, ...state }
      reported.events.push({ actor, state, before, time: newestTime(known, reported.time) })
    }
    return textOf(reported.device)
  }

  return submitter(lane, callers)
}

/**
 * The reports that the database can compare with the state by itself: each is the only one of its device and clears no
 * member.
 */
function repeatedOf(submissions: readonly Submission[]): Repeated[] {
  const counts = new Map<string, number>()
  for (const { deviceNo } of submissions) counts.set(deviceNo, (counts.get(deviceNo) ?? 0) + 1)
  return submissions.flatMap(({ appId, deviceNo, report, at }) => {
    const state = counts.get(deviceNo) === 1 ? repeatedState(report) : undefined
    return state === undefined ? [] : [{ appId, deviceNo, at, state }]
  })
}

function withoutReports(known: ReportedDevice['known']): ReportedDevice {
  const { device, reportedAt } = known
  const time = { at: null, isNow: false }
  return { known, device, reportedAt, time, hasReport: false, isCompared: false, events: [] }
}

function toChange({ known, device, time, isCompared, events }: ReportedDevice): StateChange {
  const sign = device.onlineStatus === 2 ? 'gone' : known.isSignOld === false ? null : 'alive'
  const newestRead = isCompared ? known.reportedAt : undefined
  const { rowVersion, rowPlace } = known
  return { ...device, rowVersion, rowPlace, time: newestTime(known, time), newestRead, sign, events }
}

/** The time of the newest report: the newest of these, or the stored one. */
const newestTime = ({ reportedAt }: KnownDevice, { at, isNow }: ReportTime): ReportTime => ({
  at: later(reportedAt, at),
  isNow,
})

function later<Moment extends Date | null>(known: Date | null, at: Moment): Moment | Date {
  return known !== null && (at === null || known > at) ? known : at
}
