import type { Metrics } from '../runtime/metrics.ts'
import { limits } from '../vocabulary/limits.ts'
import { isDistributed } from './cluster.ts'
import { GroupCommit, type GroupCommitOptions } from './group-commit.ts'
import type { Pending } from './pending.ts'

export type OpenLane = <Item extends LaneItem, Outcome>(
  name: string,
  work: Pick<GroupCommitOptions<Item, Outcome>, 'write' | 'claims' | 'atOnce' | 'restMs'> &
    Required<Pick<GroupCommitOptions<Item, Outcome>, 'ownerOf'>>,
) => GroupCommit<Item, Outcome>

export interface LaneItem {
  pending: Pending
}

/** How many rows of one batch request are in a lane at once; single requests wait beside them. */
export const rowsInLane = (): number => (isDistributed() ? limits.batchRowsInLaneOnCluster : limits.batchRowsInLane)

/** Returns the function that opens a lane with the common settings and gauges. */
export function laneOpener(
  metrics: Metrics,
  waits: { maxWaiting: number; maxWaitMs: number },
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
      ...waits,
      ...work,
      pendingOf: ({ pending }) => pending,
      // On a cluster, two batches would wait for each other's locks on the same rows.
      ...(isDistributed() && { atOnce: 1, mostOfOneBeside: limits.batchItemsOfOneBesideOnCluster }),
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
