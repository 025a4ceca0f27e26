import type { RowKey } from '../../database/matches.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import { changeDevices } from '../../devices/changes.ts'
import { findMatchingDevices } from '../../devices/matching/store.ts'
import { composeChange } from '../../devices/ownership/lane.ts'
import { changeOwners, readOwned } from '../../devices/ownership/routine.ts'
import { findOnlineStatus } from '../../devices/ownership/store.ts'
import { clearSites } from '../../devices/placement/lane.ts'
import { insertEvents } from '../../events/store.ts'
import { changeSites } from '../../sites/changes.ts'
import { findMatchingSites } from '../../sites/matching/store.ts'
import { writeDueBefore } from '../../sites/price-changes/effect.ts'
import { type Site, showSite } from '../../sites/rules.ts'
import { removeSites } from '../../sites/store.ts'
import type { ReadTimeRange, ShowMoment } from '../../vocabulary/moments.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import type { Admission } from '../../vocabulary/roles.ts'
import type { KeptOutcome } from '../jobs/rules.ts'
import { finishJob, type Job, readLastEventIds, settleRows } from '../jobs/store.ts'
import { requireAccessOf, type Steps, TryAgain } from '../jobs/worker.ts'
import { singleOperation } from './contract.ts'
import { devicesOf, scanRows, sitesOf } from './matches.ts'
import { type ActJob, actOf } from './store.ts'

interface Parts {
  sql: Sql
  showMoment: ShowMoment
  readTimeRange: ReadTimeRange
}

/** Decides rows within a transaction that holds the applications' locks; an outcome for each that still matches. */
type DecideKeys = (tx: Statements, act: ActJob, actor: string, keys: readonly RowKey[]) => Promise<KeptOutcome[]>

/** How an act finds its rows and decides them: each row as the operation on one record would. */
export function actSteps({ sql, showMoment, readTimeRange }: Parts): Steps {
  const updateDevices: DecideKeys = async (tx, act, actor, keys) => {
    const serials = await findMatchingDevices(tx, devicesOf(act, readTimeRange), keys)
    const changes = serials.map((deviceNo) => ({ body: { ...act.changes, deviceNo }, actor, ifMatch: null }))
    return outcomesOf(serials, await changeDevices(tx, act.appId, changes, showMoment))
  }

  const changeOwner: DecideKeys = async (tx, act, actor, keys) => {
    const { targetAppId: target, reason, appId: keyOwner } = act
    const serials = await findMatchingDevices(tx, devicesOf(act, readTimeRange), keys)
    const { devices } = await readOwned(tx, serials)
    const owner = target === null ? null : { appId: target, isOnline: await isOnline(tx, target) }
    const asked = { actor, reason, keyOwner, idempotency: undefined }
    const now = new Date()
    const refusals = new Map<string, Refusal>()
    const changes = serials.flatMap((serial) => {
      const known = devices.get(serial)
      if (known === undefined) throw new TryAgain()
      try {
        return [composeChange(known, owner, asked, now, showMoment)]
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        refusals.set(serial, error)
        return []
      }
    })
    const changed = changes.length === 0 ? [] : await changeOwners(tx, changes, [], now)
    if (changed.length < changes.length) throw new TryAgain()
    return serials.map((serial) => toKept(serial, 'done', refusals.get(serial)))
  }

  /** The sites that match by their present billing rules: price changes that are due are written first. */
  async function matchingSites(tx: Statements, act: ActJob, keys: readonly RowKey[]): Promise<Site[]> {
    await writeDueBefore(
      tx,
      act.appId,
      keys.map(([id]) => Number(id)),
      showMoment,
    )
    return findMatchingSites(tx, sitesOf(act, readTimeRange), keys)
  }

  const updateSites: DecideKeys = async (tx, act, actor, keys) => {
    const ids = idsOf(await matchingSites(tx, act, keys))
    const changes = ids.map((id) => ({ body: { ...act.changes, id }, actor, ifMatch: null }))
    return outcomesOf(ids, await changeSites(tx, act.appId, changes, showMoment))
  }

  const deleteSites: DecideKeys = async (tx, act, actor, keys) => {
    const found = await matchingSites(tx, act, keys)
    await clearSites(tx, act.appId, idsOf(found), actor, showMoment)
    await removeSites(tx, act.appId, idsOf(found))
    const events = found.map((site) => ({
      type: 'site.deleted' as const,
      actor,
      subject: String(site.id),
      data: showSite(site, showMoment),
    }))
    await insertEvents(tx, act.appId, events)
    return idsOf(found).map((id) => toKept(id, 'done', undefined))
  }

  const deciders = {
    devices: { update: updateDevices, unbind: changeOwner, forceUnbind: changeOwner, transfer: changeOwner },
    sites: { update: updateSites, delete: deleteSites },
  }

  /** Decides rows, and stores their outcomes and the act's position. Returns the number of refused rows. */
  async function decide(job: Job, keys: readonly RowKey[], position: RowKey): Promise<number> {
    const act = actOf(job)
    const decideKeys = (deciders[act.kind] as Partial<Record<string, DecideKeys>>)[act.act] as DecideKeys
    const text = JSON.stringify(position)
    const [refused, lastEventIds] = await transaction(sql, async (tx) => {
      await requireAccessOf(tx, job, singleOperation(act.kind, act.act) as Admission)
      const outcomes = keys.length === 0 ? [] : await decideKeys(tx, act, job.actor, keys)
      const refused = await settleRows(tx, job, { outcomes, position: text })
      return [refused, await readLastEventIds(tx, job)] as const
    })
    job.row.position = text
    job.lastEventIds = lastEventIds
    job.unanalyzed += keys.length
    return refused
  }

  return {
    noun: 'act',

    async findRows(job) {
      const act = actOf(job)
      const { keys, last } = await scanRows(sql, act, readTimeRange, act.position)
      if (last === null) return undefined
      return {
        rows: keys.length,
        decide(from, to) {
          const portion = keys.slice(from, to)
          job.place = portion[0]?.at(-1) ?? job.place
          // After the last matching row of the stretch, its remaining rows do not match and can be skipped.
          return decide(job, portion, to === keys.length ? last : (portion.at(-1) as RowKey))
        },
      }
    },

    async finish(job) {
      await finishJob(sql, job)
      return undefined
    },
  }
}

const idsOf = (sites: readonly Site[]) => sites.map(({ id }) => id)

async function isOnline(tx: Statements, appId: string): Promise<boolean> {
  return (await findOnlineStatus(tx, [appId])).get(appId) === 1
}

function outcomesOf(
  keys: readonly (string | number)[],
  outcomes: readonly ({ isChanged: boolean } | { refusal: Refusal })[],
): KeptOutcome[] {
  return outcomes.map((outcome, place) => {
    const key = keys[place] as string | number
    if ('refusal' in outcome) return toKept(key, 'done', outcome.refusal)
    return toKept(key, outcome.isChanged ? 'done' : 'unchanged', undefined)
  })
}

const toKept = (key: string | number, success: 'done' | 'unchanged', refusal: Refusal | undefined): KeptOutcome =>
  refusal === undefined ? [null, success, key] : [null, refusal.refusal, key, refusal.errors ?? null]
