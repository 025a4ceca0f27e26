import type { OperatorCaller } from '../../callers/caller.ts'
import { visibleApplications } from '../../callers/permissions.ts'
import { type Handler, read } from '../../http/handler.ts'
import { search } from './contract.ts'
import { findAnything } from './store.ts'

export function searchRoutes(): Handler[] {
  return [
    read(search, async ({ sql, caller, query: { text } }) => {
      const seesPeople = (caller as OperatorCaller).role === 'admin'
      return { list: await findAnything(sql, text, { appIds: visibleApplications(caller), seesPeople }) }
    }),
  ]
}
