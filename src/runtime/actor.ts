/** Background work that comes round by itself. */
export interface Actor {
  /** The actor's name in log lines: `event-pruner`. */
  name: string
  round(): Promise<unknown>
}

/** Runs a round every so often, never two at once. A round handles its own failures. */
export function startRounds(round: () => Promise<unknown>, everyMs: number): { stop(): void } {
  let isRunning = false
  const run = async () => {
    if (isRunning) return
    isRunning = true
    await round()
    isRunning = false
  }
  const timer = setInterval(() => void run(), everyMs)
  timer.unref()
  return { stop: () => clearInterval(timer) }
}
