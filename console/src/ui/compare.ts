/** One member of a record, as it was and as it is; undefined where there is none. */
export interface Difference {
  member: string
  before: string | undefined
  after: string | undefined
  isChanged: boolean
}

/**
 * Compares two records member by member, those of their parts too, in the order of the newer one; what only the older
 * had comes last.
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
 * What a record says at last, each by its path. The parts of a day are told apart by when they begin, those of other
 * lists by their numbers; a list of plain values is one value.
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
