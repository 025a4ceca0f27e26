import type { Metrics } from '../metrics.ts'
import { GroupCommit, type GroupCommitOptions } from './group-commit.ts'

/** Opens a write path's lane of group commit, under a name of its own. */
export type OpenLane = <Item, Outcome>(
  name: string,
  work: Pick<GroupCommitOptions<Item, Outcome>, 'write' | 'claims' | 'atOnce'>,
) => GroupCommit<Item, Outcome>

/** Makes what opens lanes that are alike in everything but their work, and shows each of them to operators. */
export function laneOpener(
  metrics: Metrics,
  limits: { maxWaiting: number; maxWaitMs: number },
  onBatch: (size: number) => void,
): OpenLane {
  return (name, work) => {
    const lane = new GroupCommit({
      ...limits,
      ...work,
      maxBatch: 512,
      onBatch(size) {
        metrics.observeBatch(name, size)
        onBatch(size)
      },
    })
    const help = `Creates that wait for a batch in the lane ${name}.`
    metrics.gauge(`forecourt_queue_length_${name}`, help, () => lane.queueLength)
    return lane
  }
}
