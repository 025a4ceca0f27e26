import type { CallerCache } from '../callers/cache.ts'
import type { Caller } from '../callers/caller.ts'
import { findRevokedApplications } from '../callers/store.ts'
import type { Config } from '../config.ts'
import type { OpenLane } from '../database/lanes.ts'
import type { Sql } from '../database/open.ts'
import { deviceText, showDevice } from '../devices/rules.ts'
import type { ShowMoment } from '../moments.ts'
import { Refusal } from '../refusals.ts'
import { changeStates, type StateChange } from './routine.ts'
import { applyReport, isSameState, presenceTimes, type ReportedState } from './rules.ts'
import { findDevices, type KnownDevice, noteReports, type UnchangedReport } from './store.ts'

/** A report of a device's state. */
interface Submission {
  caller: Caller
  appId: string
  deviceNo: string
  actor: string
  report: ReportedState
  /** The report's own time; null for now. */
  at: Date | null
}

/** What a report makes of a device: nothing, where a newer one is known. */
interface Composed {
  deviceNo: string
  record: string
  change?: StateChange
  unchanged?: UnchangedReport
}

/**
 * `again`: the device was changed between being read and being written; read it again. `unsure`: a caller of the
 * application has lost its access; look whether this one has.
 */
type Outcome = { record: string } | { refusal: 'deviceNotFound' } | { again: true } | { unsure: true }

export interface StateLaneParts {
  /** For the lane's batches, which creates never wait behind. */
  writer: Sql
  openLane: OpenLane
  callers: CallerCache
  config: Pick<Config, 'presenceSeconds'>
  showMoment: ShowMoment
}

/**
 * The lane of reports, of one request or of the rows of a batch. Answers the record as JSON text, and throws the
 * refusal; 10002 and 10005 where the caller has lost its access while it waited.
 */
export function stateLane(parts: StateLaneParts): (submission: Submission) => Promise<string> {
  const { writer, openLane, callers, config, showMoment } = parts
  const { refreshMs } = presenceTimes(config.presenceSeconds)

  const lane = openLane<Submission, Outcome>('states', {
    claims: ({ deviceNo }) => [deviceNo],
    async write(submissions) {
      const serials = submissions.map(({ deviceNo }) => deviceNo)
      const callers = submissions.map(({ caller }) => caller)
      const [known, revoked] = await Promise.all([
        findDevices(writer, serials, refreshMs),
        // Signs of life take no lock under which this could be looked at.
        findRevokedApplications(writer, callers),
      ])
      const composed = submissions.map((submission) =>
        revoked.has(submission.appId) ? undefined : compose(submission, known.get(submission.deviceNo)),
      )
      const changes = composed.flatMap((one) => one?.change ?? [])
      const unchanged = composed.flatMap((one) => one?.unchanged ?? [])
      const written = new Set<string>()
      const write = async (count: number, statement: () => Promise<string[]>) => {
        if (count > 0) for (const deviceNo of await statement()) written.add(deviceNo)
      }
      await Promise.all([
        write(changes.length, () => changeStates(writer, changes, callers, new Date())),
        write(unchanged.length, () => noteReports(writer, unchanged, refreshMs)),
      ])
      return submissions.map(({ appId }, index) => {
        if (revoked.has(appId)) return { unsure: true }
        const one = composed[index]
        if (one === undefined) return { refusal: 'deviceNotFound' }
        const isDone = (one.change ?? one.unchanged) === undefined || written.has(one.deviceNo)
        return isDone ? { record: one.record } : { again: true }
      })
    },
  })

  /** What a report makes of a device; nothing for one that is not the application's. */
  function compose(submission: Submission, known: KnownDevice | undefined): Composed | undefined {
    const { appId, deviceNo, actor, report, at } = submission
    if (known?.device.appId !== appId) return undefined
    const { device, rowVersion, isSignOld, reportedAt } = known
    const textOf = (state: object) => deviceText(showDevice({ ...device, ...state }, showMoment))
    if (at !== null && reportedAt !== null && at < reportedAt) return { deviceNo, record: textOf({}) }
    const state = applyReport(device, report)
    const record = textOf(state)
    if (isSameState(device, state)) return { deviceNo, record, unchanged: { known, at } }
    const sign = state.onlineStatus === 2 ? 'gone' : isSignOld === false ? null : 'alive'
    const { boundAt } = device
    const change: StateChange = { ...state, appId, deviceNo, boundAt, actor, rowVersion, reportedAt: at, sign, record }
    return { deviceNo, record, change }
  }

  return async (submission) => {
    const since = performance.now()
    for (;;) {
      const outcome = await lane.submit(submission, since)
      if ('record' in outcome) return outcome.record
      if ('refusal' in outcome) throw new Refusal(outcome.refusal)
      if ('unsure' in outcome) await callers.requireAccess(submission.caller)
    }
  }
}
