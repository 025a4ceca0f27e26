import type { Caller } from '../../callers/caller.ts'
import type { RowKey } from '../../database/matches.ts'
import type { Statements } from '../../database/open.ts'
import { jobStatus } from '../jobs/contract.ts'
import { beginJob, beginnerColumnsSql, beginnerValues, endOfRecord, type Job, type JobFamily } from '../jobs/store.ts'
import { type ActKind, type ActName, type ActRecord, pageActs } from './contract.ts'
import type { GivenAct } from './rules.ts'

export const acts: JobFamily<ActRecord> = {
  isOneSql: 'act is not null',
  columnsSql: 'act, filter, changes, target_app_id, reason, updated, existing',
  page: pageActs.id,
  notFound: 'importNotFound',
  toRecord: (row) => ({
    id: row.id,
    appId: row.app_id,
    kind: row.kind,
    act: row.act,
    filter: JSON.parse(row.filter),
    set: row.changes && JSON.parse(row.changes),
    targetAppId: row.target_app_id,
    reason: row.reason,
    dryRun: row.is_dry_run,
    status: row.status,
    rows: row.rows,
    done: row.updated,
    unchanged: row.existing,
    refused: row.refused,
    ...endOfRecord(row),
  }),
}

export interface NewAct extends GivenAct {
  appId: string
  rows: number
  beganAfter: number
  actor: string
  caller: Caller
}

/** Inserts a waiting bulk action. Throws 70003 while another job of the application runs. */
export async function insertAct(tx: Statements, act: NewAct): Promise<ActRecord> {
  const { appId, kind, filter, changes, targetAppId, reason, rows, beganAfter } = act
  const beginner = beginnerValues(tx, act.caller, act.actor)
  const begun = await beginJob(
    acts,
    (columnsSql) => tx`
      insert into import (app_id, kind, act, filter, changes, target_app_id, reason, rows, began_after, is_dry_run, status,
        ${tx.unsafe(beginnerColumnsSql)})
      select ${appId}, ${kind}, ${act.act}, ${JSON.stringify(filter)}, ${changes && JSON.stringify(changes)},
        ${targetAppId}, ${reason}, ${rows}::bigint, ${beganAfter}::bigint, false,
        ${jobStatus.waiting}::smallint, ${beginner.values}
      from ${beginner.from}
      returning ${tx.unsafe(columnsSql)}`,
  )
  return begun as ActRecord
}

/** Returns the application's latest event id. A record created later has an event with a higher one. */
export async function readNewestEventId(sql: Statements, appId: string): Promise<number> {
  const [row] = await sql`select last_event_id as id from event_head where app_id = ${appId}`
  return row?.id ?? 0
}

export interface ActJob {
  appId: string
  kind: ActKind
  act: ActName
  filter: Record<string, unknown>
  changes: Record<string, unknown>
  targetAppId: string | null
  reason: string | null
  beganAfter: number
  /** The key of the last row processed; null before the first. */
  position: RowKey | null
}

export const actOf = ({ row }: Job): ActJob => ({
  appId: row.app_id,
  kind: row.kind,
  act: row.act,
  filter: JSON.parse(row.filter),
  changes: row.changes === null ? {} : JSON.parse(row.changes),
  targetAppId: row.target_app_id,
  reason: row.reason,
  beganAfter: row.began_after,
  position: row.position === null ? null : JSON.parse(row.position),
})
