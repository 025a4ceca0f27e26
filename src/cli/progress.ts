import type { Context } from './context.ts'

const width = 30
const drawEveryMs = 100

export function progressBar({ isWatched, stderr }: Context): (step: string, done: number, total: number) => void {
  let drawnAt = Number.NEGATIVE_INFINITY
  return (step, done, total) => {
    const now = performance.now()
    const isDone = done >= total
    if (!isWatched || (!isDone && now - drawnAt < drawEveryMs)) return
    drawnAt = now
    const share = total === 0 ? 1 : done / total
    const filled = Math.round(share * width)
    const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)}`
    stderr.write(isDone ? '\r\x1b[K' : `\r\x1b[K${step.padEnd(9)} ${bar} ${Math.floor(share * 100)} %`)
  }
}
