// Computes moments as texts in the service's time zone, because the browser's own zone has other midnights.

const dayMs = 86_400_000

const midnight = (day: Date) => `${day.toISOString().slice(0, 10)} 00:00:00`

/** The usual moments for other prices, each the beginning of a day, from the service's time now. */
export function presetMoments(now: string): { tomorrow: string; nextMonday: string; nextMonth: string } {
  const today = new Date(`${now.slice(0, 10)}T00:00:00Z`)
  const after = (days: number) => midnight(new Date(today.getTime() + days * dayMs))
  return {
    tomorrow: after(1),
    nextMonday: after((8 - today.getUTCDay()) % 7 || 7),
    nextMonth: midnight(new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1))),
  }
}

/** A duration in its two greatest units. */
export function lengthOf(ms: number): { days: number; hours: number; minutes: number; seconds: number } {
  const seconds = Math.max(0, Math.ceil(ms / 1_000))
  return {
    days: Math.floor(seconds / 86_400),
    hours: Math.floor(seconds / 3_600) % 24,
    minutes: Math.floor(seconds / 60) % 60,
    seconds: seconds % 60,
  }
}
