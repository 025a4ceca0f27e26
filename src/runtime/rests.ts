/**
 * Lets a background loop sleep between two searches for work. New work of this process ends the sleep (`wake`); work that
 * another process has stored is found by the next search.
 */
export class Rests {
  private readonly ends = new Map<() => void, { isWakeable: boolean }>()
  private isStopped = false

  /** Resolves after `milliseconds`, or as soon as the loop is woken or stopped. Only a stop ends a rest that is not wakeable. */
  rest(milliseconds: number, isWakeable = true): Promise<void> {
    if (this.isStopped) return Promise.resolve()
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.ends.delete(end)
        resolve()
      }
      const timer = setTimeout(end, milliseconds)
      this.ends.set(end, { isWakeable })
    })
  }

  /** Ends the wakeable rests: there is work. */
  wake(): void {
    for (const [end, { isWakeable }] of this.ends) if (isWakeable) end()
  }

  /** Ends all rests, and every later one at once. */
  stop(): void {
    this.isStopped = true
    for (const end of this.ends.keys()) end()
  }
}
