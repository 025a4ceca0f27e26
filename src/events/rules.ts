/** The kinds of event types: the part before the dot. */
const kindsOf = (types: readonly string[]) => [...new Set(types.flatMap((type) => /^(\w+)\./.exec(type)?.[1] ?? []))]

/** The names that a filter of types may hold: each type, and `device.*` for all types of a kind. */
export const typeNames = (types: readonly string[]) => [...types, ...kindsOf(types).map((kind) => `${kind}.*`)]

/** The types that a filter names; null without a filter. */
export function readTypes(filter: string | null | undefined, types: readonly string[]): string[] | null {
  if (!filter) return null
  const named = filter.split(',')
  return types.filter((type) => named.includes(type) || named.includes(type.replace(/\..*/, '.*')))
}

/** The actor of an event: the name at that time, and the id, which a renaming does not change. */
export interface Actor {
  actor: string
  actorId: number | null
}

/**
 * Reads an actor as the log stores it (`actorOf`): one text, in which the id of an account or a key follows its name,
 * because every write path passes that text anyway.
 */
export function readActor(stored: string): Actor {
  const [, actor, id] = /^(operator(?:Key)?:.+)#(\d+)$/u.exec(stored) ?? []
  return actor === undefined ? { actor: stored, actorId: null } : { actor, actorId: Number(id) }
}
