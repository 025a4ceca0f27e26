import type { CallerCache } from '../../callers/cache.ts'
import type { Caller } from '../../callers/caller.ts'
import { findRevokedApplications } from '../../callers/store.ts'
import { type LaneOutcome, submitter } from '../../callers/submitter.ts'
import type { Config } from '../../config.ts'
import type { OpenLane } from '../../database/lanes.ts'
import type { Sql } from '../../database/open.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { type Device, deviceText, showDevice } from '../rules.ts'
import { changeStates, type ReportTime, type StateChange } from './routine.ts'
import { applyReport, isSameState, presenceTimes, type ReportedState } from './rules.ts'
import { findDevices, type KnownDevice, noteReports } from './store.ts'

/** A report of a device's state. */
interface Submission {
  caller: Caller
  appId: string
  deviceNo: string
  actor: string
  report: ReportedState
  /** The report's time; null for now. */
  at: Date | null
  /** Whether nothing that is known can be newer. */
  isNewest: boolean
}

/** What the reports of a batch make of one device, one after the other. */
interface Turn {
  known: KnownDevice
  /** As it is now. */
  device: Device
  reportedAt: Date | null
  time: ReportTime
  /** Whether a report was taken, and whether one of them could have been older than what is known. */
  isHeard: boolean
  isCompared: boolean
  events: StateChange['events']
}

export interface StateLaneParts {
  /** For the lane's batches, which creates never wait behind. */
  writer: Sql
  openLane: OpenLane
  callers: CallerCache
  config: Pick<Config, 'presenceSeconds'>
  showMoment: ShowMoment
}

/**
 * The lane of reports, of one request or of the rows of a batch.
 */
export function stateLane(parts: StateLaneParts): (submission: Submission) => Promise<string> {
  const { writer, openLane, callers, config, showMoment } = parts
  const { refreshMs } = presenceTimes(config.presenceSeconds)

  const lane = openLane<Submission, LaneOutcome>('states', {
    // The reports of one device are taken one after the other, in one write.
    claims: () => [],
    async write(submissions) {
      const serials = submissions.map(({ deviceNo }) => deviceNo)
      const callers = submissions.map(({ caller }) => caller)
      const [known, revoked] = await Promise.all([
        findDevices(writer, [...new Set(serials)], refreshMs),
        // Signs of life take no lock under which this could be looked at.
        findRevokedApplications(writer, callers),
      ])
      const turns = new Map([...known].map(([deviceNo, one]) => [deviceNo, beginTurn(one)]))
      const records = submissions.map((submission) =>
        revoked.has(submission.appId) ? undefined : take(submission, turns.get(submission.deviceNo)),
      )
      const heard = [...turns.values()].filter(({ isHeard }) => isHeard)
      // A first report makes a row, and only under the application's lock does the device stay where it is meanwhile.
      const isWritten = ({ events, known }: Turn) => events.length > 0 || known.reportedAt === null
      const changes = heard.filter(isWritten).map(toChange)
      const unchanged = heard.filter((turn) => !isWritten(turn))
      const written = new Set<string>()
      const write = async (count: number, statement: () => Promise<string[]>) => {
        if (count > 0) for (const deviceNo of await statement()) written.add(deviceNo)
      }
      await Promise.all([
        write(changes.length, () => changeStates(writer, changes, callers, new Date())),
        write(unchanged.length, () => noteReports(writer, unchanged, refreshMs)),
      ])
      return submissions.map(({ appId, deviceNo }, index) => {
        if (revoked.has(appId)) return { unsure: true }
        const record = records[index]
        if (record === undefined) return { refusal: new Refusal('deviceNotFound') }
        return turns.get(deviceNo)?.isHeard === false || written.has(deviceNo) ? { record } : { again: true }
      })
    },
  })

  /** Takes one report. Answers the record; nothing for a device that is not the application's. */
  function take({ appId, actor, report, at, isNewest }: Submission, turn: Turn | undefined): string | undefined {
    if (turn?.device.appId !== appId) return undefined
    const { device, reportedAt } = turn
    const textOf = (shown: Device) => deviceText(showDevice(shown, showMoment))
    const isCompared = at !== null && !isNewest
    if (isCompared && reportedAt !== null && at < reportedAt) return textOf(device)
    const state = applyReport(device, report)
    const isChange = !isSameState(device, state)
    if (isChange) turn.device = { ...device, ...state }
    const record = textOf(turn.device)
    if (isChange) turn.events.push({ actor, record })
    turn.isHeard = true
    turn.isCompared ||= isCompared
    turn.time = at === null ? { ...turn.time, isNow: true } : { ...turn.time, at: later(turn.time.at, at) }
    turn.reportedAt = later(reportedAt, at ?? new Date())
    return record
  }

  return submitter(lane, callers)
}

function beginTurn(known: KnownDevice): Turn {
  const { device, reportedAt } = known
  const time = { at: null, isNow: false }
  return { known, device, reportedAt, time, isHeard: false, isCompared: false, events: [] }
}

function toChange({ known, device, time, isCompared, events }: Turn): StateChange {
  const sign = device.onlineStatus === 2 ? 'gone' : known.isSignOld === false ? null : 'alive'
  const newestRead = isCompared ? known.reportedAt : undefined
  return { ...device, rowVersion: known.rowVersion, time, newestRead, sign, events }
}

const later = (known: Date | null, at: Date) => (known !== null && known > at ? known : at)
