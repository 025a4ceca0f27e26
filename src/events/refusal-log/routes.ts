import { requireApplicationsOf } from '../../callers/permissions.ts'
import { type Handler, read } from '../../http/handler.ts'
import { preferredLanguage } from '../../http/language.ts'
import type { ReadTimeRange, ShowMoment } from '../../vocabulary/moments.ts'
import { given } from '../../vocabulary/values.ts'
import { pageRefusals } from './contract.ts'
import { pageOfRefusals } from './store.ts'

interface Parts {
  showMoment: ShowMoment
  readTimeRange: ReadTimeRange
}

export function refusalRoutes({ showMoment, readTimeRange }: Parts): Handler[] {
  return [
    read(pageRefusals, async ({ sql, caller, query: { appId, ...query }, header }) => {
      const filter = {
        appIds: await requireApplicationsOf(sql, caller, appId),
        time: readTimeRange(query),
        code: given(query.code),
        operation: given(query.operation),
        deviceNo: given(query.deviceNo),
        subject: given(query.subject),
        requestId: given(query.requestId),
      }
      const language = preferredLanguage(header('accept-language'))
      return pageOfRefusals(sql, filter, query, { showMoment, language })
    }),
  ]
}
