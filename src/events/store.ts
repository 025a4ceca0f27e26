import type { Row } from 'postgres'
import { drawEventIds, lockApplication, lowestEventId } from '../database/application-lock.ts'
import { noteEvents } from '../database/commits.ts'
import type { Sql, Statements } from '../database/open.ts'
import { byId, type PageKey, type PageQuery, readPage } from '../database/page.ts'
import { recordsOf, textArray } from '../database/routine.ts'
import { ownerOf, spendEvent } from '../database/usage.ts'
import { type EventType, eventTypes, type PlatformEventType, platformTypesNaming } from '../vocabulary/event-types.ts'
import type { Filters } from '../vocabulary/filters.ts'
import { groupBy } from '../vocabulary/group-by.ts'
import { showMoment, type TimeRange } from '../vocabulary/moments.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { type AuditRecord, auditTypes, type EventRecord, pageAudit, pageEvents, typesOf } from './contract.ts'
import { eventsAfterSql, historyOfSql, historySql, readData, stateType } from './history/store.ts'
import { readActor } from './rules.ts'

export interface NewEvent {
  appId: string
  type: EventType
  /** It is now by default. */
  time?: Date
  actor: string
  /** It is a serial number or an ID; null for the application. */
  subject: string | number | null
  /** The record as its operation returns it, without secrets. */
  data: object
}

/** Writes an event in its change's transaction. Needs the application's lock. */
export async function insertEvent(tx: Statements, event: NewEvent): Promise<void> {
  await insertNumbered(tx, event)
}

/** An event whose data is already JSON. */
export type NewEventText = Pick<NewEvent, 'appId' | 'type' | 'actor'> & { subject: string; record: string }

/** Writes events in order, in their changes' transaction. Needs the applications' locks. */
export async function insertEventTexts(tx: Statements, events: readonly NewEventText[], time: Date): Promise<void> {
  const own = groupBy(events, ({ appId }) => appId)
  await Promise.all([...own].map(([appId, its]) => insertEventsOf(tx, appId, its, time)))
  noteEvents(tx, own.keys())
}

async function insertEventsOf(tx: Statements, appId: string, events: readonly NewEventText[], time: Date) {
  const listed = (member: 'type' | 'actor' | 'subject') => textArray(events.map((event) => event[member]))
  await Promise.all([
    drawEventIds(tx, appId, time, events.length),
    tx.unsafe(
      `insert into event (app_id, id, type, time, actor, subject, data)
      select h.app_id, h.last_event_id - $2::bigint + i.n, i.type, $3::timestamptz, i.actor, i.subject, i.data
      from event_head h,
        unnest($4::text[], $5::text[], $6::text[], ${recordsOf('$7')}) with ordinality as i (type, actor, subject, data, n)
      where h.app_id = $1`,
      [
        appId,
        events.length,
        time.toISOString(),
        ...[listed('type'), listed('actor'), listed('subject')],
        events.map(({ record }) => record).join('\n'),
      ],
      { prepare: true },
    ),
  ])
}

/** Writes events of one application, as `insertEventTexts` does. */
export function insertEvents(
  tx: Statements,
  appId: string,
  events: readonly (Pick<NewEvent, 'type' | 'actor' | 'data'> & { subject: string })[],
  time = new Date(),
): Promise<void> {
  const texts = events.map(({ data, ...event }) => ({ ...event, appId, record: JSON.stringify(data) }))
  return insertEventTexts(tx, texts, time)
}

/** Events of no application have an empty application ID. */
const platformLog = ''

export type NewPlatformEvent = Omit<NewEvent, 'appId' | 'type'> & {
  type: PlatformEventType
  address?: string | undefined
}

/** Events that end something or renew a secret have a second allowance (`spendEvent`). */
const ends: ReadonlySet<PlatformEventType> = new Set<PlatformEventType>([
  ...(['import.cancelled', 'act.cancelled', 'session.ended'] as const),
  ...(['application.secretRotated', 'application.previousSecretEnded', 'thirdPartyConfig.secretRotated'] as const),
  ...(['operator.deleted', 'operator.reset', 'operator.updated', 'operator.passwordChanged'] as const),
  ...(['operatorKey.deleted', 'secondFactor.removed', 'secondFactor.reset'] as const),
])

/** Writes a platform event and locks the platform's log. Throws 10007 past the actor's daily limit. */
export async function insertPlatformEvent(
  tx: Statements,
  event: NewPlatformEvent,
  isEnd = ends.has(event.type),
): Promise<void> {
  await lockApplication(tx, platformLog)
  const owner = ownerOf(event.actor)
  if (owner !== undefined) {
    await spendEvent(tx, owner, { bytes: JSON.stringify(event.data).length, isEnd })
  }
  await insertNumbered(tx, { appId: platformLog, ...event })
}

async function insertNumbered(
  tx: Statements,
  event: Omit<NewPlatformEvent, 'type'> & { appId: string; type: EventType | PlatformEventType },
): Promise<void> {
  const { appId, type, time = new Date(), actor, subject, address = null, data } = event
  const id = await drawEventIds(tx, appId, time)
  await tx`
    insert into event (app_id, id, type, time, actor, subject, address, data)
    values (${appId}, ${id}, ${type}, ${time}, ${actor}, ${subject === null ? null : String(subject)}, ${address},
      ${JSON.stringify(data)})`
  if (appId !== platformLog) noteEvents(tx, [appId])
}

export type EventFilter = Omit<Filters<typeof pageEvents.query>, 'type'> &
  PageQuery & { appId: string; types: readonly string[] | null; newestFirst: boolean }

/** Reads a page of events. Ids become visible in order, because writers hold the application's lock. */
export async function pageOfEvents(sql: Sql, filter: EventFilter) {
  const { appId, types, afterId, beforeId, time } = filter
  const hasSubject = [filter.deviceNo, filter.siteId, filter.billingRuleId].some((subject) => subject !== null)
  const conditions = [
    afterId === null ? sql`` : sql`and id > ${afterId}`,
    beforeId === null ? sql`` : sql`and id < ${beforeId}`,
    types === null ? sql`` : sql`and ${typeOf(sql, hasSubject)} in ${sql(types)}`,
    ...(await eventTimeConditions(sql, [appId], 'time', time)),
    about(sql, 'device', filter.deviceNo),
    about(sql, 'site', filter.siteId),
    about(sql, 'billingRule', filter.billingRuleId),
  ]
  const history = sql.unsafe(historyOfSql(askedTypes(filter)))
  const rows = sql`select ${sql.unsafe(eventColumnsSql)} from ${history} where app_id = ${appId} ${conditions}`
  return readPage(sql, { operation: pageEvents.id, rows, key: byId, newestFirst: filter.newestFirst }, filter, (row) =>
    toEvent(row),
  )
}

const eventColumnsSql = 'id, type, app_id, time, actor, subject, data'

function toEvent(row: Row): EventRecord {
  return {
    id: row.id,
    type: row.type,
    appId: row.app_id,
    time: showMoment(row.time),
    occurredAt: row.time.toISOString(),
    actor: readActor(row.actor).actor,
    data: readData(row),
  }
}

/** Returns an application's first events after an ID, in order, each with its subject. */
export async function eventsAfter(sql: Sql, appId: string, afterId: number, limit: number) {
  const rows = await sql.unsafe(
    `select ${eventColumnsSql}, subject from ${eventsAfterSql('$1', '$2', '$3')} order by id`,
    [appId, afterId, limit],
    { prepare: true },
  )
  return rows.map((row) => ({ event: toEvent(row), subject: row.subject as string | null }))
}

/** Returns each application's last event ID. Every event up to it is committed. */
export async function lastEventIds(sql: Sql, appIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await sql.unsafe(
    'select app_id, last_event_id from event_head where app_id = any ($1::text[])',
    [textArray(appIds)],
    { prepare: true },
  )
  return new Map(rows.map((row) => [row.app_id, row.last_event_id]))
}

/** Returns an application's event. Throws 60002. */
export async function requireEvent(sql: Sql, appId: string, id: number): Promise<EventRecord> {
  const [row] = await sql`
    select ${sql.unsafe(eventColumnsSql)} from ${sql.unsafe(historySql)} where app_id = ${appId} and id = ${id}`
  if (row === undefined) throw new Refusal('eventNotFound')
  return toEvent(row)
}

export type AuditFilter = Omit<Filters<typeof pageAudit.query>, 'type'> &
  PageQuery & { appId: string | null; types: readonly string[] | null }

/** An ID is unique only within an application. */
const byIdInAnyLog: PageKey = [...byId, { column: 'app_id', type: 'text' }]

/** Reads a page of the audit log, by its own index `event_of_audit`. */
export function pageOfAudit(sql: Sql, filter: AuditFilter) {
  const { appId, actor, actorId, types, subject, beforeId, time } = filter
  const conditions = [
    // The platform's log holds what operators did to the application.
    appId === null
      ? sql``
      : sql`and (app_id = ${appId} or app_id = '' and type in ${sql(namedBySubject)} and subject = ${appId}
          or app_id = '' and type in ${sql(namedByData)} and data like ${namedInData(appId)})`,
    actor === null ? sql`` : sql`and starts_with(actor, ${actor})`,
    actorId === null ? sql`` : sql`and actor ~ ${`^operator.*#${actorId}$`}`,
    types === null ? sql`` : sql`and type in ${sql(types)}`,
    subject === null ? sql`` : sql`and subject = ${subject}`,
    beforeId === null ? sql`` : sql`and id < ${beforeId}`,
    time.from === null ? sql`` : sql`and time >= ${time.from}`,
    time.before === null ? sql`` : sql`and time < ${time.before}`,
  ]
  const rows = sql`
    select id, type, app_id, time, actor, subject, address, data from ${sql.unsafe(historyOfSql(types))}
    where (app_id = '' or starts_with(actor, 'operator') or type = 'priceChange.applied') ${conditions}`
  const source = { operation: pageAudit.id, rows, key: byIdInAnyLog, newestFirst: true }
  return readPage(sql, source, filter, (row): AuditRecord => toAudit(row))
}

/** Matches stored JSON that names the application. Within its texts, quotes are escaped. */
const namedInData = (appId: string) => `%"appId":"${appId.replace(/[\\%_]/g, '\\$&')}"%`

const namedBySubject = platformTypesNaming('subject')
const namedByData = platformTypesNaming('data')

function toAudit(row: Row): AuditRecord {
  const event = toEvent(row)
  const applicationOf = (): string | null => {
    if (row.app_id !== platformLog) return row.app_id
    if (namedBySubject.includes(row.type)) return row.subject
    return namedByData.includes(row.type) ? (event.data as { appId: string | null }).appId : null
  }
  return {
    ...event,
    ...readActor(row.actor),
    appId: applicationOf(),
    subject: row.subject,
    address: row.address,
  }
}

/** Returns the latest audit entries, without state changes, which would hide all others. */
export async function newestEvents(sql: Sql, limit: number): Promise<AuditRecord[]> {
  const types = auditTypes.filter((type) => type !== stateType)
  const all = {
    appId: null,
    actor: null,
    actorId: null,
    subject: null,
    beforeId: null,
    time: { from: null, before: null },
  }
  const page = await pageOfAudit(sql, { ...all, types, pageSize: limit, isUncounted: true })
  return page.list
}

/** Returns the event types that a filter can match; null means all. */
function askedTypes({ types, deviceNo, siteId, billingRuleId }: EventFilter): readonly string[] | null {
  const asked = types ?? eventTypes
  if (deviceNo !== null) return asked.filter((type) => type.startsWith('device.'))
  return siteId === null && billingRuleId === null ? types : asked.filter((type) => !type.startsWith('device.'))
}

function about(sql: Sql, noun: 'device' | 'site' | 'billingRule', subject: string | number | null) {
  if (subject === null) return sql``
  const types = typesOf(noun).map((type) => `'${type}'`)
  const text = String(subject)
  return sql`
    and hashtext(subject) = hashtext(${text}) and subject = ${text}
    and ${typeOf(sql, true)} in (${sql.unsafe(types.join(', '))})`
}

/** SQL: the event type; with a subject as an expression, so that the planner can't choose the index of types. */
const typeOf = (sql: Sql, hasSubject: boolean) => (hasSubject ? sql`type || ''` : sql`type`)

/** Returns conditions on time and on the indexed ids; only one application gets an upper bound of ids. */
export async function eventTimeConditions(
  sql: Sql,
  appIds: readonly string[] | null,
  column: 'time' | 'event_time',
  { from, before }: TimeRange,
) {
  const time = sql.unsafe(column)
  const [appId, ...others] = appIds ?? []
  const hasLast = before !== null && appId !== undefined && others.length === 0
  return [
    from === null ? sql`` : sql`and ${time} >= ${from} and id >= ${lowestEventId(from)}`,
    before === null ? sql`` : sql`and ${time} < ${before}`,
    hasLast ? sql`and id <= ${await idAfterEventsBefore(sql, appId, before)}` : sql``,
  ]
}

/** Ids follow commits, times are set earlier; the two orders differ by up to this. */
const slackMs = 120_000

/**
 * Returns an ID that is larger than those of all events before a time, and near it. The first guess is nearly always
 * right, unless the clock was set back.
 */
export async function idAfterEventsBefore(sql: Sql, appId: string, moment: Date): Promise<number> {
  for (let stepMs = slackMs; ; stepMs *= 4) {
    const guess = lowestEventId(new Date(moment.getTime() + stepMs))
    const [event] = await sql`
      select time from ${sql.unsafe(historySql)} where app_id = ${appId} and id >= ${guess} order by id limit 1`
    if (event === undefined || event.time.getTime() > moment.getTime() + slackMs) return guess
  }
}
