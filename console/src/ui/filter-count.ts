/** Of what one filter sets several members. */
const together = [
  ['provinceCode', 'cityCode', 'districtCode'],
  ['timeFrom', 'timeTo'],
]

/** How many filters are set, by their values in the address: a range of time is one, and so is a division. */
export function countFilters(values: Record<string, string>): number {
  const isSet = Object.keys(values).filter((name) => values[name] !== '')
  return new Set(isSet.map((name) => together.find((names) => names.includes(name))?.[0] ?? name)).size
}
