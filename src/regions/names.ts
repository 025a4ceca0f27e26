import { RegionTable, type SavedRegion } from './table.ts'

// One table in each process: every record that shows the name of a code reads it, and nothing waits for it.
let table = new RegionTable([])

export const regionTable = () => table

export function replaceSavedRegions(saved: readonly SavedRegion[]): void {
  table = new RegionTable(saved)
}

export function divisionName(code: string): string | null {
  return table.nameOf(code)
}
