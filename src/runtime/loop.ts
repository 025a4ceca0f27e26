const failedMs = 1_000

/** Rounds of work, with a rest after each. `wake` announces work of this process; a round finds that of others by itself. */
export class Loop {
  private isEnding = false
  private isWoken = false
  private readonly round: () => Promise<number>
  private running: Promise<unknown> = Promise.resolve()
  private readonly ends = new Map<() => void, { isWakeable: boolean }>()

  /** The round handles its own failures, and returns the rest before the next one, in ms. */
  constructor(round: () => Promise<number>) {
    this.round = round
  }

  get isStopping(): boolean {
    return this.isEnding
  }

  /** Starts so many loops side by side. The process may end meanwhile. */
  start({ afterMs = 0, times = 1 } = {}): void {
    this.running = Promise.all(Array.from({ length: times }, () => this.run(afterMs)))
  }

  /** Resolves when the rounds under way have ended; no other begins. */
  async stop(): Promise<void> {
    this.isEnding = true
    for (const end of this.ends.keys()) end()
    await this.running
  }

  /** Only a stop ends a rest that is not wakeable. */
  rest(milliseconds: number, isWakeable = true): Promise<void> {
    if (this.isStopping || milliseconds <= 0 || (isWakeable && this.isWoken)) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.ends.delete(end)
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      timer.unref()
      this.ends.set(end, { isWakeable })
    })
  }

  /** Ends the rest, or during a round the next one. */
  wake(): void {
    this.isWoken = true
    for (const [end, { isWakeable }] of this.ends) if (isWakeable) end()
  }

  private async run(afterMs: number): Promise<void> {
    await this.rest(afterMs)
    while (!this.isStopping) {
      this.isWoken = false
      await this.rest(await this.round().catch(goOn))
    }
  }
}

/** A failure that the round has not handled is logged as an unhandled rejection. */
function goOn(error: unknown): number {
  void Promise.reject(error)
  return failedMs
}

export type Rounds = Pick<Loop, 'stop'>

/** Begins a round every so often, or after a longer one at the next of these times. A round handles its own failures. */
export function startRounds(round: () => unknown, everyMs: number): Rounds {
  const loop = new Loop(async () => {
    const beganAt = performance.now()
    await round()
    return everyMs - ((performance.now() - beganAt) % everyMs)
  })
  loop.start({ afterMs: everyMs })
  return loop
}
