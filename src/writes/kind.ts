import { readClock } from '../database/clock.ts'
import type { Statements } from '../database/open.ts'
import { inOneFlight } from '../database/transaction.ts'
import { insertEventTexts, type NewEventText } from '../events/store.ts'
import { Refusal } from '../vocabulary/refusals.ts'

// A kind of write is what all its writes have of their own: what they read, what they decide, what they save. Locks, access,
// idempotency keys, events, and the moment of a write are the same for all kinds, and are here and in `lane.ts`.
//
// A write is decided, under the locks, by what is stored and by the writes before it in its batch. Then all that were not
// refused are saved. A dry run decides in the same way and saves nothing.
//
// Never: a write that is decided by what was read without its lock; a row without its event, or an event without its row.

/** A write of one record: the body of its operation, or of a batch's row. */
export interface Write<Body> {
  /** The application that has the record, or is to have it; null for any. */
  appId: string | null
  body: Body
  actor: string
  ifMatch: string | null
}

/** What a write does to its record. `existing`: all is so already. */
type Outcome = 'created' | 'updated' | 'existing'

/** The answer of a write: the record as JSON text, with its entity tag where the operation shows one. */
export interface Shown {
  record: string
  etag?: string
}

/** A write that can be carried out. */
interface Carried<Row> {
  outcome: Outcome
  shown: Shown
  rows: readonly Row[]
  events: readonly NewEventText[]
}

/** A write that is decided. */
export type Decided<Row> = Carried<Row> | { refusal: Refusal }

/** `again`: what the locks were chosen by has changed, so that the write must be tried again from its beginning. */
export type Decision<Row> = Decided<Row> | { again: true }

/** What a transaction was prepared by has changed: it must be rolled back, and tried again. */
export class TryAgain extends Error {}

export interface WriteKind<Body, Known, Row> {
  /** The applications to lock beside those that the writes name; read without a lock. */
  locksOf?(sql: Statements, writes: readonly Write<Body>[]): Promise<Iterable<string>>
  /** Writes what must be written before. Returns the moment as of which the writes count. Left out in a dry run. */
  settle?(tx: Statements, writes: readonly Write<Body>[]): Promise<Date>
  /** Reads, under the locks of these applications, what the writes are decided by. */
  read(tx: Statements, writes: readonly Write<Body>[], locked: readonly string[]): Promise<Known>
  /** Decides one write, and changes `known` to what the next write finds. Throws the refusal. */
  decide(known: Known, write: Write<Body>, now: Date): Decision<Row>
  /** Saves the rows of a batch, in order, in statements that are sent without waiting for each other. Writes no events. */
  save(tx: Statements, rows: readonly Row[], now: Date): Promise<unknown>
}

/** Decides one write: a refusal that is thrown is its decision. */
export function decideWrite<Body, Known, Row>(
  kind: WriteKind<Body, Known, Row>,
  known: Known,
  write: Write<Body>,
  now: Date,
): Decision<Row> {
  try {
    return kind.decide(known, write, now)
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error }
    throw error
  }
}

/** Saves what was decided, and writes its events. */
export async function saveDecisions<Row>(
  tx: Statements,
  kind: Pick<WriteKind<never, never, Row>, 'save'>,
  decisions: readonly Decision<Row>[],
  now: Date,
): Promise<void> {
  const carried = decisions.flatMap((decision) => ('shown' in decision ? [decision] : []))
  const rows = carried.flatMap((decision) => decision.rows)
  const events = carried.flatMap((decision) => decision.events)
  await inOneFlight([rows.length > 0 && kind.save(tx, rows, now), insertEventTexts(tx, events, now)])
}

/**
 * Carries out writes, in order, in a transaction that holds the locks of these applications; a dry run only decides them.
 * `before` adds to what was read what the dry run would have written before. Returns one decision for each write. Throws
 * `TryAgain`.
 */
export async function carryOut<Body, Known, Row>(
  tx: Statements,
  kind: WriteKind<Body, Known, Row>,
  writes: readonly Write<Body>[],
  locked: readonly string[],
  isDryRun = false,
  before?: (known: Known) => void,
): Promise<Decided<Row>[]> {
  if (writes.length === 0) return []
  const settledAt = isDryRun ? undefined : await kind.settle?.(tx, writes)
  const [clock, known] = await Promise.all([readClock(tx), kind.read(tx, writes, locked)])
  const now = settledAt ?? clock
  before?.(known)
  const decisions = writes.map((write) => {
    const decision = decideWrite(kind, known, write, now)
    if ('again' in decision) throw new TryAgain()
    return decision
  })
  if (!isDryRun) await saveDecisions(tx, kind, decisions, now)
  return decisions
}

/** Runs a function for each application with its own items, in the order of the ids. Returns the results by application. */
export async function ofEachApplication<Item extends { appId: string | null }, Result>(
  items: readonly Item[],
  run: (appId: string, items: Item[]) => Promise<Result>,
): Promise<Map<string, Result>> {
  const own = Map.groupBy(items, ({ appId }) => appId as string)
  const results = [...own].map(async ([appId, its]) => [appId, await run(appId, its)] as const)
  return new Map(await Promise.all(results))
}
