import { RegionTable, type SavedRegion } from './table.ts'

// A process has one table of regions: every record that shows the name of a code reads it, and nothing waits for it.
let table = new RegionTable([])

export const regionTable = () => table

/** Puts what operators have saved in the place of what they had saved before. */
export function replaceSavedRegions(saved: readonly SavedRegion[]): void {
  table = new RegionTable(saved)
}

/** The name of a 6-digit division code; null for a code that the table does not have. */
export function divisionName(code: string): string | null {
  return table.nameOf(code)
}
