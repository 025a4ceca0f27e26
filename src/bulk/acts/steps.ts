import type { Context } from '../../context.ts'
import type { RowKey } from '../../database/matches.ts'
import type { Statements } from '../../database/open.ts'
import { transaction } from '../../database/transaction.ts'
import { findMatchingDevices } from '../../devices/matching/store.ts'
import { ownerChanges } from '../../devices/ownership/writes.ts'
import { deviceUpdates } from '../../devices/writes.ts'
import { findMatchingSites } from '../../sites/matching/store.ts'
import { writeDueBefore } from '../../sites/price-changes/effect.ts'
import type { Site } from '../../sites/rules.ts'
import { deleteSites, siteUpdates } from '../../sites/writes.ts'
import type { Refusal } from '../../vocabulary/refusals.ts'
import type { Admission } from '../../vocabulary/roles.ts'
import { carryOut, type Decided } from '../../writes/kind.ts'
import type { KeptOutcome } from '../jobs/rules.ts'
import { finishJob, type Job, readLastEventIds, settleRows } from '../jobs/store.ts'
import { requireAccessOf, type Steps } from '../jobs/worker.ts'
import { singleOperation } from './contract.ts'
import { devicesOf, scanRows, sitesOf } from './matches.ts'
import { type ActJob, actOf } from './store.ts'

type DecideKeys = (tx: Statements, act: ActJob, actor: string, keys: readonly RowKey[]) => Promise<KeptOutcome[]>

export function actSteps({ sql }: Pick<Context, 'sql'>): Steps {
  const updateDevices: DecideKeys = async (tx, act, actor, keys) => {
    const serials = await findMatchingDevices(tx, devicesOf(act), keys)
    const { appId, changes } = act
    const writes = serials.map((deviceNo) => ({ appId, body: { ...changes, deviceNo }, actor, ifMatch: null }))
    return keptOf(serials, await carryOut(tx, deviceUpdates, writes, [appId]))
  }

  const changeOwner: DecideKeys = async (tx, act, actor, keys) => {
    const { appId, targetAppId: target, reason } = act
    const serials = await findMatchingDevices(tx, devicesOf(act), keys)
    const writes = serials.map((deviceNo) => ({ appId, body: { deviceNo, target, reason }, actor, ifMatch: null }))
    return keptOf(serials, await carryOut(tx, ownerChanges, writes, target === null ? [appId] : [appId, target]))
  }

  /** Finds sites by their current billing rules, so due price changes are applied first. */
  async function matchingSites(tx: Statements, act: ActJob, keys: readonly RowKey[]) {
    const now = await writeDueBefore(
      tx,
      act.appId,
      keys.map(([id]) => Number(id)),
    )
    return { now, sites: await findMatchingSites(tx, sitesOf(act), keys) }
  }

  const updateSites: DecideKeys = async (tx, act, actor, keys) => {
    const { sites } = await matchingSites(tx, act, keys)
    const ids = idsOf(sites)
    const { appId, changes } = act
    const writes = ids.map((id) => ({ appId, body: { ...changes, id }, actor, ifMatch: null }))
    return keptOf(ids, await carryOut(tx, siteUpdates, writes, [appId]))
  }

  const deleteMatching: DecideKeys = async (tx, act, actor, keys) => {
    const { now, sites } = await matchingSites(tx, act, keys)
    await deleteSites(tx, act.appId, sites, { actor, now })
    return idsOf(sites).map((id) => toKept(id, 'done', undefined))
  }

  const deciders = {
    devices: { update: updateDevices, unbind: changeOwner, forceUnbind: changeOwner, transfer: changeOwner },
    sites: { update: updateSites, delete: deleteMatching },
  }

  /** Decides rows, and stores results and position. Returns the number of refused rows. */
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
      const { keys, last } = await scanRows(sql, act, act.position)
      if (last === null) return undefined
      return {
        rows: keys.length,
        decide(from, to) {
          const portion = keys.slice(from, to)
          job.place = portion[0]?.at(-1) ?? job.place
          // The stretch's rows after its last match can be skipped.
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

function keptOf<Row>(keys: readonly (string | number)[], decisions: readonly Decided<Row>[]): KeptOutcome[] {
  return decisions.map((decision, place) => {
    const key = keys[place] as string | number
    if ('refusal' in decision) return toKept(key, 'done', decision.refusal)
    return toKept(key, decision.outcome === 'existing' ? 'unchanged' : 'done', undefined)
  })
}

const toKept = (key: string | number, success: 'done' | 'unchanged', refusal: Refusal | undefined): KeptOutcome =>
  refusal === undefined ? [null, success, key] : [null, refusal.refusal, key, refusal.errors ?? null]
