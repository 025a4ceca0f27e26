import type { Row } from 'postgres'
import type { Sql, Statements } from '../../database/open.ts'
import { byId, type PageQuery, readPage } from '../../database/page.ts'
import { limits } from '../../vocabulary/limits.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { invalidField, Refusal } from '../../vocabulary/refusals.ts'
import { lengths } from '../../vocabulary/values.ts'
import { lockAccount } from '../second-factor/store.ts'
import { pageViews, type ViewedPage, type ViewRecord } from './contract.ts'

type View = Pick<ViewRecord, 'page' | 'name' | 'query' | 'columns'>

const columnsSql = 'id, page, name, query, columns, created_at'

function toView({ id, page, name, query, columns, created_at }: Row): ViewRecord {
  return { id, page, name, query, columns, createTime: showMoment(created_at) }
}

/** By ID or by name. Throws 10070, 10071, and 10001 for one too many. */
export async function saveView(
  tx: Statements,
  operatorId: number,
  id: number | null,
  { page, name, query, columns }: View,
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
  return toView(row)
}

async function insertView(tx: Statements, operatorId: number, { page, name, query, columns }: View): Promise<Row[]> {
  const [kept] = await tx<[{ count: number }]>`
    select count(*)::int as count from saved_view where operator_id = ${operatorId}`
  if (kept.count >= limits.viewsOfOne) {
    const en = `an account can have up to ${limits.viewsOfOne} views; delete one first`
    throw invalidField('name', en, `每个账号最多 ${limits.viewsOfOne} 个视图：请先删除一个`)
  }
  return tx`
    insert into saved_view (operator_id, page, name, query, columns, created_at)
    values (${operatorId}, ${page}, ${name}, ${query}, ${columns}, now()) returning ${tx.unsafe(columnsSql)}`
}

/** Both accounts must be locked. A name taken on its list gets a number. Throws 10001 for too many views. */
export async function handOverViews(
  tx: Statements,
  from: number,
  to: number,
): Promise<Pick<ViewRecord, 'id' | 'page' | 'name'>[]> {
  const rows = await tx`
    select id, page, name, operator_id from saved_view where operator_id in ${tx([from, to])} order by id`
  const left = rows.filter((row) => row.operator_id === from)
  if (left.length === 0) return []
  if (rows.length > limits.viewsOfOne) {
    throw invalidField(
      'handOverTo',
      `the account would have ${rows.length} views, but the limit is ${limits.viewsOfOne}; choose another account`,
      `该账号将有 ${rows.length} 个视图，超过上限 ${limits.viewsOfOne} 个：请选择其他账号`,
    )
  }
  const taken = new Set<string>()
  const clashing = new Set<string>()
  for (const { page, name } of rows) (taken.has(`${page} ${name}`) ? clashing : taken).add(`${page} ${name}`)
  const views = left.map(({ id, page, name: former }) => {
    if (!clashing.has(`${page} ${former}`)) return { id, page, name: former }
    const name = freeName(former, (free) => taken.has(`${page} ${free}`))
    taken.add(`${page} ${name}`)
    return { id, page, name }
  })
  await tx`
    update saved_view set operator_id = ${to}, name = given.name
    from json_to_recordset(${JSON.stringify(views)}::text::json) as given (id bigint, name text)
    where saved_view.id = given.id`
  return views
}

function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name
  for (let number = 2; isTaken(free); number++) {
    const suffix = ` (${number})`
    free = [...name].slice(0, lengths.name - suffix.length).join('') + suffix
  }
  return free
}

export async function deleteView(sql: Statements, operatorId: number, id: number): Promise<ViewRecord> {
  const [row] = await sql`
    delete from saved_view where operator_id = ${operatorId} and id = ${id} returning ${sql.unsafe(columnsSql)}`
  if (row === undefined) throw new Refusal('viewNotFound')
  return toView(row)
}

export function pageOfViews(sql: Sql, operatorId: number, page: ViewedPage | null, query: PageQuery) {
  const rows = sql`
    select ${sql.unsafe(columnsSql)} from saved_view
    where operator_id = ${operatorId} ${page === null ? sql`` : sql`and page = ${page}`}`
  const source = { operation: pageViews.id, rows, key: byId, newestFirst: true }
  const filter = { ...query, operatorId, page }
  return readPage(sql, source, filter, (row) => toView(row))
}
