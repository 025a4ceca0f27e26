import { requireApplicationOf } from '../callers/permissions.ts'
import { type Handler, read } from '../http/handler.ts'
import type { ReadTimeRange, ShowMoment } from '../vocabulary/moments.ts'
import { given } from '../vocabulary/values.ts'
import { auditTypes, getEvent, pageAudit, pageEvents } from './contract.ts'
import { eventPages } from './pages.ts'
import { readTypes } from './rules.ts'
import { pageOfAudit, requireEvent } from './store.ts'

interface Parts {
  showMoment: ShowMoment
  readTimeRange: ReadTimeRange
}

export function eventRoutes(parts: Parts): Handler[] {
  const { showMoment, readTimeRange } = parts
  const readPage = eventPages(parts)

  return [
    read(pageEvents, ({ sql, caller, query }) => readPage(sql, caller, query)),

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
