import { useState } from 'react'
import { createExport, type ExportFormat, type ExportKind } from '../../../../src/bulk/contract.ts'
import { getSettings } from '../../../../src/people/sessions/contract.ts'
import { call } from '../../api/api.ts'
import { defineTexts } from '../../language/index.ts'
import { RefusalAlert } from '../page/refusal-alert.tsx'
import { grouped } from '../text/number.ts'

const useTexts = defineTexts({
  all: ['{{total}} rows match the filters.', '符合筛选条件的全部数据：{{total}} 行'],
  many: [
    'More than {{total}} rows match the filters. The file may be large.',
    '符合筛选条件的全部数据，超过 {{total}} 行，文件可能很大。',
  ],
  csv: ['CSV (for spreadsheets)', 'CSV（用于电子表格）'],
  ndjson: ['NDJSON (for programs)', 'NDJSON（用于程序）'],
  geojson: ['GeoJSON (for maps, WGS 84)', 'GeoJSON（用于地图，WGS 84）'],
})

interface ExportsProps {
  kind: ExportKind
  /** The current filters. Empty ones are not sent. */
  filters: Record<string, unknown>
  page: { total: number; totalIsExact: boolean }
}

/** Exports all rows of a filtered list as a file: a plain download, authenticated by the session's cookie. */
export function Exports({ kind, filters, page: { total, totalIsExact } }: ExportsProps) {
  const t = useTexts()
  const [error, setError] = useState<Error>()
  const hasPlaces = kind === 'sites' || kind === 'devices'
  const formats: ExportFormat[] = ['csv', 'ndjson', ...(hasPlaces ? ['geojson' as const] : [])]
  const given = Object.entries(filters).filter(([, value]) => value !== '' && value != null)
  function addressOf(format: ExportFormat): string {
    const query = new URLSearchParams({ kind, format })
    for (const [name, value] of given) query.append(name, String(value))
    return `${createExport.path}?${query}`
  }
  // The browser would only say that the download has failed. If the session has ended, the sign-in opens instead.
  async function start(event: React.MouseEvent<HTMLAnchorElement>): Promise<void> {
    const { href, download } = event.currentTarget
    event.preventDefault()
    try {
      await call(getSettings, {})
      Object.assign(document.createElement('a'), { href, download }).click()
    } catch (refusal) {
      setError(refusal as Error)
    }
  }
  return (
    <div className="exports">
      <RefusalAlert error={error} />
      <span className="faint">{t(totalIsExact ? 'all' : 'many', { total: grouped(total) })}</span>
      {formats.map((format) => (
        <a key={format} href={addressOf(format)} download={`${kind}.${format}`} onClick={(event) => void start(event)}>
          {t(format)}
        </a>
      ))}
    </div>
  )
}
