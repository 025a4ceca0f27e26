/** One member of a record before and after a change; undefined where the record lacks it. */
export interface Difference {
  member: string
  before: string | undefined
  after: string | undefined
  isChanged: boolean
}

/**
 * Compares two records member by member, nested ones too, in the order of the newer record; members of the older one
 * alone come last.
 */
export function compare(before: unknown, after: unknown): Difference[] {
  const [older, newer] = [new Map(leavesOf(before)), new Map(leavesOf(after))]
  const members = [...new Set([...newer.keys(), ...older.keys()])]
  return members.map((member) => {
    const [was, is] = [older.get(member), newer.get(member)]
    return { member, before: was, after: is, isChanged: was !== is }
  })
}

/**
 * The leaves of a record, each with its path. In a path, a period of a day is named by its start, an item of any other
 * list by its number; a list of plain values is one leaf.
 */
function leavesOf(value: unknown, path = ''): [path: string, text: string][] {
  const parts = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const isList = Array.isArray(value)
  if (parts.length === 0 || (isList && parts.every(([, part]) => typeof part !== 'object'))) {
    return path === '' ? [] : [[path, typeof value === 'string' ? value : JSON.stringify(value)]]
  }
  return parts.flatMap(([name, part]) => {
    const start: unknown = isList && part?.startTime
    const step = typeof start === 'string' ? start : isList ? String(Number(name) + 1) : name
    return leavesOf(part, path === '' ? step : `${path} ${step}`)
  })
}
