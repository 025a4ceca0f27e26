import { createRequire } from 'node:module'

/** The national division table: 6-digit codes in ascending order, from provinces to districts. */
// The package's own entry point loads helpers and a second copy of the table, which are not needed here.
export const divisions: readonly { code: string; name: string }[] = createRequire(import.meta.url)('lcn/data/data.json')
const namesByCode = new Map(divisions.map(({ code, name }) => [code, name]))

/** The name of a 6-digit national division code; null for a code that the table does not have. */
export function divisionName(code: string): string | null {
  return namesByCode.get(code) ?? null
}
