import { type Cluster, startCluster } from './cluster.ts'
import { requireWrk } from './load.ts'
import { describeMachine } from './machine.ts'
import { type Options, readOptions } from './options.ts'

/** What a benchmark gets to work with. Everything that it starts is stopped at its end, also after a failure. */
export interface Bench {
  cluster: Cluster
  options: Options
  /**
   * Stops the started part at the end, before the parts that were started earlier; also if it is still starting by
   * then.
   */
  keep<Started extends { stop(): unknown }>(starting: Promise<Started>): Promise<Started>
}

/** Prints the machine and runs a benchmark on a fresh database. Ends the process. */
export async function runBench(bench: (bench: Bench) => Promise<void>): Promise<never> {
  const kept: Promise<{ stop(): unknown }>[] = []
  const stopInOrder = async () => {
    for (const starting of kept.toReversed()) await starting.then((started) => started.stop()).catch(() => {})
  }
  let stopping: Promise<void> | undefined
  const stopAll = () => {
    stopping ??= stopInOrder()
    return stopping
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => void stopAll().then(() => process.exit(1)))
  }
  const keep: Bench['keep'] = (starting) => {
    kept.push(starting)
    return starting
  }
  let exitCode = 0
  try {
    const options = readOptions()
    requireWrk()
    const cluster = await keep(startCluster())
    process.stdout.write(`${await describeMachine(cluster, options)}\n\n`)
    await bench({ cluster, options, keep })
  } catch (error) {
    // A failure while everything is being stopped is not reported.
    if (stopping === undefined) process.stderr.write(`${(error as Error).message}\n`)
    exitCode = 1
  }
  await stopAll()
  process.exit(exitCode)
}
