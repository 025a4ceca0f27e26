import type { Static } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import { requireApplicationOf } from '../callers/permissions.ts'
import type { Sql } from '../database/open.ts'
import type { PageQuery } from '../database/page.ts'
import { eventTypes } from '../vocabulary/event-types.ts'
import { readFilters } from '../vocabulary/filters.ts'
import { given } from '../vocabulary/values.ts'
import { auditTypes, pageAudit, pageEvents } from './contract.ts'
import { readTypes } from './rules.ts'
import { pageOfAudit, pageOfEvents } from './store.ts'

export async function readEventPage(
  sql: Sql,
  caller: Caller,
  query: Static<NonNullable<typeof pageEvents.query>> & PageQuery,
) {
  const appId = await requireApplicationOf(sql, caller, query.appId)
  const { type, ...filters } = readFilters(pageEvents.query, query)
  const types = readTypes(type, eventTypes)
  return pageOfEvents(sql, { ...query, ...filters, types, appId, newestFirst: query.order === 'desc' })
}

/** Reads a page of the audit log, which is the same for all readers. */
export async function readAuditPage(
  sql: Sql,
  _: Caller,
  query: Static<NonNullable<typeof pageAudit.query>> & PageQuery,
) {
  const { type, ...filters } = readFilters(pageAudit.query, query)
  const types = readTypes(type, auditTypes)
  return pageOfAudit(sql, { ...query, ...filters, types, appId: given(query.appId) })
}
