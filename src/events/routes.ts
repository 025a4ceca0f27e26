import { requireApplicationOf } from '../callers/permissions.ts'
import { type Handler, read } from '../http/serve.ts'
import type { ReadTimeRange, ShowMoment } from '../moments.ts'
import { given } from '../values.ts'
import { auditTypes, eventTypes, getEvent, pageAudit, pageEvents } from './contract.ts'
import { readTypes } from './rules.ts'
import { pageOfAudit, pageOfEvents, requireEvent } from './store.ts'

interface Parts {
  showMoment: ShowMoment
  readTimeRange: ReadTimeRange
}

export function eventRoutes({ showMoment, readTimeRange }: Parts): Handler[] {
  return [
    read(pageEvents, async ({ sql, caller, query }) => {
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
    }),

    read(getEvent, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      return requireEvent(sql, appId, query.id, showMoment)
    }),

    read(pageAudit, ({ sql, query }) =>
      pageOfAudit(
        sql,
        {
          ...query,
          appId: given(query.appId),
          actor: given(query.actor),
          actorId: given(query.actorId),
          types: readTypes(query.type, auditTypes),
          subject: given(query.subject),
          beforeId: given(query.beforeId),
          time: readTimeRange(query),
        },
        showMoment,
      ),
    ),
  ]
}
