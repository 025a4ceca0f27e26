import { lockApplicationSoon } from '../database/application-lock.ts'
import { findKeptAnswers, type KeptAnswer, keepAnswers, keyName, type RequestKey } from '../database/idempotency.ts'
import type { OpenLane } from '../database/lanes.ts'
import type { Sql, Statements } from '../database/open.ts'
import type { Pending } from '../database/pending.ts'
import { transaction } from '../database/transaction.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import type { CallerCache } from './cache.ts'
import type { Caller } from './caller.ts'
import { findRevokedApplications } from './store.ts'
import { type LaneOutcome, submitter } from './submitter.ts'

// The lane of updates, of devices and of sites alike: single requests and the rows of batches.

/** A change of one record of an application: the body of an update. */
export interface Change<Body> {
  body: Body
  actor: string
  ifMatch: string | null
}

/** The outcome of a change: the record as it is now, and whether the change made it so. */
export type ChangeOutcome<Item> = { item: Item; isChanged: boolean } | { refusal: Refusal }

/**
 * Applies changes to records of one application, in order, in a transaction that holds the application's lock. Returns one
 * outcome for each.
 */
export type ApplyChanges<Body, Item> = (
  tx: Statements,
  appId: string,
  changes: readonly Change<Body>[],
) => Promise<ChangeOutcome<Item>[]>

/** A record after a change, as JSON text, with its entity tag. */
export interface Shown {
  record: string
  etag: string
}

export interface Submission<Body> extends Change<Body> {
  caller: Caller
  appId: string
  idempotency: RequestKey | undefined
  pending: Pending
}

type Outcome = LaneOutcome<Shown>

export interface ChangeLaneParts {
  sql: Sql
  openLane: OpenLane
  callers: CallerCache
}

const keyOf = <Body>({ appId, idempotency }: Submission<Body>) =>
  idempotency && keyName({ owner: appId, ...idempotency })

/** Opens a lane of changes. Returns its submit function. */
export function changeLane<Body, Item>(
  { sql, openLane, callers }: ChangeLaneParts,
  name: string,
  apply: ApplyChanges<Body, Item>,
  show: (item: Item) => Shown,
): (submission: Submission<Body>) => Promise<Shown> {
  const lane = openLane<Submission<Body>, Outcome>(name, {
    ownerOf: ({ appId }) => appId,
    // Changes of one record may share a batch: they are applied in order.
    claims: (submission) => {
      const key = keyOf(submission)
      return key === undefined ? [] : [key]
    },
    write: (submissions) => transaction(sql, (tx) => write(tx, submissions)),
  })

  async function write(tx: Statements, submissions: Submission<Body>[]): Promise<Outcome[]> {
    const appIds = [...new Set(submissions.map(({ appId }) => appId))].sort()
    for (const appId of appIds) await lockApplicationSoon(tx, appId)
    const outcomes = await findOutcomes(tx, submissions)
    for (const appId of appIds) {
      const due = submissions.filter((submission) => submission.appId === appId && !outcomes.has(submission))
      await writeOf(tx, appId, due, outcomes)
    }
    return submissions.map((submission) => outcomes.get(submission) as Outcome)
  }

  /** Carries out changes of one application, and keeps the answers of those with a key. */
  async function writeOf(
    tx: Statements,
    appId: string,
    due: readonly Submission<Body>[],
    outcomes: Map<Submission<Body>, Outcome>,
  ): Promise<void> {
    if (due.length === 0) return
    const answers = []
    const applied = await apply(tx, appId, due)
    for (const [place, submission] of due.entries()) {
      const outcome = applied[place] as ChangeOutcome<Item>
      if ('refusal' in outcome) {
        outcomes.set(submission, outcome)
        continue
      }
      const shown = show(outcome.item)
      outcomes.set(submission, { record: shown })
      if (submission.idempotency !== undefined) answers.push({ ...submission.idempotency, answer: shown.record })
    }
    await keepAnswers(tx, appId, answers)
  }

  return submitter(lane, callers)
}

/** The outcomes that need no write: for callers that have lost their access, and for keys that were used before. */
async function findOutcomes<Body>(tx: Statements, submissions: readonly Submission<Body>[]) {
  const callers = submissions.map(({ caller }) => caller)
  const keyed = submissions.flatMap(({ appId, idempotency }) =>
    idempotency === undefined ? [] : [{ owner: appId, ...idempotency }],
  )
  const appIds = new Set(submissions.map(({ appId }) => appId))
  const revoked = await findRevokedApplications(tx, callers, appIds)
  const kept = await findKeptAnswers(tx, keyed)
  const outcomes = new Map<Submission<Body>, Outcome>()
  for (const submission of submissions) {
    const key = keyOf(submission)
    const first = key === undefined ? undefined : kept.get(key)
    if (revoked.has(submission.appId)) outcomes.set(submission, { revoked: true })
    else if (first !== undefined) outcomes.set(submission, replay(first, submission.idempotency as RequestKey))
  }
  return outcomes
}

/** The outcome that the first request with this key had. Only rows of batches have keys, and their tags are not shown. */
function replay(first: KeptAnswer, idempotency: RequestKey): Outcome {
  if (first.bodyHash !== idempotency.bodyHash) return { refusal: new Refusal('idempotencyKeyReused') }
  idempotency.isReplayed = true
  return { record: { record: first.answer, etag: '' } }
}

/** Decides one change; a refusal that is thrown is its outcome. */
export function decided<Decided>(decide: () => Decided): Decided | { refusal: Refusal } {
  try {
    return decide()
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error }
    throw error
  }
}
