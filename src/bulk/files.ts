import gcoordModule from 'gcoord'
import type { Config } from '../config.ts'
import { readCoordinates } from '../vocabulary/coordinates.ts'
import { isShifted } from '../vocabulary/shifted-area.ts'
import { type ExportFormat, type ExportKind, exportColumns } from './contract.ts'
import { byteOrderMark, csvLine } from './csv.ts'

type Record = { [member: string]: unknown }

export interface FileWriter {
  head: string
  rows(records: readonly Record[], isFirst: boolean): string
  tail: string
}

export function fileWriter(kind: ExportKind, format: ExportFormat, coordinates: Config['coordinates']): FileWriter {
  if (format === 'csv') return csvWriter(exportColumns(kind))
  if (format === 'ndjson') {
    return { head: '', rows: (records) => records.map((record) => `${JSON.stringify(record)}\n`).join(''), tail: '' }
  }
  return {
    head: '{"type":"FeatureCollection","features":[\n',
    rows(records, isFirst) {
      const features = records.map((record) => JSON.stringify(featureOf(record, coordinates)))
      return features.length === 0 ? '' : `${isFirst ? '' : ',\n'}${features.join(',\n')}`
    },
    tail: '\n]}\n',
  }
}

function csvWriter(columns: ReturnType<typeof exportColumns>): FileWriter {
  const memberOf = (record: Record, path: readonly string[]) =>
    path.reduce<unknown>((value, member) => (value as Record | null)?.[member], record)
  return {
    head: `${byteOrderMark}${csvLine(columns.map(({ name }) => name))}`,
    rows: (records) => records.map((record) => csvLine(columns.map(({ path }) => memberOf(record, path)))).join(''),
    tail: '',
  }
}

// The package's types describe an ES module, but Node and Bun load CommonJS.
const gcoord = gcoordModule as unknown as typeof gcoordModule.default

const systems = { gcj02: gcoord.GCJ02, bd09: gcoord.BD09, wgs84: gcoord.WGS84 }
/** Rounds to a decimetre. */
const decimals = 1e6

/** Makes a point in WGS 84 (RFC 7946 §4). `coordinates` stay as sent, under one name for both kinds. */
function featureOf(record: Record, system: Config['coordinates']) {
  const { coordinates } = ((record.deviceBattery as Record | undefined) ?? record) as { coordinates: string | null }
  const { longitude, latitude } = readCoordinates(coordinates)
  const rounded = (degrees: number) => Math.round(degrees * decimals) / decimals
  const isConverted = (at: [number, number]) => system !== 'wgs84' && isShifted(...at)
  const point = (at: [number, number]) =>
    (isConverted(at) ? gcoord.transform(at, systems[system], gcoord.WGS84) : at).map(rounded)
  const geometry =
    longitude === null || latitude === null ? null : { type: 'Point', coordinates: point([longitude, latitude]) }
  return { type: 'Feature', geometry, properties: { ...record, coordinates } }
}
