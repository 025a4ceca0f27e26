export interface Actor {
  /** The name in log lines, such as `event-pruner`. */
  name: string
  round(): Promise<unknown>
}

/** Resolves when the round under way has ended; no other begins. */
export interface Rounds {
  stop(): Promise<void>
}

/** Never two rounds at once. A round handles its own failures. The process may end meanwhile. */
export function startRounds(round: () => unknown, everyMs: number): Rounds {
  let running: Promise<void> | undefined
  const run = async () => {
    await round()
    running = undefined
  }
  const timer = setInterval(() => {
    running ??= run()
  }, everyMs)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
