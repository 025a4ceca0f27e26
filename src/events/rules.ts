/** The kinds of events that types tell of: what stands before their dots. */
const kindsOf = (types: readonly string[]) => [...new Set(types.flatMap((type) => /^(\w+)\./.exec(type)?.[1] ?? []))]

/** All that a filter of types may name: each type, and with `device.*` all of a kind. */
export const typeNames = (types: readonly string[]) => [...types, ...kindsOf(types).map((kind) => `${kind}.*`)]

/** The types that a filter means; null where none is given. */
export function readTypes(filter: string | null | undefined, types: readonly string[]): string[] | null {
  if (!filter) return null
  const named = filter.split(',')
  return types.filter((type) => named.includes(type) || named.includes(type.replace(/\..*/, '.*')))
}

/** Who did something: the name that they had then, and their id, which no renaming moves. */
export interface Actor {
  actor: string
  actorId: number | null
}

/**
 * Reads an actor as the log keeps it (`actorOf`): an account's or a key's id stands behind its name, in the one text
 * that every write path carries anyway.
 */
export function readActor(kept: string): Actor {
  const [, actor, id] = /^(operator(?:Key)?:.+)#(\d+)$/u.exec(kept) ?? []
  return actor === undefined ? { actor: kept, actorId: null } : { actor, actorId: Number(id) }
}
