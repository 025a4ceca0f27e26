import { createRequire } from 'node:module'
import { endedRegions } from './ended.ts'

export interface BuiltInRegion {
  name: string
  isEnded: boolean
}

/** The built-in table knows the ministry's changes up to this day. */
export const tableDate = '2025-12-31'

// The package's own entry point loads helpers and a second copy of the table.
const tableOf2024: readonly { code: string; name: string }[] = createRequire(import.meta.url)('lcn/data/data.json')

/** After the package's table, which is of the end of 2024. */
const changesOf2025 = { created: { 500157: '两江新区' }, ended: ['500105', '500112'] }

/** By 6-digit codes, from provinces to districts, with regions that have ended. */
export const builtInRegions: ReadonlyMap<string, BuiltInRegion> = new Map([
  ...endedRegions
    .trim()
    .split(/\s/)
    .map((line) => [line.slice(0, 6), { name: line.slice(6), isEnded: true }] as const),
  ...tableOf2024.map(({ code, name }) => [code, { name, isEnded: changesOf2025.ended.includes(code) }] as const),
  ...Object.entries(changesOf2025.created).map(([code, name]) => [code, { name, isEnded: false }] as const),
])
