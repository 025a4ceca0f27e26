/** Parameters that one filter sets together. */
const together = [
  ['provinceCode', 'cityCode', 'districtCode'],
  ['timeFrom', 'timeTo'],
]

/** Counts the filters set in the address: a time range counts as one, and so does a division. */
export function countFilters(values: Record<string, string>): number {
  const isSet = Object.keys(values).filter((name) => values[name] !== '')
  return new Set(isSet.map((name) => together.find((names) => names.includes(name))?.[0] ?? name)).size
}
