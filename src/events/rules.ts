const kindsOf = (types: readonly string[]) => [...new Set(types.flatMap((type) => /^(\w+)\./.exec(type)?.[1] ?? []))]

export const typeNames = (types: readonly string[]) => [...types, ...kindsOf(types).map((kind) => `${kind}.*`)]

/** Returns the types that a filter names; null without one. */
export function readTypes(filter: string | null | undefined, types: readonly string[]): string[] | null {
  if (!filter) return null
  const named = filter.split(',')
  return types.filter((type) => named.includes(type) || named.includes(type.replace(/\..*/, '.*')))
}

/** A renaming does not change the ID. */
export interface Actor {
  actor: string
  actorId: number | null
}

/** Reads an actor as stored (`actorOf`): the ID of an account or key follows its name. */
export function readActor(stored: string): Actor {
  const [, actor, id] = /^(operator(?:Key)?:.+)#(\d+)$/u.exec(stored) ?? []
  return actor === undefined ? { actor: stored, actorId: null } : { actor, actorId: Number(id) }
}
