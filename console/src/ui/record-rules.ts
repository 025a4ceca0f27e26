// What every form of a record does with values: what was changed, what two changed at once, where faults belong, and how
// long an idempotency key lasts.

type Values = object
type Key<Of> = keyof Of & string

/** Values as they are compared: nothing, in whatever way it is said, is one; `key` only tells the rows of a list apart. */
function comparable(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  return JSON.stringify(value, (name, part) => (name === 'key' ? undefined : part))
}

/** The members that differ, in the order of the earlier. */
export function changedMembers<Of extends Values>(before: Of, after: Of): Key<Of>[] {
  return (Object.keys(before) as Key<Of>[]).filter((name) => comparable(before[name]) !== comparable(after[name]))
}

/** Some of the members. */
export function pick<Of extends Values>(values: Of, names: readonly Key<Of>[]): Partial<Of> {
  return Object.fromEntries(names.map((name) => [name, values[name]])) as Partial<Of>
}

/** The members that both changed since `before`, and not to the same. */
export function conflictsOf<Of extends Values>(before: Of, mine: Of, theirs: Of): Key<Of>[] {
  const [changedByMe, unlike] = [changedMembers(before, mine), changedMembers(mine, theirs)]
  return changedMembers(before, theirs).filter((name) => changedByMe.includes(name) && unlike.includes(name))
}

/** Theirs, with what only I changed; what both changed is as who `wins` has it. */
export function merged<Of extends Values>(before: Of, mine: Of, theirs: Of, wins: 'mine' | 'theirs'): Of {
  const theirOwn = wins === 'theirs' ? conflictsOf(before, mine, theirs) : []
  const kept = changedMembers(before, mine).filter((name) => !theirOwn.includes(name))
  return { ...theirs, ...pick(mine, kept) }
}

/** The field of a form at which a fault is shown: one of a list's members is shown at the list. */
export function fieldOf(path: string): string[] {
  return path.replace(/(\[|\.\d).*$/, '').split('.')
}

/** The fields that a form says were changed, which it tells nested. */
export function fieldsOf(changed: object): string[][] {
  return Object.entries(changed).flatMap(([name, value]) => {
    const isGroup = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    return isGroup ? fieldsOf(value).map((rest) => [name, ...rest]) : [[name]]
  })
}

/**
 * The idempotency keys of one form: one key for all attempts at the same record, so that a lost answer makes nothing
 * twice; another once a record is made, or when the key turns out to stand for something else that was sent before.
 */
export function attemptKeys(make: () => Record<string, string>) {
  let key: Record<string, string> | undefined
  return {
    current(): Record<string, string> {
      key ??= make()
      return key
    },
    /** Told how each attempt ended: by the code of its refusal, or well. */
    ended(code?: number): void {
      if (code === undefined || code === 10008) key = undefined
    },
  }
}
