import { requireApplicationOf } from '../callers/permissions.ts'
import { type Handler, read } from '../http/handler.ts'
import { getEvent, pageAudit, pageEvents } from './contract.ts'
import { readAuditPage, readEventPage } from './pages.ts'
import { requireEvent } from './store.ts'

export function eventRoutes(): Handler[] {
  return [
    read(pageEvents, ({ sql, caller, query }) => readEventPage(sql, caller, query)),

    read(getEvent, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      return requireEvent(sql, appId, query.id)
    }),

    read(pageAudit, ({ sql, caller, query }) => readAuditPage(sql, caller, query)),
  ]
}
