import { createRequire } from 'node:module'
import { endedRegions } from './ended.ts'

/** A region of the table: in force, or ended. */
export interface BuiltInRegion {
  name: string
  isEnded: boolean
}

/** The day up to which the built-in table knows the ministry's changes. */
export const tableDate = '2025-12-31'

// The package's own entry point loads helpers and a second copy of the table, which are not needed here.
const tableOf2024: readonly { code: string; name: string }[] = createRequire(import.meta.url)('lcn/data/data.json')

/** What the ministry changed after the package's table, which is of the end of 2024. */
const changesOf2025 = { created: { 500157: '两江新区' }, ended: ['500105', '500112'] }

/** The national table by 6-digit codes, from provinces to districts, with regions that have ended. */
export const builtInRegions: ReadonlyMap<string, BuiltInRegion> = new Map([
  ...endedRegions
    .trim()
    .split(/\s/)
    .map((line) => [line.slice(0, 6), { name: line.slice(6), isEnded: true }] as const),
  ...tableOf2024.map(({ code, name }) => [code, { name, isEnded: changesOf2025.ended.includes(code) }] as const),
  ...Object.entries(changesOf2025.created).map(([code, name]) => [code, { name, isEnded: false }] as const),
])
