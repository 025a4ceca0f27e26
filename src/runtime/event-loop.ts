const sliceMs = 5

export const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

let turn: Promise<void> = Promise.resolve()

/** For long work on the thread that answers requests. All of it shares the turns: one slice runs in each turn. */
export function yielder(): () => Promise<void> {
  let since = Number.NEGATIVE_INFINITY
  return async () => {
    if (performance.now() - since < sliceMs) return
    turn = turn.then(nextTurn)
    await turn
    since = performance.now()
  }
}

/** Resolves with `otherwise` if it fails or takes too long. */
export function inTime<Value>(asked: Promise<Value>, otherwise: Value, timeoutMs: number): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<Value>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, otherwise)
  })
  return Promise.race([asked, late])
    .catch(() => otherwise)
    .finally(() => clearTimeout(timer))
}
