import type { Static } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import { requireApplicationOf } from '../callers/permissions.ts'
import type { Sql } from '../database/open.ts'
import type { PageQuery } from '../database/page.ts'
import { eventTypes } from '../vocabulary/event-types.ts'
import { readTimeRange } from '../vocabulary/moments.ts'
import { given } from '../vocabulary/values.ts'
import { auditTypes, type pageAudit, type pageEvents } from './contract.ts'
import { readTypes } from './rules.ts'
import { pageOfAudit, pageOfEvents } from './store.ts'

export async function readEventPage(
  sql: Sql,
  caller: Caller,
  query: Static<NonNullable<typeof pageEvents.query>> & PageQuery,
) {
  const appId = await requireApplicationOf(sql, caller, query.appId)
  const filter = {
    ...query,
    appId,
    types: readTypes(query.type, eventTypes),
    afterId: given(query.afterId),
    beforeId: given(query.beforeId),
    time: readTimeRange(query),
    deviceNo: given(query.deviceNo),
    siteId: given(query.siteId),
    billingRuleId: given(query.billingRuleId),
    newestFirst: query.order === 'desc',
  }
  return pageOfEvents(sql, filter)
}

/** Reads a page of the audit log, which is the same for all readers. */
export async function readAuditPage(
  sql: Sql,
  _: Caller,
  query: Static<NonNullable<typeof pageAudit.query>> & PageQuery,
) {
  const filter = {
    ...query,
    appId: given(query.appId),
    actor: given(query.actor),
    actorId: given(query.actorId),
    types: readTypes(query.type, auditTypes),
    subject: given(query.subject),
    beforeId: given(query.beforeId),
    time: readTimeRange(query),
  }
  return pageOfAudit(sql, filter)
}
