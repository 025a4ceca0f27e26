import type { CallerCache } from '../../callers/cache.ts'
import type { Caller } from '../../callers/caller.ts'
import { type LaneOutcome, submitter } from '../../callers/submitter.ts'
import type { Config } from '../../config.ts'
import type { OpenLane } from '../../database/lanes.ts'
import type { Sql } from '../../database/open.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { type Device, deviceText, showDevice } from '../rules.ts'
import { noteRepeats } from './repeats/routine.ts'
import { applyReports, type Report } from './routine.ts'
import { isClearing, presenceTimes } from './rules.ts'

type Submission = Report & { caller: Caller }

export interface StateLaneParts {
  /** A pool of its own for the lane's batches, so that creates never wait for them. */
  writer: Sql
  openLane: OpenLane
  callers: CallerCache
  config: Pick<Config, 'presenceSeconds'>
  showMoment: ShowMoment
}

/**
 * Opens the lane of reports, of single requests and of batches. Returns its submit function.
 *
 * Reports that repeat the state of their device are noted without an application's lock; the others are applied under it,
 * in a second round trip. While most reports change something, the first would find little and is left out: every report
 * can be applied, and the result is the same.
 */
export function stateLane(parts: StateLaneParts): (submission: Submission) => Promise<string> {
  const { writer, openLane, callers, config, showMoment } = parts
  const { refreshMs } = presenceTimes(config.presenceSeconds)
  /** Whether most reports of the last batch changed their device. */
  let changesPrevail = false

  const outcomeOf = (device: Device | undefined): LaneOutcome =>
    device === undefined
      ? { refusal: new Refusal('deviceNotFound') }
      : { record: deviceText(showDevice(device, showMoment)) }

  async function note(submissions: readonly Submission[], callers: Caller[]): Promise<Map<string, Device>> {
    const repeats = changesPrevail ? [] : repeatsOf(submissions)
    return repeats.length === 0 ? new Map() : noteRepeats(writer, repeats, callers, refreshMs)
  }

  const lane = openLane<Submission, LaneOutcome>('states', {
    // No claims: one write may hold several reports of a device, which it applies in order.
    claims: () => [],
    atOnce: 2,
    async write(submissions) {
      const callers = submissions.map(({ caller }) => caller)
      const noted = await note(submissions, callers)
      const others = submissions.filter(({ deviceNo }) => !noted.has(deviceNo))
      if (others.length === 0) return submissions.map(({ deviceNo }) => outcomeOf(noted.get(deviceNo)))
      const { devices, revoked, changes } = await applyReports(writer, others, callers, refreshMs)
      changesPrevail = 2 * changes > submissions.length
      let next = 0
      return submissions.map(({ appId, deviceNo }) => {
        const device = noted.get(deviceNo)
        if (device !== undefined) return outcomeOf(device)
        const applied = devices[next++]
        return revoked.has(appId) ? { revoked: true } : outcomeOf(applied)
      })
    },
  })

  return submitter(lane, callers)
}

/** The reports that may repeat the state: each is the only one of its device and clears no member. */
function repeatsOf(submissions: readonly Submission[]): Submission[] {
  const counts = new Map<string, number>()
  for (const { deviceNo } of submissions) counts.set(deviceNo, (counts.get(deviceNo) ?? 0) + 1)
  return submissions.filter(({ deviceNo, values }) => counts.get(deviceNo) === 1 && !isClearing(values))
}
