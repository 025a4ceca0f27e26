export interface Minute {
  time: string
  /** Of devices and of sites. */
  creates: number
  siteCreates: number
  refusals: number
}

export interface Sample {
  time: string
  devicesOnline: number
}

const minuteMs = 60_000
/** A sample is valid for this many minutes, unless another one follows. */
const sampleMinutes = 15
export const minutesOfDay = 1440

export interface Day {
  /** The start of the day, in milliseconds, as if the service's time zone were UTC. */
  start: number
  devices: number[]
  sites: number[]
  refusals: number[]
  /** The number of online devices; zero for a time without a count. */
  online: number[]
}

/** The 24 hours that end with the last minute that is known; unlisted minutes count as zero. */
export function dayOf(minutes: readonly Minute[], samples: readonly Sample[] = []): Day {
  const at = (time: string | undefined) => (time === undefined ? 0 : Date.parse(`${time.replace(' ', 'T')}Z`))
  const last = Math.max(at(minutes.at(-1)?.time), at(samples.at(-1)?.time))
  const start = last + minuteMs - minutesOfDay * minuteMs
  const none = () => new Array<number>(minutesOfDay).fill(0)
  const day: Day = { start, devices: none(), sites: none(), refusals: none(), online: none() }
  const indexOf = (time: string) => (at(time) - start) / minuteMs
  for (const { time, creates, siteCreates, refusals } of minutes) {
    const index = indexOf(time)
    if (index < 0) continue
    day.devices[index] = creates - siteCreates
    day.sites[index] = siteCreates
    day.refusals[index] = refusals
  }
  for (const { time, devicesOnline } of samples) {
    const index = indexOf(time)
    day.online.fill(devicesOnline, Math.max(0, index), Math.max(0, index + sampleMinutes))
  }
  return day
}

export interface Hour {
  /** The first minute, and the one after the last. */
  first: number
  end: number
  sum: number
}

/** The hour by the clock that contains a minute; the first and the last hour of the day may be parts. */
export function hourAt({ start }: Pick<Day, 'start'>, minute: number): Omit<Hour, 'sum'> {
  const first = minute - ((start / minuteMs + minute) % 60)
  return { first: Math.max(first, 0), end: Math.min(first + 60, minutesOfDay) }
}

export const sumOf = (values: readonly number[], { first, end }: Omit<Hour, 'sum'>): number =>
  values.slice(first, end).reduce((sum, value) => sum + value, 0)

/** The hours in which something happened. */
export function busyHours(day: Pick<Day, 'start'>, values: readonly number[]): Hour[] {
  const hours: Hour[] = []
  for (let minute = 0; minute < minutesOfDay; minute = hourAt(day, minute).end) {
    const hour = hourAt(day, minute)
    hours.push({ ...hour, sum: sumOf(values, hour) })
  }
  return hours.filter(({ sum }) => sum > 0)
}

/** The minutes of an hour as a time filter takes them: both ends are included. */
export function rangeOf(
  { start }: Pick<Day, 'start'>,
  { first, end }: Omit<Hour, 'sum'>,
): { timeFrom: string; timeTo: string } {
  const at = (ms: number) => new Date(start + ms).toISOString().slice(0, 19).replace('T', ' ')
  return { timeFrom: at(first * minuteMs), timeTo: at(end * minuteMs - 1000) }
}

/** The time of day, as HH:mm, `index` minutes after the start. */
export function clockAt({ start }: Day, index: number): string {
  return new Date(start + index * minuteMs).toISOString().slice(11, 16)
}

/** The minutes at which the axis has labels: full hours, one in `every`. */
export function hoursOf(day: Day, every: number): number[] {
  const firstHour = Math.ceil(day.start / (every * 60 * minuteMs)) * every * 60 * minuteMs
  const first = (firstHour - day.start) / minuteMs
  return Array.from({ length: 24 / every }, (_, step) => first + step * every * 60).filter((at) => at < minutesOfDay)
}

/** With fewer values than this, the axis covers the highest one, because they do not show what is usual. */
const fewMinutes = 8

/** The value that the axis must reach: the highest, unless a few minutes would make all others look flat. */
function reachOf(values: readonly number[]): number {
  const sorted = values.filter((value) => value > 0).toSorted((a, b) => a - b)
  const highest = sorted.at(-1) ?? 0
  const usual = sorted[sorted.length - 1 - Math.max(2, Math.ceil(sorted.length * 0.02))] ?? 0
  return sorted.length < fewMinutes || highest <= usual * 3 ? highest : usual * 1.25
}

/** The lines of an axis from zero up, at round numbers; the last is its top. */
export function axisOf(values: readonly number[], lines: number): number[] {
  const reach = Math.max(reachOf(values), 1)
  const power = 10 ** Math.floor(Math.log10(reach / lines))
  const step = Math.max(1, ([1, 2, 5, 10].find((round) => round * power * lines >= reach) ?? 10) * power)
  return Array.from({ length: Math.ceil(reach / step) + 1 }, (_, line) => line * step)
}

/** Spikes closer than this, in minutes, share one mark. */
const markWidth = 60

/** The minutes beyond the axis's top; of those close together, only the highest. */
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

/** The SVG path of a bar for each minute above zero, in a picture of 1440 by 100. */
export function barsOf(values: readonly number[], top: number): string {
  return values
    .map((value, index) =>
      value === 0 ? '' : `M${index} 100V${(100 - Math.min(value / top, 1) * 100).toFixed(1)}h1V100`,
    )
    .join('')
}
