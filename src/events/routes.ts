import { requireApplicationOf } from '../callers/permissions.ts'
import { type Handler, read } from '../http/serve.ts'
import type { ReadMoment, ShowMoment } from '../moments.ts'
import { given } from '../values.ts'
import { pageAudit, pageEvents } from './contract.ts'
import { pageOfAudit, pageOfEvents } from './store.ts'

export function eventRoutes({ showMoment, readMoment }: { showMoment: ShowMoment; readMoment: ReadMoment }): Handler[] {
  function range(query: { timeFrom?: string | null; timeTo?: string | null }) {
    const [timeFrom, timeTo] = [given(query.timeFrom), given(query.timeTo)]
    return {
      timeFrom: timeFrom === null ? null : readMoment(timeFrom),
      // A moment is shown to the second, so the last one counts whole.
      timeTo: timeTo === null ? null : new Date(readMoment(timeTo, 'last').getTime() + 999),
    }
  }

  return [
    read(pageEvents, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      const filter = {
        ...query,
        appId,
        type: given(query.type),
        afterId: given(query.afterId),
        beforeId: given(query.beforeId),
        ...range(query),
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
          ...range(query),
        },
        showMoment,
      ),
    ),
  ]
}
