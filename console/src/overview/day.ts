export interface Minute {
  time: string
  creates: number
  refusals: number
}

const minuteMs = 60_000
export const minutesOfDay = 1440

export interface Day {
  /** When it begins, as if the service's time were UTC. */
  start: number
  creates: number[]
  refusals: number[]
}

/** The day that ends with the last minute that is listed; minutes that are not listed had none. */
export function dayOf(minutes: readonly Minute[]): Day {
  const at = (time: string) => Date.parse(`${time.replace(' ', 'T')}Z`)
  const start = at(minutes.at(-1)?.time ?? '') + minuteMs - minutesOfDay * minuteMs
  const none = () => new Array<number>(minutesOfDay).fill(0)
  const day: Day = { start, creates: none(), refusals: none() }
  for (const { time, creates, refusals } of minutes) {
    const index = (at(time) - start) / minuteMs
    if (index < 0) continue
    day.creates[index] = creates
    day.refusals[index] = refusals
  }
  return day
}

/** How it is now, `index` minutes after a day's beginning. */
export function clockAt({ start }: Day, index: number): string {
  return new Date(start + index * minuteMs).toISOString().slice(11, 16)
}

/** The minutes of a day's full hours that a label stands at, every so many hours. */
export function hoursOf(day: Day, every: number): number[] {
  const firstHour = Math.ceil(day.start / (every * 60 * minuteMs)) * every * 60 * minuteMs
  const first = (firstHour - day.start) / minuteMs
  return Array.from({ length: 24 / every }, (_, step) => first + step * every * 60).filter((at) => at < minutesOfDay)
}

/** Fewer are shown as they are: among them none is usual. */
const fewMinutes = 20

/** What an axis must reach: the highest, unless a few minutes stand so far above all others that these would be flat. */
function reachOf(values: readonly number[]): number {
  const sorted = values.filter((value) => value > 0).toSorted((a, b) => a - b)
  const highest = sorted.at(-1) ?? 0
  const usual = sorted[Math.floor(sorted.length * 0.98)] ?? 0
  return sorted.length < fewMinutes || highest <= usual * 3 ? highest : usual * 1.25
}

/** The lines of an axis from zero up, at round numbers; the last is its top. */
export function axisOf(values: readonly number[], lines: number): number[] {
  const reach = Math.max(reachOf(values), 1)
  const power = 10 ** Math.floor(Math.log10(reach / lines))
  const step = Math.max(1, ([1, 2, 5, 10].find((round) => round * power * lines >= reach) ?? 10) * power)
  return Array.from({ length: Math.ceil(reach / step) + 1 }, (_, line) => line * step)
}

/** Two that are nearer have one mark. */
const markWidth = 60

/** The minutes beyond the axis's top, of those that lie close together the highest. */
export function spikesOf(values: readonly number[], top: number): { index: number; value: number }[] {
  const marks: { index: number; value: number }[] = []
  for (const [index, value] of values.entries()) {
    if (value <= top) continue
    const last = marks.at(-1)
    if (last === undefined || index - last.index > markWidth) marks.push({ index, value })
    else if (value > last.value) Object.assign(last, { index, value })
  }
  return marks
}

/** A bar for each minute that has any, in a picture of 1440 by 100. */
export function barsOf(values: readonly number[], top: number): string {
  return values
    .map((value, index) =>
      value === 0 ? '' : `M${index} 100V${(100 - Math.min(value / top, 1) * 100).toFixed(1)}h1V100`,
    )
    .join('')
}
