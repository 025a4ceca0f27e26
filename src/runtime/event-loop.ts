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
  const late = new Promise<Value>((resolve) => setTimeout(resolve, timeoutMs, otherwise))
  return Promise.race([asked, late]).catch(() => otherwise)
}

/** Callers share one run while it is under way and for `heldMs` after its end. */
export function shared<Value>(run: () => Promise<Value>, heldMs: number): () => Promise<Value> {
  let last: Promise<Value> | undefined
  return () => {
    last ??= run().finally(() => {
      setTimeout(() => {
        last = undefined
      }, heldMs).unref()
    })
    return last
  }
}
