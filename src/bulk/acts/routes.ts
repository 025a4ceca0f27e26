import { requireProof } from '../../callers/access-control.ts'
import { actorOf, type Caller } from '../../callers/caller.ts'
import { lockApplicationFor, requireApplicationOf, requireApplicationsOf } from '../../callers/permissions.ts'
import { requireApplicationExists } from '../../callers/store.ts'
import type { Config } from '../../config.ts'
import { findReplay, once } from '../../database/idempotency.ts'
import type { Sql } from '../../database/open.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { type Handler, handle, handleOutOfTurn, read, stream } from '../../http/handler.ts'
import { Turns } from '../../runtime/turns.ts'
import { limits } from '../../vocabulary/limits.ts'
import type { ReadTimeRange, ShowMoment } from '../../vocabulary/moments.ts'
import { Refusal, tooManyRequests } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { resultReply } from '../jobs/result.ts'
import * as jobs from '../jobs/store.ts'
import { roomFor } from '../room.ts'
import { type ActRecord, cancelAct, createAct, getAct, getActResult, pageActs } from './contract.ts'
import { countRows } from './matches.ts'
import { actFaults, isOperators, readAct } from './rules.ts'
import { acts, insertAct, readNewestEventId } from './store.ts'

interface Parts {
  sql: Sql
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 'fileBytes'>
  showMoment: ShowMoment
  readTimeRange: ReadTimeRange
  /** Wakes the worker: a new job waits. */
  onSubmitted(): void
}

export function actRoutes({ sql, config, showMoment, readTimeRange, onSubmitted }: Parts): Handler[] {
  const requireRoom = roomFor(sql, config)
  // Only one request of an application counts at a time: a second one then finds that the first has begun its act.
  const counts = new Turns({
    ofOne: limits.actCountsOfOne,
    waitingOfOne: limits.actCountsWaitingOfOne,
    full: tooManyRequests,
  })

  return [
    handleOutOfTurn(
      createAct,
      async ({ caller, actor, body, idempotency, sourceAddress, pending }) => {
        const act = readAct(body)
        // A fresh proof is needed, as for the operation on one device (contract §12.4), but not for a dry run, which
        // changes nothing.
        if (isOperators(act.kind, act.act) && given(body.dryRun) !== true) requireProof(caller)
        const appId = await requireApplicationOf(sql, caller, body.appId)
        if (isOperators(act.kind, act.act)) requirePlatform(caller)
        if (act.targetAppId !== null) await requireApplicationExists(sql, act.targetAppId)
        const begun = await counts.run(appId, pending.signal, async () => {
          // First, because the act under way may be this very request's, whose response is then stored.
          const isUnderWay = await jobs.isUnderWay(sql, appId)
          const first = await findReplay<ActRecord>(sql, idempotency, appId)
          if (first !== undefined) return first
          if (isUnderWay) throw new Refusal('importRunning')
          await requireRoom(appId)
          const beganAfter = await readNewestEventId(sql, appId)
          const rows = await countRows((step) => pending.read(step), { ...act, appId, beganAfter }, readTimeRange)
          const expected = given(body.expectedRows)
          if (expected !== null && expected !== rows) throw rowsChanged(rows)
          return pending.transaction(sql, async (tx) => {
            await lockApplicationFor(tx, caller, appId)
            return once(tx, idempotency, appId, async () => {
              const isDryRun = given(body.dryRun) === true
              const data = await insertAct(tx, { ...act, appId, rows, beganAfter, isDryRun, actor, caller }, showMoment)
              const event = { actor, address: sourceAddress(), subject: data.id, data: forTrail(data) }
              await insertPlatformEvent(tx, { type: 'act.created', ...event })
              return data
            })
          })
        })
        onSubmitted()
        return begun
      },
      { check: actFaults },
    ),

    read(getAct, async ({ sql, caller, query }) => {
      const appIds = await requireApplicationsOf(sql, caller, query.appId)
      return shownTo(caller, await jobs.requireJob(sql, acts, appIds, query.id, showMoment))
    }),

    read(pageActs, async ({ sql, caller, query: { appId, ...query } }) => {
      const filter = {
        ...query,
        appIds: await requireApplicationsOf(sql, caller, appId),
        kind: given(query.kind),
        status: given(query.status),
        created: readTimeRange(query),
      }
      const page = await jobs.pageOfJobs(sql, acts, filter, showMoment)
      return { ...page, list: page.list.map((act) => shownTo(caller, act)) }
    }),

    handle(cancelAct, async ({ caller, body, sourceAddress, pending }) => {
      const appIds = await requireApplicationsOf(sql, caller, body.appId)
      return pending.transaction(sql, async (tx) => {
        const data = await jobs.requireJob(tx, acts, appIds, body.id, showMoment)
        if (isOperators(data.kind, data.act)) requirePlatform(caller)
        const event = { actor: actorOf(caller), address: sourceAddress(), subject: data.id, data: forTrail(data) }
        await insertPlatformEvent(tx, { type: 'act.cancelled', ...event })
        return jobs.cancelJob(tx, acts, body.id, showMoment)
      })
    }),

    stream(getActResult, async ({ caller, query, header, readNext }) => {
      const { id, kind } = await readNext(async (sql) =>
        jobs.requireJob(sql, acts, await requireApplicationsOf(sql, caller, query.appId), query.id, showMoment),
      )
      return resultReply({ id, kind, noun: 'act' }, given(query.outcome), header('accept-language'), readNext)
    }),
  ]
}

/** Throws 10003: neither applications nor developers may. */
function requirePlatform(caller: Caller): void {
  if (caller.kind === 'application' || caller.applications !== null) throw new Refusal('notPermitted')
}

/** Hides from applications and developers which application a transfer goes to. */
function shownTo(caller: Caller, act: ActRecord): ActRecord {
  const isPlatform = caller.kind === 'operator' && caller.applications === null
  return isPlatform ? act : { ...act, targetAppId: null }
}

/** The act as the audit trail shows it. The trail is kept for long, so it holds no values that can be personal data. */
function forTrail(act: ActRecord): object {
  const filter = 'contacts' in act.filter ? { ...act.filter, contacts: '…' } : act.filter
  return { ...act, filter, set: act.set && Object.keys(act.set) }
}

function rowsChanged(rows: number): Refusal {
  const reason = {
    en: `is not the number of rows that match now, which is ${rows}`,
    zh: `与现在符合条件的行数不符：${rows}`,
  }
  return new Refusal('rowsChanged', { errors: [{ field: 'expectedRows', reason }] })
}
