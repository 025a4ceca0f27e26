import type { Logger } from 'pino'

/** A supervisor kills what does not end within 10 s; the next start then takes over the running database. */
const stopWithinMs = 9_500

/** Each part that was started is stopped once, in reverse order, for every reason of the end. */
export class Lifetime {
  private readonly stops: (() => unknown)[] = []
  private readonly ending = new AbortController()
  private starting: Promise<void> = Promise.resolve()
  private stopping: Promise<void> | undefined

  /** Aborted also during the start. */
  get stopSignal(): AbortSignal {
    return this.ending.signal
  }

  onStop(stop: () => unknown): void {
    this.stops.push(stop)
  }

  /** Ends the process with 0 at one of these signals, and with 1 if the start fails (`explain` words it). */
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

  /** After an uncaught exception the state is unknown: the process ends. A rejection is one failed piece of work. */
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

  /** The newest first. Waits for parts that are still starting. */
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
