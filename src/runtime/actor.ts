/** Background work that comes round by itself. */
export interface Actor {
  /** The actor's name in log lines: `event-pruner`. */
  name: string
  round(): Promise<unknown>
}

/** Rounds that can be stopped: no other begins, and the promise resolves when the one under way has ended. */
export interface Rounds {
  stop(): Promise<void>
}

/** Runs a round every so often, never two at once. A round handles its own failures. The process may end meanwhile. */
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
