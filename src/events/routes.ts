import { requireMeantApplication } from '../applications/store.ts'
import { type Handler, handle } from '../http/serve.ts'
import type { Platform } from '../platform.ts'
import { given } from '../values.ts'
import { type EventType, pageEvents } from './contract.ts'
import { pageOfEvents } from './store.ts'

export function eventRoutes({ sql, showMoment, readMoment }: Platform): Handler[] {
  return [
    handle(pageEvents, async ({ caller, query }) => {
      const appId = await requireMeantApplication(sql, caller, query.appId)
      const [timeFrom, timeTo] = [given(query.timeFrom), given(query.timeTo)]
      const filter = {
        ...query,
        appId,
        type: given(query.type) as EventType | null,
        afterId: given(query.afterId),
        timeFrom: timeFrom === null ? null : readMoment(timeFrom),
        // A moment is shown to the second, so the last one counts whole.
        timeTo: timeTo === null ? null : new Date(readMoment(timeTo, 'last').getTime() + 999),
        deviceNo: given(query.deviceNo),
        siteId: given(query.siteId),
        billingRuleId: given(query.billingRuleId),
        newestFirst: query.order === 'desc',
      }
      return pageOfEvents(sql, filter, showMoment)
    }),
  ]
}
