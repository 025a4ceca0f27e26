// Rules for the values of record forms: changed members, conflicts of two changes, the fields of faults, and the
// lifetime of an idempotency key.

type Values = object
type Key<Of> = keyof Of & string

/** A value as text to compare: null, undefined and '' are equal; `key`, which only identifies rows, is left out. */
function comparable(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  return JSON.stringify(value, (name, part) => (name === 'key' ? undefined : part))
}

/** The names of members that differ, in the order of `before`. */
export function changedMembers<Of extends Values>(before: Of, after: Of): Key<Of>[] {
  return (Object.keys(before) as Key<Of>[]).filter((name) => comparable(before[name]) !== comparable(after[name]))
}

/** Some members of an object. */
export function pick<Of extends Values>(values: Of, names: readonly Key<Of>[]): Partial<Of> {
  return Object.fromEntries(names.map((name) => [name, values[name]])) as Partial<Of>
}

/** The names of members that both sides have changed since `before`, to different values. */
export function conflictsOf<Of extends Values>(before: Of, mine: Of, theirs: Of): Key<Of>[] {
  const [changedByMe, unlike] = [changedMembers(before, mine), changedMembers(mine, theirs)]
  return changedMembers(before, theirs).filter((name) => changedByMe.includes(name) && unlike.includes(name))
}

/** Merges my changes into theirs; for members that both changed, the value of the side that `wins`. */
export function merged<Of extends Values>(before: Of, mine: Of, theirs: Of, wins: 'mine' | 'theirs'): Of {
  const theirOwn = wins === 'theirs' ? conflictsOf(before, mine, theirs) : []
  const kept = changedMembers(before, mine).filter((name) => !theirOwn.includes(name))
  return { ...theirs, ...pick(mine, kept) }
}

/** The form field at which a fault is shown: a fault within a list is shown at the list. */
export function fieldOf(path: string): string[] {
  return path.replace(/(\[|\.\d).*$/, '').split('.')
}

/** The names of changed fields, from the nested object that a form reports. */
export function fieldsOf(changed: object): string[][] {
  return Object.entries(changed).flatMap(([name, value]) => {
    const isGroup = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
    return isGroup ? fieldsOf(value).map((rest) => [name, ...rest]) : [[name]]
  })
}

/**
 * The idempotency keys of a form: one key for all attempts at the same record, so that a lost response creates nothing
 * twice; a new one once a record is created, or if the key was already used for another body.
 */
export function attemptKeys(make: () => Record<string, string>) {
  let key: Record<string, string> | undefined
  return {
    current(): Record<string, string> {
      key ??= make()
      return key
    },
    /** Call it after each attempt: with the code of its refusal, or without one after a success. */
    ended(code?: number): void {
      if (code === undefined || code === 10008) key = undefined
    },
  }
}
