import type { Caller } from '../../callers/caller.ts'
import { type LaneOutcome, submitter } from '../../callers/submitter.ts'
import type { Context } from '../../context.ts'
import type { Pending } from '../../database/pending.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { type Device, deviceText, showDevice } from '../rules.ts'
import { noteRepeats } from './repeats/routine.ts'
import { applyReports, type Report } from './routine.ts'
import { isClearing, presenceTimes } from './rules.ts'

type Submission = Report & { caller: Caller; pending: Pending }

/**
 * Opens the lane of reports. Returns its submit function. Reports that repeat a device's state are noted without the
 * application's lock; a second round trip applies the others under it. While most reports change something, the first
 * is left out, with the same result.
 */
export function stateLane(context: Context): (submission: Submission) => Promise<string> {
  const { pools, openLane, callers, config } = context
  // A pool of its own, so that creates never wait for reports.
  const { states: writer } = pools
  const { refreshMs } = presenceTimes(config.presenceSeconds)
  let changesPrevail = false
  const underWay = new BatchOrder()

  const outcomeOf = (device: Device | undefined): LaneOutcome =>
    device === undefined ? { refusal: new Refusal('deviceNotFound') } : { record: deviceText(showDevice(device)) }

  const lane = openLane<Submission, LaneOutcome>('states', {
    ownerOf: ({ appId }) => appId,
    // No claims: one write may hold several reports of a device, applied in order.
    claims: () => [],
    atOnce: 2,
    async write(submissions) {
      const callers = submissions.map(({ caller }) => caller)
      const turn = underWay.begin(submissions)
      try {
        const repeats = changesPrevail ? [] : repeatsOf(submissions).filter(({ deviceNo }) => !turn.isAwaited(deviceNo))
        const noted =
          repeats.length === 0 ? new Map<string, Device>() : await noteRepeats(writer, repeats, callers, refreshMs)
        const others = submissions.filter(({ deviceNo }) => !noted.has(deviceNo))
        if (others.length === 0) return submissions.map(({ deviceNo }) => outcomeOf(noted.get(deviceNo)))
        await turn.comes
        const applying = applyReports(writer, others, callers, refreshMs)
        turn.pass()
        const { devices, revoked, changes } = await applying
        changesPrevail = 2 * changes > submissions.length
        let next = 0
        return submissions.map(({ appId, deviceNo }) => {
          const device = noted.get(deviceNo)
          if (device !== undefined) return outcomeOf(device)
          const applied = devices[next++]
          return revoked.has(appId) ? { revoked: true } : outcomeOf(applied)
        })
      } finally {
        turn.pass()
        turn.end()
      }
    },
  })

  return submitter(lane, callers)
}

/**
 * Keeps concurrent batches in order. The connection runs statements as they are sent, so a batch sends what it applies
 * after the batch before it, and doesn't note a device that an earlier batch may still change.
 */
class BatchOrder {
  private last = Promise.resolve()
  private readonly batches = new Set<ReadonlySet<string>>()

  begin(submissions: readonly Submission[]) {
    const earlier = [...this.batches]
    const own = new Set(submissions.map(({ deviceNo }) => deviceNo))
    this.batches.add(own)
    const comes = this.last
    let pass = () => {}
    const passes = new Promise<void>((resolve) => {
      pass = resolve
    })
    this.last = comes.then(() => passes)
    return {
      isAwaited: (deviceNo: string) => earlier.some((batch) => batch.has(deviceNo)),
      comes,
      pass,
      end: () => this.batches.delete(own),
    }
  }
}

/** Returns reports that may repeat the state: each is its device's only one and clears nothing. */
function repeatsOf(submissions: readonly Submission[]): Submission[] {
  const counts = new Map<string, number>()
  for (const { deviceNo } of submissions) counts.set(deviceNo, (counts.get(deviceNo) ?? 0) + 1)
  return submissions.filter(({ deviceNo, values }) => counts.get(deviceNo) === 1 && !isClearing(values))
}
