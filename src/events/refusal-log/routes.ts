import { type Handler, read } from '../../http/handler.ts'
import { preferredLanguage } from '../../http/language.ts'
import { pageRefusals } from './contract.ts'
import { readRefusalPage } from './pages.ts'

export function refusalRoutes(): Handler[] {
  return [
    read(pageRefusals, ({ sql, caller, query, header }) =>
      readRefusalPage(sql, caller, query, preferredLanguage(header('accept-language'))),
    ),
  ]
}
