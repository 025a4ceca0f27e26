import type { CallerCache } from '../../callers/cache.ts'
import type { Caller } from '../../callers/caller.ts'
import { findRevokedApplications } from '../../callers/store.ts'
import { type LaneOutcome, submitter } from '../../callers/submitter.ts'
import { findKeptAnswers, type KeptAnswer, keyName, type RequestKey } from '../../database/idempotency.ts'
import type { OpenLane } from '../../database/lanes.ts'
import type { Sql } from '../../database/open.ts'
import type { Pending } from '../../database/pending.ts'
import { requireMatch } from '../../http/etag.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { ended, showPlacement } from '../placement/rules.ts'
import { deviceTag, deviceText, showDevice } from '../rules.ts'
import { changeOwners, type Owned, type OwnerChange, readOwned } from './routine.ts'
import { findOnlineStatus, type KnownDevice } from './store.ts'

/** A request to unbind a device or to transfer it. */
interface Submission {
  caller: Caller
  actor: string
  deviceNo: string
  /** The application that must own the device; null for any. */
  appId: string | null
  /** The new owner; null to unbind. */
  target: string | null
  reason: string | null
  ifMatch: string | null
  keyOwner: string
  idempotency: RequestKey | undefined
  pending: Pending
}

export interface OwnershipLaneParts {
  sql: Sql
  openLane: OpenLane
  callers: CallerCache
  showMoment: ShowMoment
}

/** The rows that a batch is composed from, read without a lock. */
interface Known extends Owned {
  /** The `onlineStatus` of each target. */
  onlineStatus: Map<string, number>
  kept: Map<string, KeptAnswer>
}

/** Opens the lane of unbindings and transfers, of single requests and of batches. Returns its submit function. */
export function ownershipLane(parts: OwnershipLaneParts): (submission: Submission) => Promise<string> {
  const { sql, openLane, callers, showMoment } = parts

  const lane = openLane<Submission, LaneOutcome>('ownership', {
    ownerOf: ({ appId, actor }) => appId ?? actor,
    claims: ({ deviceNo, keyOwner, idempotency }) =>
      idempotency === undefined ? [deviceNo] : [deviceNo, keyName({ owner: keyOwner, ...idempotency })],
    async write(submissions) {
      const callers = submissions.map(({ caller }) => caller)
      const appIds = new Set(submissions.flatMap(({ appId }) => appId ?? []))
      const [revoked, known] = await Promise.all([findRevokedApplications(sql, callers, appIds), read(submissions)])
      const now = new Date()
      const outcomes = submissions.map((submission): LaneOutcome | OwnerChange => {
        if (submission.appId !== null && revoked.has(submission.appId)) return { revoked: true }
        try {
          return replay(submission, known) ?? compose(submission, known, now)
        } catch (error) {
          if (error instanceof Refusal) return { refusal: error }
          throw error
        }
      })
      const changes = outcomes.flatMap((outcome) => ('known' in outcome ? [outcome] : []))
      const changed = new Set(changes.length === 0 ? [] : await changeOwners(sql, changes, callers, now))
      return outcomes.map((outcome, at) => {
        if (!('known' in outcome)) return outcome
        if (changed.has(outcome.known.device.deviceNo)) return { record: outcome.answer }
        // An operator that names no application may have lost its access too.
        return submissions[at]?.appId === null ? { revoked: true } : { again: true }
      })
    },
  })

  async function read(submissions: Submission[]): Promise<Known> {
    const keyed = submissions.flatMap(({ keyOwner, idempotency }) =>
      idempotency === undefined ? [] : [{ owner: keyOwner, ...idempotency }],
    )
    const [owned, onlineStatus] = await Promise.all([
      readOwned(
        sql,
        submissions.map(({ deviceNo }) => deviceNo),
      ),
      findOnlineStatus(
        sql,
        submissions.flatMap(({ target }) => target ?? []),
      ),
    ])
    // Read after the devices: if a device is gone, the stored response of the request that took it is visible by now.
    return { ...owned, onlineStatus, kept: await findKeptAnswers(sql, keyed) }
  }

  /** Returns the stored outcome of an earlier request with the same key. Throws 10008. */
  function replay({ keyOwner, idempotency }: Submission, { kept }: Known): LaneOutcome | undefined {
    const first = idempotency && kept.get(keyName({ owner: keyOwner, ...idempotency }))
    if (first === undefined) return undefined
    if (first.bodyHash !== idempotency?.bodyHash) throw new Refusal('idempotencyKeyReused')
    idempotency.isReplayed = true
    return { record: first.answer }
  }

  /** Composes the change of a device's owner. Throws 20002, 10009, 10006 and 20017, in this order. */
  function compose(
    submission: Submission,
    { devices, moving, onlineStatus }: Known,
    now: Date,
  ): LaneOutcome | OwnerChange {
    const { appId, deviceNo, target, ifMatch, actor, reason, keyOwner, idempotency } = submission
    if (moving.has(deviceNo)) return { again: true }
    const known = devices.get(deviceNo)
    if (known === undefined || (appId ?? known.device.appId) !== known.device.appId) throw new Refusal('deviceNotFound')
    const { device } = known
    requireMatch(ifMatch, deviceTag(device))
    const owner = target === null ? null : { appId: target, isOnline: onlineStatus.get(target) === 1 }
    return composeChange(known, owner, { actor, reason, keyOwner, idempotency }, now, showMoment)
  }

  return submitter(lane, callers)
}

/** The new owner of a device. */
interface NewOwner {
  appId: string
  isOnline: boolean
}

/**
 * Composes the change of a device's owner at a moment; without a new owner, the device is unbound. Throws 10006 and
 * 20017.
 */
export function composeChange(
  known: KnownDevice,
  owner: NewOwner | null,
  asked: Pick<OwnerChange, 'actor' | 'reason' | 'keyOwner' | 'idempotency'>,
  now: Date,
  showMoment: ShowMoment,
): OwnerChange {
  const { device, placement } = known
  const before = showDevice(device, showMoment)
  const over = placement && ended(placement, now, asked.actor, asked.reason)
  const change = {
    ...asked,
    known,
    target: owner?.appId ?? null,
    over: over && { placement: over, record: JSON.stringify(showPlacement(over, showMoment)) },
  }
  if (owner === null) {
    const record = deviceText(before)
    return { ...change, record, answer: record }
  }
  if (!owner.isOnline) throw new Refusal('applicationOffline')
  if (device.appId === owner.appId) throw new Refusal('deviceAlreadyYours')
  const answer = deviceText(showDevice({ ...device, appId: owner.appId, boundAt: now }, showMoment))
  // The former owner's event holds the last record, but without an owner, because the device no longer belongs to that
  // application.
  return { ...change, record: JSON.stringify({ ...before, appId: null }), answer }
}
