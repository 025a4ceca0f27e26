import type { CallerCache } from '../../callers/cache.ts'
import type { Caller } from '../../callers/caller.ts'
import { findRevokedApplications } from '../../callers/store.ts'
import { type LaneOutcome, submitter } from '../../callers/submitter.ts'
import { findKeptAnswers, type KeptAnswer, keyName, type RequestKey } from '../../database/idempotency.ts'
import type { OpenLane } from '../../database/lanes.ts'
import type { Sql } from '../../database/open.ts'
import { requireMatch } from '../../http/etag.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { deviceTag, deviceText, showDevice } from '../rules.ts'
import { changeOwners, type OwnerChange } from './routine.ts'
import { findBound, findDevices, findOnlineStatus, type KnownDevice } from './store.ts'

/** That a device shall be nobody's, or another application's. */
interface Submission {
  caller: Caller
  actor: string
  deviceNo: string
  /** Whose it must be; null for whoever holds it. */
  appId: string | null
  /** To which application; null for nobody. */
  target: string | null
  reason: string | null
  ifMatch: string | null
  keyOwner: string
  idempotency: RequestKey | undefined
}

export interface OwnershipLaneParts {
  sql: Sql
  openLane: OpenLane
  callers: CallerCache
  showMoment: ShowMoment
}

/** What a batch is composed from. */
interface Known {
  devices: Map<string, KnownDevice>
  /** Serials without a device that somebody holds all the same: it moves from one node of a cluster to another. */
  moving: Set<string>
  /** Of the targets. */
  onlineStatus: Map<string, number>
  kept: Map<string, KeptAnswer>
}

/**
 * The lane of unbindings and transfers, of one request or of the rows of a batch.
 */
export function ownershipLane(parts: OwnershipLaneParts): (submission: Submission) => Promise<string> {
  const { sql, openLane, callers, showMoment } = parts

  const lane = openLane<Submission, LaneOutcome>('ownership', {
    claims: ({ deviceNo, keyOwner, idempotency }) =>
      idempotency === undefined ? [deviceNo] : [deviceNo, keyName({ owner: keyOwner, ...idempotency })],
    async write(submissions) {
      const callers = submissions.map(({ caller }) => caller)
      const [revoked, known] = await Promise.all([findRevokedApplications(sql, callers), read(submissions)])
      const now = new Date()
      const outcomes = submissions.map((submission): LaneOutcome | OwnerChange => {
        if (submission.appId !== null && revoked.has(submission.appId)) return { unsure: true }
        try {
          return findFirst(submission, known) ?? compose(submission, known, now)
        } catch (error) {
          if (error instanceof Refusal) return { refusal: error }
          throw error
        }
      })
      const changes = outcomes.flatMap((outcome) => ('known' in outcome ? [outcome] : []))
      const changed = new Set(changes.length === 0 ? [] : await changeOwners(sql, changes, callers, now))
      return outcomes.map((outcome) => {
        if (!('known' in outcome)) return outcome
        return changed.has(outcome.known.device.deviceNo) ? { record: outcome.answer } : { again: true }
      })
    },
  })

  async function read(submissions: Submission[]): Promise<Known> {
    const keyed = submissions.flatMap(({ keyOwner, idempotency }) =>
      idempotency === undefined ? [] : [{ owner: keyOwner, ...idempotency }],
    )
    const [devices, onlineStatus] = await Promise.all([
      findDevices(
        sql,
        submissions.map(({ deviceNo }) => deviceNo),
      ),
      findOnlineStatus(
        sql,
        submissions.flatMap(({ target }) => target ?? []),
      ),
    ])
    const missing = submissions.flatMap(({ deviceNo }) => (devices.has(deviceNo) ? [] : [deviceNo]))
    const moving = await findBound(sql, missing)
    // After the devices: whoever finds one gone also finds the answer of the request that took it.
    return { devices, moving, onlineStatus, kept: await findKeptAnswers(sql, keyed) }
  }

  /** What was answered to an earlier request with the key. Throws 10008. */
  function findFirst({ keyOwner, idempotency }: Submission, { kept }: Known): LaneOutcome | undefined {
    const first = idempotency && kept.get(keyName({ owner: keyOwner, ...idempotency }))
    if (first === undefined) return undefined
    if (first.bodyHash !== idempotency?.bodyHash) throw new Refusal('idempotencyKeyReused')
    idempotency.isReplayed = true
    return { record: first.answer }
  }

  /** What becomes of the device. Throws 20002, 10009, 10006 and 20017, in this order. */
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
    const before = showDevice(device, showMoment)
    const change = { known, target, actor, reason, keyOwner, idempotency }
    if (target === null) {
      const record = deviceText(before)
      return { ...change, record, answer: record }
    }
    if (onlineStatus.get(target) !== 1) throw new Refusal('applicationOffline')
    if (device.appId === target) throw new Refusal('deviceAlreadyYours')
    const answer = deviceText(showDevice({ ...device, appId: target, boundAt: now }, showMoment))
    // The former owner is told the record as it was, but for its owner: the device is not this application's any more.
    return { ...change, record: JSON.stringify({ ...before, appId: null }), answer }
  }

  return submitter(lane, callers)
}
