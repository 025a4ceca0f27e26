/** `keptDays` is null if rows are kept for ever. */
interface KeptTable {
  bytes: number
  keptDays: number | null
}

export interface Known {
  bytes: number
  bytesPerDay: number
  tables: readonly KeptTable[]
  ageDays: number
}

const forecastDays = 365

/** A table with a retention grows until its oldest rows reach it, and then no more; others as in the last week. */
function growthOf({ bytes, bytesPerDay, tables, ageDays }: Known): (days: number) => number {
  const growing = tables.flatMap(({ bytes: held, keptDays }) => {
    const remainingDays = keptDays === null ? 0 : keptDays - ageDays
    return remainingDays > 0 ? [{ remainingDays, perDay: held / Math.max(1, ageDays) }] : []
  })
  const ofHistory = growing.reduce((sum, { perDay }) => sum + perDay, 0)
  const perDay = Math.max(0, bytesPerDay)
  // If the last week was quieter, history is assumed to grow no faster than the whole database.
  const share = ofHistory > perDay ? perDay / ofHistory : 1
  const rest = perDay - ofHistory * share
  return (days) =>
    bytes +
    rest * days +
    growing.reduce((sum, table) => sum + table.perDay * share * Math.min(days, table.remainingDays), 0)
}

export function forecastYear(known: Known): { days: number; bytes: number }[] {
  const bytesAfter = growthOf(known)
  return Array.from({ length: 12 }, (_, month) => {
    const days = Math.round(((month + 1) / 12) * forecastDays)
    return { days, bytes: Math.round(bytesAfter(days)) }
  })
}

/** Null if the disk is large enough for the year. */
export function daysUntilFull(known: Known, freeBytes: number): number | null {
  const bytesAfter = growthOf(known)
  for (let days = 1; days <= forecastDays; days++) if (bytesAfter(days) - known.bytes > freeBytes) return days
  return null
}
