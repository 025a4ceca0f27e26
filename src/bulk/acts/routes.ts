import { requireProof } from '../../callers/access-control.ts'
import { actorOf, type Caller } from '../../callers/caller.ts'
import { requireApplicationOf, requireApplicationsOf } from '../../callers/permissions.ts'
import { requireApplicationExists } from '../../callers/store.ts'
import type { Context } from '../../context.ts'
import { findReplay, type RequestKey } from '../../database/idempotency.ts'
import type { Pending } from '../../database/pending.ts'
import { readActor } from '../../events/rules.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { type Handler, handle, handleOutOfTurn, read, stream } from '../../http/handler.ts'
import { Turns } from '../../runtime/turns.ts'
import { readFilters } from '../../vocabulary/filters.ts'
import { limits } from '../../vocabulary/limits.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { fieldFault, Refusal, tooManyRequests } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { writeAlone } from '../../writes/alone.ts'
import { jobStatus } from '../jobs/contract.ts'
import { resultReply } from '../jobs/result.ts'
import * as jobs from '../jobs/store.ts'
import { roomFor } from '../room.ts'
import { type ActRecord, type BegunAct, cancelAct, createAct, getAct, getActResult, pageActs } from './contract.ts'
import { countRows } from './matches.ts'
import { actFaults, type GivenAct, isOperators, readAct } from './rules.ts'
import { acts, insertAct, readNewestEventId } from './store.ts'

interface Asked {
  act: GivenAct
  appId: string
  caller: Caller
  actor: string
  expectedRows: number | null
  pending: Pending
}

export function actRoutes({ sql, config, callers }: Context, onSubmitted: () => void): Handler[] {
  const requireRoom = roomFor(sql, config)
  // One count per application at a time, so that a second request finds the bulk action that the first has started.
  const counts = new Turns({
    ofOne: limits.actCountsOfOne,
    waitingOfOne: limits.actCountsWaitingOfOne,
    full: tooManyRequests,
  })

  /** Counts the matching rows. Throws 70004 if the caller saw another number. */
  async function countMatches({
    act,
    appId,
    expectedRows,
    pending,
  }: Asked): Promise<{ rows: number; beganAfter: number }> {
    const beganAfter = await readNewestEventId(sql, appId)
    const rows = await countRows((step) => pending.read(step), { ...act, appId, beganAfter })
    if (expectedRows !== null && expectedRows !== rows) throw rowsChanged(rows)
    return { rows, beganAfter }
  }

  /** Counts only, and leaves neither a job nor an event. Throws as `begin` does. */
  async function tryOut(asked: Asked): Promise<BegunAct> {
    const { act, appId, actor, pending } = asked
    if (await jobs.isUnderWay(sql, appId)) throw new Refusal('importRunning')
    const { rows } = await countMatches(asked)
    // The caller may have lost access during the count.
    await pending.requireStanding()
    return counted({ ...act, appId, actor, rows }, showMoment(new Date()))
  }

  /** Starts a bulk action, or returns the one of the request's key. Throws 70003, 70004 and 10007. */
  async function begin(asked: Asked, idempotency: RequestKey | undefined, address: string): Promise<BegunAct> {
    const { act, appId, caller, actor, pending } = asked
    // Before the replay: the running bulk action may be this very request's, whose response is then stored.
    const isUnderWay = await jobs.isUnderWay(sql, appId)
    const first = await findReplay<ActRecord>(sql, idempotency, appId)
    if (first !== undefined) return first
    if (isUnderWay) throw new Refusal('importRunning')
    await requireRoom(appId)
    const matches = await countMatches(asked)
    const begun = await writeAlone(sql, { caller, pending, idempotency }, appId, async (tx) => {
      const data = await insertAct(tx, { ...act, appId, ...matches, actor, caller })
      const event = { actor, address, subject: data.id, data: forTrail(data) }
      await insertPlatformEvent(tx, { type: 'act.created', ...event })
      return data
    })
    onSubmitted()
    return begun
  }

  return [
    handleOutOfTurn(
      createAct,
      async ({ caller, actor, body, idempotency, sourceAddress, pending }) => {
        const act = readAct(body)
        // Needs an identity confirmation, like the operation on one device (contract §12.4); a dry run changes nothing.
        const isDryRun = given(body.dryRun) === true
        if (isOperators(act.kind, act.act) && !isDryRun) requireProof(await callers.present(caller))
        const appId = await requireApplicationOf(sql, caller, body.appId)
        if (isOperators(act.kind, act.act)) requirePlatform(caller)
        if (act.targetAppId !== null) await requireApplicationExists(sql, act.targetAppId)
        const asked = { act, appId, caller, actor, expectedRows: given(body.expectedRows), pending }
        return counts.run(appId, pending, () => (isDryRun ? tryOut(asked) : begin(asked, idempotency, sourceAddress())))
      },
      { check: actFaults },
    ),

    read(getAct, async ({ sql, caller, query }) => {
      const appIds = await requireApplicationsOf(sql, caller, query.appId)
      return shownTo(caller, await jobs.requireJob(sql, acts, appIds, query.id))
    }),

    read(pageActs, async ({ sql, caller, query: { appId, ...query } }) => {
      const appIds = await requireApplicationsOf(sql, caller, appId)
      const filter = { ...query, ...readFilters(pageActs.query, query), appIds }
      const page = await jobs.pageOfJobs(sql, acts, filter)
      return { ...page, list: page.list.map((act) => shownTo(caller, act)) }
    }),

    handle(cancelAct, async ({ caller, body, sourceAddress, pending }) => {
      const appIds = await requireApplicationsOf(sql, caller, body.appId)
      return pending.transaction(sql, async (tx) => {
        const data = await jobs.requireJob(tx, acts, appIds, body.id)
        if (isOperators(data.kind, data.act)) requirePlatform(caller)
        const event = { actor: actorOf(caller), address: sourceAddress(), subject: data.id, data: forTrail(data) }
        await insertPlatformEvent(tx, { type: 'act.cancelled', ...event })
        return jobs.cancelJob(tx, acts, body.id)
      })
    }),

    stream(getActResult, async ({ caller, query, header, readNext }) => {
      const { id, kind } = await readNext(async (sql) =>
        jobs.requireJob(sql, acts, await requireApplicationsOf(sql, caller, query.appId), query.id),
      )
      return resultReply({ id, kind, noun: 'act' }, given(query.outcome), header('accept-language'), readNext)
    }),
  ]
}

function counted(act: GivenAct & { appId: string; actor: string; rows: number }, time: string): BegunAct {
  const { appId, kind, filter, changes, targetAppId, reason, rows } = act
  const what = { appId, kind, act: act.act, filter, set: changes, targetAppId, reason, dryRun: true }
  const decided = { rows, done: 0, unchanged: 0, refused: 0 }
  const end = { actor: readActor(act.actor).actor, createTime: time, finishTime: time, error: null, failure: null }
  return { id: null, ...what, status: jobStatus.done, ...decided, ...end }
}

/** Throws 10003 for applications and developers. */
function requirePlatform(caller: Caller): void {
  if (caller.kind === 'application' || caller.applications !== null) throw new Refusal('notPermitted')
}

/** Hides a transfer's target from applications and developers. */
function shownTo(caller: Caller, act: ActRecord): ActRecord {
  const isPlatform = caller.kind === 'operator' && caller.applications === null
  return isPlatform ? act : { ...act, targetAppId: null }
}

/** The audit log is kept for long, so this removes values that can be personal data. */
function forTrail(act: ActRecord): object {
  const filter = 'contacts' in act.filter ? { ...act.filter, contacts: '…' } : act.filter
  return { ...act, filter, set: act.set && Object.keys(act.set) }
}

function rowsChanged(rows: number): Refusal {
  const en = `differs from the current number of matches, ${rows}`
  return new Refusal('rowsChanged', { errors: [fieldFault('expectedRows', en, `与现在符合条件的行数不符：${rows}`)] })
}
