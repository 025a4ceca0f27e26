import { lockApplication } from '../../database/application-lock.ts'
import type { Sql, Statements } from '../../database/open.ts'
import { textArray } from '../../database/routine.ts'
import { transaction } from '../../database/transaction.ts'
import { typesOf } from '../contract.ts'
import { insertPlatformEvent } from '../store.ts'
import { withoutPersonalData } from './rules.ts'

/** One transaction erases this many sites. */
const stepSites = 100
const actor = 'operator:command line'

/** A site that was deleted, whose events are still in the log. */
export interface DeletedSite {
  appId: string
  id: string
}

/** Returns the site if the log holds its deletion. */
export async function findDeletedSite(sql: Sql, appId: string, id: number): Promise<DeletedSite | undefined> {
  const [row] = await sql`
    select 1 from event where app_id = ${appId} and type = 'site.deleted'
      and hashtext(subject) = hashtext(${String(id)}) and subject = ${String(id)} limit 1`
  return row && { appId, id: String(id) }
}

/** Finds sites deleted at least `days` ago; `appId: null` means all applications. */
export async function findDeletedSites(sql: Sql, days: number, appId: string | null): Promise<DeletedSite[]> {
  const applications = appId === null ? await sql`select app_id from application order by app_id` : [{ app_id: appId }]
  const found: DeletedSite[] = []
  for (const { app_id } of applications) {
    const rows = await sql`
      select subject from event where app_id = ${app_id} and type = 'site.deleted'
        and time < now() - ${days} * interval '1 day' order by id`
    found.push(...rows.map(({ subject }) => ({ appId: app_id as string, id: subject as string })))
  }
  return found
}

export interface Erasure {
  sites: number
  events: number
}

/**
 * Erases the sites' personal data from the log and from stored responses, and records that in the audit log.
 * `operations` are those whose responses can hold a site. Events without personal data are not counted.
 */
export async function eraseSites(
  sql: Sql,
  sites: readonly DeletedSite[],
  operations: readonly string[],
  isDryRun: boolean,
): Promise<Erasure> {
  const total: Erasure = { sites: 0, events: 0 }
  for (const appId of new Set(sites.map((site) => site.appId))) {
    const ofApplication = sites.filter((site) => site.appId === appId).map(({ id }) => id)
    for (let first = 0; first < ofApplication.length; first += stepSites) {
      const ids = ofApplication.slice(first, first + stepSites)
      const { siteIds, events } = await transaction(sql, (tx) => eraseStep(tx, { appId, ids, operations, isDryRun }))
      total.sites += siteIds.length
      total.events += events
    }
  }
  return total
}

interface Step {
  appId: string
  ids: string[]
  operations: readonly string[]
  isDryRun: boolean
}

async function eraseStep(tx: Statements, { appId, ids, operations, isDryRun }: Step) {
  // Locked before the first read, so that earlier writes are seen.
  await lockApplication(tx, appId)
  const types = typesOf('site')
  const rows = await tx<{ id: number; subject: string; data: string }[]>`
    select id, subject, data from event
    where app_id = ${appId} and type in ${tx(types)} and subject = any(${textArray(ids)}::text[])
      and hashtext(subject) in (select hashtext(i) from unnest(${textArray(ids)}::text[]) as i)`
  const siteIds = new Set<string>()
  let events = 0
  for (const { id, subject, data } of rows) {
    const erased = withoutPersonalData(data)
    if (erased === undefined) continue
    siteIds.add(subject)
    events++
    if (!isDryRun) await tx`update event set data = ${erased} where app_id = ${appId} and id = ${id}`
  }
  if (isDryRun || events === 0) return { siteIds: [...siteIds], events }
  await eraseResponses(tx, appId, ids, operations)
  await insertPlatformEvent(tx, {
    type: 'site.erased',
    actor,
    subject: appId,
    data: { siteIds: [...siteIds].map(Number), events },
  })
  return { siteIds: [...siteIds], events }
}

async function eraseResponses(
  tx: Statements,
  appId: string,
  ids: string[],
  operations: readonly string[],
): Promise<void> {
  const patterns = textArray(ids.map((id) => `%"id":${id},%`))
  const answers = await tx<{ operation: string; key: string; answer: string }[]>`
    select operation, key, answer from idempotency_key
    where app_id = ${appId} and operation = any(${textArray(operations)}::text[]) and answer like any(${patterns}::text[])`
  for (const { operation, key, answer } of answers) {
    const erased = withoutPersonalData(answer)
    if (erased === undefined) continue
    await tx`
      update idempotency_key set answer = ${erased}
      where app_id = ${appId} and operation = ${operation} and key = ${key}`
  }
}
