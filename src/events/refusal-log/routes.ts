import { type Handler, read } from '../../http/handler.ts'
import { preferredLanguage } from '../../http/language.ts'
import type { ReadTimeRange, ShowMoment } from '../../vocabulary/moments.ts'
import { pageRefusals } from './contract.ts'
import { refusalPages } from './pages.ts'

interface Parts {
  showMoment: ShowMoment
  readTimeRange: ReadTimeRange
}

export function refusalRoutes(parts: Parts): Handler[] {
  const readPage = refusalPages(parts)
  return [
    read(pageRefusals, ({ sql, caller, query, header }) =>
      readPage(sql, caller, query, preferredLanguage(header('accept-language'))),
    ),
  ]
}
