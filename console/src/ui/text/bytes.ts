const units = ['kB', 'MB', 'GB', 'TB']

/** A size for people: 1,500,000 is 1.5 MB. */
export function inBytes(bytes: number): string {
  let value = bytes / 1000
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`
}
