/** Between two searches for work. `wake` ends a rest for work of this process; the next search finds that of others. */
export class Rests {
  private readonly ends = new Map<() => void, { isWakeable: boolean }>()
  private isStopped = false

  /** Only a stop ends a rest that is not wakeable. */
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

  wake(): void {
    for (const [end, { isWakeable }] of this.ends) if (isWakeable) end()
  }

  stop(): void {
    this.isStopped = true
    for (const end of this.ends.keys()) end()
  }
}
