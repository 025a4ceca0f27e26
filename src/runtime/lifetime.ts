import type { Logger } from 'pino'

/**
 * A supervisor kills what does not end within 10 s; the next start then takes over the database that is still running.
 */
const stopWithinMs = 9_500

/**
 * A process from its start to its end: each part that it started is stopped once, in reverse order, for every reason of
 * the end.
 */
export class Lifetime {
  private readonly stops: (() => unknown)[] = []
  private readonly ending = new AbortController()
  private starting: Promise<void> = Promise.resolve()
  private stopping: Promise<void> | undefined

  /** Aborted when the process is asked to stop, also during its start. */
  get stopSignal(): AbortSignal {
    return this.ending.signal
  }

  onStop(stop: () => unknown): void {
    this.stops.push(stop)
  }

  /** Runs `start`. Ends the process with 0 at one of these signals, with 1 when the start fails (`explain` words it) */
  async run(
    start: () => Promise<void>,
    signals: readonly NodeJS.Signals[],
    explain: (error: unknown) => unknown,
  ): Promise<void> {
    for (const signal of signals) process.on(signal, () => void this.endWithin(0))
    try {
      this.starting = start()
      await this.starting
    } catch (error) {
      if (this.stopping !== undefined) return
      await explain(error)
      await this.endWithin(1)
    }
  }

  /**
   * An uncaught exception leaves the process in an unknown state, so it ends and its supervisor starts it again. An
   * unhandled rejection is one piece of work that failed, and the process continues.
   */
  endAtUncaught(log: Logger): void {
    process.on('unhandledRejection', (error) => {
      log.error({ err: error }, 'unhandled rejection')
    })
    process.on('uncaughtException', (error) => {
      log.fatal({ err: error }, 'uncaught exception: shutting down; the supervisor should restart the service')
      void this.endWithin(1)
    })
  }

  private async endWithin(code: number): Promise<void> {
    setTimeout(() => process.exit(1), stopWithinMs).unref()
    await this.stop()
    process.exit(code)
  }

  /** Stops everything that was started, the newest first, and waits for parts that are still starting. */
  private stop(): Promise<void> {
    this.ending.abort()
    this.stopping ??= (async () => {
      await this.starting.catch(() => {})
      for (const stopOne of this.stops.toReversed()) {
        try {
          await stopOne()
        } catch {
          // A part that cannot be stopped does not keep the others running.
        }
      }
    })()
    return this.stopping
  }
}
