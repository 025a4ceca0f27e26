import type { Description } from './reference-page.ts'

/** A part of a page, as the search of the documents knows it. */
interface Entry {
  url: string
  page: string
  heading: string
  text: string
}

const methods = ['get', 'post'] as const

/** The parts of a guide: what stands below each heading. */
export function partsOfGuide(url: string, page: string, html: string): Entry[] {
  const parts = html.split(/(?=<h[23] id=")/)
  return parts.map((part) => {
    const [, anchor = '', heading = page] = /^<h[23] id="([^"]*)">(.*?)<\/h[23]>/s.exec(part) ?? []
    return {
      url: anchor === '' ? url : `${url}#${anchor}`,
      page,
      heading: textOf(heading),
      text: textOf(part.replace(/^<h[123][^>]*>.*?<\/h[123]>/s, '')),
    }
  })
}

/** The operations of the reference: what they are called, where they are and what they do. */
export function operationsOf(
  { paths }: Description,
  pageOf: (operationId: string) => { url: string; page: string },
): Entry[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      if (operation === undefined) return []
      const { operationId, summary = '', description = '' } = operation
      const { url, page } = pageOf(operationId)
      const text = `${method.toUpperCase()} ${path} ${operationId} ${description}`
      return [{ url: `${url}#${operationId}`, page, heading: summary, text }]
    }),
  )
}

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }

function textOf(html: string): string {
  const text = html.replace(/<[^>]*>/g, ' ').replace(/&\w+;|&#39;/g, (entity) => entities[entity] ?? entity)
  return text
    .replace(/\s+/g, ' ')
    .replace(/ (?=[,.;:)])/g, '')
    .trim()
}
