import type { Static } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import { requireApplicationsOf } from '../callers/permissions.ts'
import type { Config } from '../config.ts'
import type { Sql } from '../database/open.ts'
import type { PageQuery } from '../database/page.ts'
import { readTypes } from '../events/rules.ts'
import { readFilters } from '../vocabulary/filters.ts'
import { deliveryTypes, pageDeliveries } from './contract.ts'
import { askedStatuses } from './rules.ts'
import { pageOfDeliveries } from './store.ts'

/** The function returns a page, and the applications that it covers. */
export function deliveryPages({ callbacks }: Pick<Config, 'callbacks'>) {
  return async (
    sql: Sql,
    caller: Caller,
    { appId, ...query }: Static<NonNullable<typeof pageDeliveries.query>> & PageQuery,
  ) => {
    const appIds = await requireApplicationsOf(sql, caller, appId)
    const { type, eventId, time } = readFilters(pageDeliveries.query, query)
    const types = readTypes(type, deliveryTypes)
    const filter = { ...query, appIds, statuses: askedStatuses(query), types, eventId, time }
    return { appIds, page: await pageOfDeliveries(sql, filter, callbacks === 'paused') }
  }
}
