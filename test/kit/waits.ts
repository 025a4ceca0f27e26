import { isDeepStrictEqual } from 'node:util'

export function sleep(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds))
}

/** Waits until a moment of the machine's clock, if that is not past. */
export function sleepUntil(moment: number): Promise<void> {
  return sleep(Math.max(0, moment - Date.now()))
}

/**
 * Waits for a random time, because what follows may happen at any moment. Returns how many milliseconds it has waited.
 */
export async function anyMoment(random: () => number, withinMs: number, notBeforeMs = 0): Promise<number> {
  const waitedMs = notBeforeMs + random() * withinMs
  await sleep(waitedMs)
  return waitedMs
}

/** Stops a process for some time, as a machine does that has no time for it; `send` sends it a signal. */
export async function standStill(send: (name: 'SIGSTOP' | 'SIGCONT') => unknown, milliseconds: number): Promise<void> {
  send('SIGSTOP')
  await sleep(milliseconds)
  send('SIGCONT')
}

/**
 * Does something again and again until it is stopped, in several loops at once. The pause leaves processor time to what
 * is tested.
 */
export function load(
  act: (loop: number) => Promise<unknown>,
  { loops = 1, pauseMs = 0 } = {},
): { stop(): Promise<void> } {
  let isRunning = true
  const all = Array.from({ length: loops }, async (_, loop) => {
    while (isRunning) {
      await act(loop)
      if (pauseMs > 0) await sleep(pauseMs)
    }
  })
  return {
    async stop() {
      isRunning = false
      await Promise.all(all)
    },
  }
}

/**
 * Calls `look` until it returns true, with growing pauses. Returns false if that takes longer than `withinMs`; the
 * default is long, for conditions without a promised time.
 */
export async function becomesTrue(look: () => boolean | Promise<boolean>, withinMs = 60_000): Promise<boolean> {
  const began = performance.now()
  while (!(await look())) {
    const waited = performance.now() - began
    if (waited > withinMs) return false
    await sleep(Math.min(200, 10 + waited / 20))
  }
  return true
}

/** As `becomesTrue`; throws where that would return false. */
export async function waitUntil(look: () => boolean | Promise<boolean>, withinMs?: number): Promise<void> {
  if (!(await becomesTrue(look, withinMs))) throw new Error(`never came true: ${look}`)
}

/** As `becomesTrue`, for a value that becomes the wanted one. Returns the last value, for the test to compare. */
export async function becomes<Value>(
  wanted: Value,
  read: () => Value | Promise<Value>,
  withinMs?: number,
): Promise<Value | undefined> {
  let last: Value | undefined
  await becomesTrue(async () => {
    last = await read()
    return isDeepStrictEqual(last, wanted)
  }, withinMs)
  return last
}

/**
 * Whether a condition holds for the whole time. For an event that must not happen, when no later signal shows that it
 * can no longer happen.
 */
export async function staysTrue(look: () => boolean | Promise<boolean>, forMs: number): Promise<boolean> {
  const end = performance.now() + forMs
  while (await look()) {
    if (performance.now() > end) return true
    await sleep(20)
  }
  return false
}
