export interface TurnLimits {
  atOnce: number
  waiting: number
}

/** Runs at most `atOnce` pieces of work at once. The others wait in order, and past `waiting` of them `full` is thrown. */
export function inTurns({ atOnce, waiting: most }: TurnLimits, full: () => Error) {
  let running = 0
  const waiting: (() => void)[] = []
  return async <Answer>(run: () => Promise<Answer>): Promise<Answer> => {
    if (running < atOnce) running++
    else {
      if (waiting.length >= most) throw full()
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    try {
      return await run()
    } finally {
      // The next in line takes over this place, so that a new one cannot overtake it.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
