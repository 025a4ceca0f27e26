import { createExport, type ExportFormat, type ExportKind } from '../../../src/bulk/contract.ts'
import { defineTexts } from '../language/index.ts'
import { grouped } from './number.ts'

const useTexts = defineTexts(
  {
    all: 'Rows that fit the filters: {{total}}',
    many: 'All rows that fit the filters. There are more than {{total}}: the file may be large.',
    csv: 'CSV, for a spreadsheet',
    ndjson: 'NDJSON, for programs',
    geojson: 'GeoJSON, for maps (WGS 84)',
  },
  {
    all: '符合筛选条件的全部数据：{{total}} 行',
    many: '符合筛选条件的全部数据，超过 {{total}} 行，文件可能很大。',
    csv: 'CSV（用于电子表格）',
    ndjson: 'NDJSON（用于程序）',
    geojson: 'GeoJSON（用于地图，WGS 84）',
  },
)

interface ExportsProps {
  kind: ExportKind
  /** The current filters. Empty ones are not sent. */
  filters: Record<string, unknown>
  page: { total: number; totalIsExact: boolean }
}

/** Exports all rows of a filtered list as a file: a plain download, authenticated by the session's cookie. */
export function Exports({ kind, filters, page: { total, totalIsExact } }: ExportsProps) {
  const t = useTexts()
  const hasPlaces = kind === 'sites' || kind === 'devices'
  const formats: ExportFormat[] = ['csv', 'ndjson', ...(hasPlaces ? ['geojson' as const] : [])]
  const given = Object.entries(filters).filter(([, value]) => value !== '' && value != null)
  function addressOf(format: ExportFormat): string {
    const query = new URLSearchParams({ kind, format })
    for (const [name, value] of given) query.append(name, String(value))
    return `${createExport.path}?${query}`
  }
  return (
    <div className="exports">
      <span className="faint">{t(totalIsExact ? 'all' : 'many', { total: grouped(total) })}</span>
      {formats.map((format) => (
        <a key={format} href={addressOf(format)} download={`${kind}.${format}`}>
          {t(format)}
        </a>
      ))}
    </div>
  )
}
