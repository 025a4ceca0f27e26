/** One member of a record, as it was and as it is; undefined where there is none. */
export interface Difference {
  member: string
  before: string | undefined
  after: string | undefined
  isChanged: boolean
}

/** A value as one reads it: text as it stands, everything else as JSON. */
function show(value: unknown): string | undefined {
  if (value === undefined) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Compares two records member by member, in the order of the newer one; what only the older had comes last. */
export function compare(before: unknown, after: unknown): Difference[] {
  const [older, newer] = [membersOf(before), membersOf(after)]
  const members = [...new Set([...Object.keys(newer), ...Object.keys(older)])]
  return members.map((member) => ({
    member,
    before: show(older[member]),
    after: show(newer[member]),
    isChanged: JSON.stringify(older[member]) !== JSON.stringify(newer[member]),
  }))
}

function membersOf(record: unknown): Record<string, unknown> {
  return typeof record === 'object' && record !== null ? (record as Record<string, unknown>) : {}
}
