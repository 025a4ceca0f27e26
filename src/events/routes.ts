import { requireApplicationOf } from '../callers/permissions.ts'
import { type Handler, read } from '../http/serve.ts'
import type { ReadTimeRange, ShowMoment } from '../moments.ts'
import { given } from '../values.ts'
import { pageAudit, pageEvents } from './contract.ts'
import { pageOfAudit, pageOfEvents } from './store.ts'

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
        type: given(query.type),
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

    read(pageAudit, ({ sql, query }) =>
      pageOfAudit(
        sql,
        {
          ...query,
          appId: given(query.appId),
          actor: given(query.actor),
          actorId: given(query.actorId),
          type: given(query.type),
          subject: given(query.subject),
          beforeId: given(query.beforeId),
          time: readTimeRange(query),
        },
        showMoment,
      ),
    ),
  ]
}
