import type { Row } from 'postgres'
import type { Sql, Statements } from '../../database/open.ts'
import { byId, type PageQuery, readPage } from '../../database/page.ts'
import { limits } from '../../vocabulary/limits.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { invalidRequest, Refusal } from '../../vocabulary/refusals.ts'
import { lockAccount } from '../second-factor/store.ts'
import { pageViews, type ViewedPage, type ViewRecord } from './contract.ts'

type View = Pick<ViewRecord, 'page' | 'name' | 'query' | 'columns'>

const columnsSql = 'id, page, name, query, columns, created_at'

function toView({ id, page, name, query, columns, created_at }: Row, showMoment: ShowMoment): ViewRecord {
  return { id, page, name, query, columns, createTime: showMoment(created_at) }
}

/** Saves a view of an account, by its id or by its name. Throws 10070, 10071, and 10001 for one too many. */
export async function saveView(
  tx: Statements,
  operatorId: number,
  id: number | null,
  { page, name, query, columns }: View,
  showMoment: ShowMoment,
): Promise<ViewRecord> {
  await lockAccount(tx, operatorId)
  const [known] = await tx`
    select id from saved_view where operator_id = ${operatorId} and page = ${page} and name = ${name}`
  if (id !== null && known !== undefined && known.id !== id) throw new Refusal('viewNameTaken')
  const changed = id ?? known?.id
  const [row] =
    changed === undefined
      ? await insertView(tx, operatorId, { page, name, query, columns })
      : await tx`
        update saved_view set page = ${page}, name = ${name}, query = ${query}, columns = ${columns}
        where operator_id = ${operatorId} and id = ${changed} returning ${tx.unsafe(columnsSql)}`
  if (row === undefined) throw new Refusal('viewNotFound')
  return toView(row, showMoment)
}

async function insertView(tx: Statements, operatorId: number, { page, name, query, columns }: View): Promise<Row[]> {
  const [kept] = await tx<[{ count: number }]>`
    select count(*)::int as count from saved_view where operator_id = ${operatorId}`
  if (kept.count >= limits.viewsOfOne) {
    const reason = {
      en: `an account has at most ${limits.viewsOfOne} views: delete one first`,
      zh: `每个账号最多 ${limits.viewsOfOne} 个视图：请先删除一个`,
    }
    throw invalidRequest([{ field: 'name', reason }])
  }
  return tx`
    insert into saved_view (operator_id, page, name, query, columns, created_at)
    values (${operatorId}, ${page}, ${name}, ${query}, ${columns}, now()) returning ${tx.unsafe(columnsSql)}`
}

/** Throws 10070. */
export async function deleteView(
  sql: Statements,
  operatorId: number,
  id: number,
  showMoment: ShowMoment,
): Promise<ViewRecord> {
  const [row] = await sql`
    delete from saved_view where operator_id = ${operatorId} and id = ${id} returning ${sql.unsafe(columnsSql)}`
  if (row === undefined) throw new Refusal('viewNotFound')
  return toView(row, showMoment)
}

export function pageOfViews(
  sql: Sql,
  operatorId: number,
  page: ViewedPage | null,
  query: PageQuery,
  showMoment: ShowMoment,
) {
  const rows = sql`
    select ${sql.unsafe(columnsSql)} from saved_view
    where operator_id = ${operatorId} ${page === null ? sql`` : sql`and page = ${page}`}`
  const source = { operation: pageViews.id, rows, key: byId, newestFirst: true }
  const filter = { ...query, operatorId, page }
  return readPage(sql, source, filter, (row) => toView(row, showMoment))
}
