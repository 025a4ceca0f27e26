export interface SiteRule {
  siteId: number
  /** It is 1 for fast, 2 for slow, 3 for occupancy. */
  field: number
  ruleId: number | null
}

export const wholeSecond = (moment: Date) => new Date(Math.floor(moment.getTime() / 1000) * 1000)

/** Returns the period at a time of day (HH:mm:ss), from periods in ascending order. */
export const periodAt = <Period extends { startTime: string }>(
  periods: readonly Period[] | null,
  timeOfDay: string,
): Period | null => periods?.findLast(({ startTime }) => startTime <= timeOfDay) ?? null
