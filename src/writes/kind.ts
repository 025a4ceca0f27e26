import { readClock } from '../database/clock.ts'
import type { Statements } from '../database/open.ts'
import { inOneFlight } from '../database/transaction.ts'
import { insertEventTexts, type NewEventText } from '../events/store.ts'
import { faultKind } from '../vocabulary/faults.ts'
import { groupBy } from '../vocabulary/group-by.ts'
import { Refusal } from '../vocabulary/refusals.ts'

// A kind of write is what its writes read, decide and save; `lane.ts` and this file add locks, access, keys and events.
// A write is decided, under the locks, by what is stored and by earlier writes of its batch. Then all that were not
// refused are saved. A dry run saves nothing.

export interface Write<Body> {
  /** The application that has or gets the record; null for any. */
  appId: string | null
  body: Body
  actor: string
  ifMatch: string | null
}

/** `existing` means that nothing changes. */
type Outcome = 'created' | 'updated' | 'existing'

/** The record as JSON, with its entity tag if the operation shows one. */
export interface Shown {
  record: string
  etag?: string
}

interface Carried<Row> {
  outcome: Outcome
  shown: Shown
  rows: readonly Row[]
  events: readonly NewEventText[]
}

export type Decided<Row> = Carried<Row> | { refusal: Refusal }

/** `again`: what the locks were chosen by has changed, so the write starts over. */
export type Decision<Row> = Decided<Row> | { again: true }

/** What the transaction was prepared by has changed, so it is rolled back and retried. */
export const tryAgain = faultKind('tryAgain')

export interface WriteKind<Body, Known, Row> {
  /** Returns the applications to lock besides those that the writes name, read without a lock. */
  locksOf?(sql: Statements, writes: readonly Write<Body>[]): Promise<Iterable<string>>
  /** Writes what must come before. Returns the time as of which the writes count. A dry run leaves it out. */
  settle?(tx: Statements, writes: readonly Write<Body>[]): Promise<Date>
  /** Reads, under the locks, what the writes are decided by. */
  read(tx: Statements, writes: readonly Write<Body>[], locked: readonly string[]): Promise<Known>
  /** Decides one write and updates `known` for the next. Throws refusals. */
  decide(known: Known, write: Write<Body>, now: Date): Decision<Row>
  /** Saves a batch's rows in order, in statements that are sent together. Writes no events. */
  save(tx: Statements, rows: readonly Row[], now: Date): Promise<unknown>
}

/** Decides one write; a thrown refusal is its decision. */
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
 * Carries out writes in order, under these applications' locks; a dry run only decides. `before` adds to what was read
 * what an earlier dry run would have written. Returns one decision each. Throws `tryAgain`.
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
    if ('again' in decision) throw tryAgain('a row has changed since it was read')
    return decision
  })
  if (!isDryRun) await saveDecisions(tx, kind, decisions, now)
  return decisions
}

/** Runs a function for each application's items, in the order of the ids. Returns the results by application. */
export async function ofEachApplication<Item extends { appId: string | null }, Result>(
  items: readonly Item[],
  run: (appId: string, items: Item[]) => Promise<Result>,
): Promise<Map<string, Result>> {
  const own = groupBy(items, ({ appId }) => appId as string)
  const results = [...own].map(async ([appId, its]) => [appId, await run(appId, its)] as const)
  return new Map(await Promise.all(results))
}
