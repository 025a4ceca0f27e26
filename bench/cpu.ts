import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts processor time for /proc in hundredths of a second, whatever the kernel's own clock is. */
const microsecondsPerTick = 10_000

interface Times {
  parent: number
  own: number
  /** The time of children that have ended and were waited for. */
  ended: number
}

/** Processor time that a process and its threads have used, in microseconds. */
export function processCpu(pid: number): number {
  const times = readTimes(pid)
  if (times === undefined) throw new Error(`process ${pid} has ended`)
  return times.own
}

/**
 * As `processCpu`, to the microsecond, for spans of milliseconds. Threads that have ended are not in it.
 */
export function threadsCpu(pid: number): number {
  let sum = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0])
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum / 1000
}

/** Processor time of a PostgreSQL server: the postmaster, its live children and those that have ended. */
export function databaseCpu(postmaster: number): number {
  let sum = 0
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    const times = pid > 0 ? readTimes(pid) : undefined
    if (pid === postmaster) sum += (times?.own ?? 0) + (times?.ended ?? 0)
    else if (times?.parent === postmaster) sum += times.own
  }
  return sum
}

function readTimes(pid: number): Times | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The second field, the program's name, may itself hold spaces and parentheses.
  const fields = stat
    .slice(stat.lastIndexOf(') ') + 2)
    .split(' ')
    .map(Number)
  const [parent = 0, utime = 0, stime = 0, cutime = 0, cstime = 0] = [1, 11, 12, 13, 14].map((at) => fields[at])
  return { parent, own: (utime + stime) * microsecondsPerTick, ended: (cutime + cstime) * microsecondsPerTick }
}

/** Idle time of all processors of the machine together, in microseconds. */
export function idleCpu(): number {
  const [, , , , idle = 0, waiting = 0] = (readFileSync('/proc/stat', 'utf8').split('\n', 1)[0] ?? '')
    .split(/\s+/)
    .map(Number)
  return (idle + waiting) * microsecondsPerTick
}

/** Resident memory of a process in megabytes: now, and the most since it started. */
export function residentMegabytes(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}
