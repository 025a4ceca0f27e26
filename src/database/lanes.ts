import type { Metrics } from '../runtime/metrics.ts'
import { GroupCommit, type GroupCommitOptions } from './group-commit.ts'
import type { Pending } from './pending.ts'

/** Opens a write path's lane of group commit, under a name of its own. */
export type OpenLane = <Item extends LaneItem, Outcome>(
  name: string,
  work: Pick<GroupCommitOptions<Item, Outcome>, 'write' | 'claims' | 'atOnce' | 'restMs'> &
    Required<Pick<GroupCommitOptions<Item, Outcome>, 'ownerOf'>>,
) => GroupCommit<Item, Outcome>

/** An item of a lane: a write that a request waits for. */
export interface LaneItem {
  pending: Pending
}

interface LaneLimits {
  maxWaiting: number
  maxWaitMs: number
  /**
   * Whether every lane writes one batch at a time, whatever its `atOnce`. Set on a cluster, where a batch is a
   * transaction of several nodes, which costs more than its rows. Two batches at once would share the rows, and one would
   * wait for the other's locks.
   */
  isOneByOne: boolean
}

/** Makes the function that opens a lane with the common settings and its gauges. */
export function laneOpener(
  metrics: Metrics,
  { isOneByOne, ...limits }: LaneLimits,
  onBatch: (size: number) => void,
): OpenLane {
  const lanes = new Map<string, Pick<GroupCommit<never, never>, 'queueLength' | 'queueAgeMs'>>()
  const ofEach = (read: (lane: { queueLength: number; queueAgeMs: number }) => number) => () =>
    Object.fromEntries([...lanes].map(([name, lane]) => [name, read(lane)]))
  const length = {
    name: 'forecourt_queue_length',
    help: 'How many items wait for a batch, by lane.',
    merged: 'sum',
  } as const
  metrics.gaugeBy(
    'lane',
    length,
    ofEach((lane) => lane.queueLength),
  )
  const help = 'How long the oldest item that waits for a batch has waited, by lane.'
  metrics.gaugeBy(
    'lane',
    { name: 'forecourt_queue_age_seconds', help, merged: 'max' },
    ofEach((lane) => lane.queueAgeMs / 1000),
  )
  return (name, work) => {
    const lane = new GroupCommit({
      ...limits,
      ...work,
      pendingOf: ({ pending }) => pending,
      ...(isOneByOne && { atOnce: 1 }),
      maxBatch: 512,
      onBatch(size) {
        metrics.observeBatch(name, size)
        onBatch(size)
      },
    })
    lanes.set(name, lane)
    return lane
  }
}
