/** The rule that a site gets in a field. */
export interface SiteRule {
  siteId: number
  /** 1 fast, 2 slow, 3 occupancy, as the types of rules. */
  field: number
  ruleId: number | null
}

/** A moment at the beginning of its second. */
export const wholeSecond = (moment: Date) => new Date(Math.floor(moment.getTime() / 1000) * 1000)

/** Finds the period in force at a time of day, HH:mm:ss, among periods in ascending order. */
export const periodAt = <Period extends { startTime: string }>(
  periods: readonly Period[] | null,
  timeOfDay: string,
): Period | null => periods?.findLast(({ startTime }) => startTime <= timeOfDay) ?? null
