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
