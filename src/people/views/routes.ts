import type { Caller, OperatorCaller } from '../../callers/caller.ts'
import type { Sql } from '../../database/open.ts'
import { type Handler, handle, read } from '../../http/handler.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { deleteView, pageViews, saveView } from './contract.ts'
import * as store from './store.ts'

/** Throws 10003 for a key, which has no account. */
function accountOf(caller: Caller): number {
  const { operatorId } = caller as OperatorCaller
  if (operatorId === null) throw new Refusal('notPermitted')
  return operatorId
}

/** Admins read those of any account. Throws 10003. */
function readableAccount(caller: Caller, asked: number | null): number {
  if (asked !== null && (caller as OperatorCaller).role === 'admin') return asked
  const own = accountOf(caller)
  if (asked !== null && asked !== own) throw new Refusal('notPermitted')
  return own
}

export function viewRoutes({ sql }: { sql: Sql }): Handler[] {
  return [
    handle(saveView, async ({ caller, body, pending }) => {
      const operatorId = accountOf(caller)
      const view = { page: body.page, name: body.name, query: given(body.query), columns: given(body.columns) }
      return pending.transaction(sql, (tx) => store.saveView(tx, operatorId, given(body.id), view))
    }),

    read(pageViews, async ({ sql, caller, query: { page, operatorId, ...query } }) =>
      store.pageOfViews(sql, readableAccount(caller, given(operatorId)), given(page), query),
    ),

    handle(deleteView, async ({ caller, body, pending }) => {
      const operatorId = accountOf(caller)
      return pending.transaction(sql, (tx) => store.deleteView(tx, operatorId, body.id))
    }),
  ]
}
