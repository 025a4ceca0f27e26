import type { Static } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import { requireApplicationOf } from '../callers/permissions.ts'
import type { Sql } from '../database/open.ts'
import type { PageQuery } from '../database/page.ts'
import { eventTypes } from '../vocabulary/event-types.ts'
import type { ReadTimeRange, ShowMoment } from '../vocabulary/moments.ts'
import { given } from '../vocabulary/values.ts'
import type { pageEvents } from './contract.ts'
import { readTypes } from './rules.ts'
import { pageOfEvents } from './store.ts'

/** Returns a function that reads a page of an application's events for a caller. */
export function eventPages({ showMoment, readTimeRange }: { showMoment: ShowMoment; readTimeRange: ReadTimeRange }) {
  return async (sql: Sql, caller: Caller, query: Static<NonNullable<typeof pageEvents.query>> & PageQuery) => {
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
    return pageOfEvents(sql, filter, showMoment)
  }
}
