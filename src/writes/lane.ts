import type { Caller } from '../callers/caller.ts'
import { findRevokedApplications } from '../callers/store.ts'
import { type LaneOutcome, submitter } from '../callers/submitter.ts'
import type { Context } from '../context.ts'
import { takeLock } from '../database/advisory-lock.ts'
import { lockApplication, tryLockApplication, waitForLocks } from '../database/application-lock.ts'
import { readClock } from '../database/clock.ts'
import { findKeptAnswers, type KeptAnswer, keepAnswers, keyName, type RequestKey } from '../database/idempotency.ts'
import type { Statements } from '../database/open.ts'
import type { Pending } from '../database/pending.ts'
import { inOneFlight, transaction } from '../database/transaction.ts'
import { JsonText } from '../http/answer.ts'
import { groupBy } from '../vocabulary/group-by.ts'
import { limits } from '../vocabulary/limits.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { type Decision, decideWrite, type Shown, saveDecisions, type Write, type WriteKind } from './kind.ts'

// Lanes of writes that are decided in this process. Creates of devices and reports have faster ones: a routine per
// batch.

export interface Submission<Body> extends Write<Body> {
  caller: Caller
  /** The key's owner; by default the write's application. */
  keyOwner?: string
  idempotency: RequestKey | undefined
  pending: Pending
}

type Outcome = LaneOutcome<Shown>

interface LaneOptions<Body> {
  name: string
  /** Returns values that no other write of a batch may share. Without them, writes of one record may share a batch. */
  claimsOf?(body: Body): string[]
  /** Called after a batch's commit with the number of its writes. */
  noteWritten?(writes: number): void
}

interface Keyed extends RequestKey {
  owner: string
  name: string
  /** Whether the lock of the write's application guards the key. */
  isGuarded: boolean
}

function keyOf<Body>({ appId, keyOwner, idempotency }: Submission<Body>): Keyed | undefined {
  if (idempotency === undefined) return undefined
  const owner = keyOwner ?? (appId as string)
  return { ...idempotency, owner, name: keyName({ owner, ...idempotency }), isGuarded: owner === appId }
}

/** Opens a lane for a kind of write. Returns its submit function. */
export function writeLane<Body, Known, Row>(
  { sql, openLane, callers }: Pick<Context, 'sql' | 'openLane' | 'callers'>,
  { name, claimsOf = () => [], noteWritten }: LaneOptions<Body>,
  kind: WriteKind<Body, Known, Row>,
): (submission: Submission<Body>) => Promise<Shown> {
  const turn: Turn = { hasWaited: false, lockedAt: 0, endedAt: 0 }
  const lane = openLane<Submission<Body>, Outcome>(name, {
    restMs: () => restAfter(turn),
    ownerOf: ({ appId, actor }) => appId ?? actor,
    claims: (submission) => claimsOf(submission.body).concat(keyOf(submission)?.name ?? []),
    async write(submissions) {
      const others = (await kind.locksOf?.(sql, submissions)) ?? []
      const locked = [...new Set([...submissions.flatMap(({ appId }) => appId ?? []), ...others])].sort()
      const outcomes = await transaction(sql, (tx) => writeBatch(tx, kind, submissions, locked, turn))
      turn.endedAt = performance.now()
      noteWritten?.(outcomes.filter((outcome, at) => 'record' in outcome && !isReplayed(submissions[at])).length)
      return outcomes
    },
  })
  return submitter(lane, callers)
}

async function writeBatch<Body, Known, Row>(
  tx: Statements,
  kind: WriteKind<Body, Known, Row>,
  submissions: readonly Submission<Body>[],
  locked: readonly string[],
  turn: Turn,
): Promise<Outcome[]> {
  const keys = submissions.map(keyOf)
  const keyed = keys.flatMap((key) => key ?? [])
  // Each statement sees what was committed before it started, and so what the locks' last holders wrote.
  const [, revoked, kept, clock, early] = await inOneFlight([
    takeLocks(tx, keyed, locked).then((hasWaited) => {
      turn.hasWaited = hasWaited
      turn.lockedAt = performance.now()
    }),
    findRevokedApplications(
      tx,
      submissions.map(({ caller }) => caller),
      locked,
    ),
    findKeptAnswers(tx, keyed),
    readClock(tx),
    kind.settle === undefined ? kind.read(tx, submissions, locked) : undefined,
  ])
  const isRevoked = (appId: string | null) => (appId === null ? revoked.size > 0 : revoked.has(appId))
  const outcomes = submissions.map(({ appId }, place): Outcome | undefined =>
    isRevoked(appId) ? { revoked: true } : replayOf(submissions[place]?.idempotency, kept.get(keys[place]?.name ?? '')),
  )
  const due = [...submissions.keys()].filter((place) => outcomes[place] === undefined)
  if (due.length > 0) {
    const writes = due.map((place) => submissions[place] as Submission<Body>)
    const now = (await kind.settle?.(tx, writes)) ?? clock
    const known = early ?? (await kind.read(tx, writes, locked))
    const decisions = writes.map((write) => decideWrite(kind, known, write, now))
    const answered = due.flatMap((place, index) => answerOf(keys[place], decisions[index] as Decision<Row>))
    await inOneFlight([saveDecisions(tx, kind, decisions, now), keepAnswersOf(tx, answered)])
    for (const [index, place] of due.entries()) outcomes[place] = outcomeOf(decisions[index] as Decision<Row>)
  }
  return outcomes as Outcome[]
}

interface Turn {
  /** Whether another writer held one of the batch's applications. */
  hasWaited: boolean
  lockedAt: number
  endedAt: number
}

const longestRestMs = 50

/**
 * Returns how long a lane rests after a batch that waited for another writer, so that others have half of the time:
 * locks go by arrival, so a lane of long batches would otherwise get more.
 */
function restAfter({ hasWaited, lockedAt, endedAt }: Turn): number {
  if (!hasWaited) return 0
  return Math.min(2 * endedAt - lockedAt - performance.now(), longestRestMs)
}

/**
 * Locks unguarded keys, which requests of two applications may share, then the applications. Returns whether one of
 * these was held. Throws a lock timeout.
 */
async function takeLocks(tx: Statements, keyed: readonly Keyed[], locked: readonly string[]): Promise<boolean> {
  const names = new Set(keyed.flatMap(({ isGuarded, name }) => (isGuarded ? [] : [name])))
  let hasWaited = false
  const tryLock = async (appId: string) => {
    if (!(await tryLockApplication(tx, appId, 0))) hasWaited = true
  }
  await inOneFlight([
    ...[...names].sort().map((name) => takeLock(tx, name)),
    // The batch's other applications wait too, so it waits only briefly. It takes a lock that is free now before
    // earlier waiters: losing its place each time, the lane would never get it.
    waitForLocks(tx, limits.laneLockMs),
    ...locked.flatMap((appId) => [tryLock(appId), lockApplication(tx, appId)]),
    waitForLocks(tx, 0),
  ])
  return hasWaited
}

/** Returns the first request's outcome, without an entity tag, which isn't stored. */
function replayOf(idempotency: RequestKey | undefined, first: KeptAnswer | undefined): Outcome | undefined {
  if (idempotency === undefined || first === undefined) return undefined
  if (first.bodyHash !== idempotency.bodyHash) return { refusal: new Refusal('idempotencyKeyReused') }
  idempotency.isReplayed = true
  return { record: { record: first.answer } }
}

const isReplayed = <Body>(submission: Submission<Body> | undefined) => submission?.idempotency?.isReplayed === true

const outcomeOf = <Row>(decision: Decision<Row>): Outcome =>
  'shown' in decision ? { record: decision.shown } : decision

const answerOf = <Row>(key: Keyed | undefined, decision: Decision<Row>) =>
  key === undefined || !('shown' in decision) ? [] : [{ ...key, answer: decision.shown.record }]

async function keepAnswersOf(tx: Statements, answered: readonly (Keyed & { answer: string })[]): Promise<void> {
  await Promise.all([...groupBy(answered, ({ owner }) => owner)].map(([owner, own]) => keepAnswers(tx, owner, own)))
}

export const shownText = ({ record, etag }: Shown) => new JsonText(record, etag === undefined ? {} : { etag })
