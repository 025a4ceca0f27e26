import { requireApplicationOf } from '../callers/permissions.ts'
import { type Handler, read } from '../http/handler.ts'
import type { ReadTimeRange, ShowMoment } from '../vocabulary/moments.ts'
import { getEvent, pageAudit, pageEvents } from './contract.ts'
import { auditPages, eventPages } from './pages.ts'
import { requireEvent } from './store.ts'

interface Parts {
  showMoment: ShowMoment
  readTimeRange: ReadTimeRange
}

export function eventRoutes(parts: Parts): Handler[] {
  const { showMoment } = parts
  const readPage = eventPages(parts)
  const readAuditPage = auditPages(parts)

  return [
    read(pageEvents, ({ sql, caller, query }) => readPage(sql, caller, query)),

    read(getEvent, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      return requireEvent(sql, appId, query.id, showMoment)
    }),

    read(pageAudit, ({ sql, caller, query }) => readAuditPage(sql, caller, query)),
  ]
}
