import type { Reason } from '../vocabulary/refusals.ts'
import { codesAbove, levelOf, RegionTable, type SavedRegion } from './table.ts'

/** Undefined if the region can be below its parent. Without a parent, the nearest region above counts. */
export function parentReason(
  { code, parentCode }: { code: string; parentCode: string | null },
  table: RegionTable,
): Reason | undefined {
  const above = codesAbove(code)
  if (levelOf(code) === 1) {
    return parentCode === null ? undefined : { en: 'must be null for a province', zh: '省级代码必须为 null' }
  }
  if (parentCode === null && above.some((candidate) => table.nameOf(candidate) !== null)) return undefined
  const codes = { en: above.join(' or '), zh: above.join(' 或 ') }
  if (parentCode !== null && !above.includes(parentCode)) {
    return { en: `must be above the code: ${codes.en}`, zh: `必须是该代码的上级：${codes.zh}` }
  }
  if (parentCode !== null && table.nameOf(parentCode) !== null) return undefined
  return {
    en: `must be a region that exists: save ${codes.en} first`,
    zh: `必须是已有的行政区划：请先保存 ${codes.zh}`,
  }
}

/** Whether a saved region that was below another one `before` no longer is. */
export function losesParent(before: readonly SavedRegion[], saved: readonly SavedRegion[]): boolean {
  const [then, now] = [new RegionTable(before), new RegionTable(saved)]
  const isBelow = (region: SavedRegion, table: RegionTable) => parentReason(region, table) === undefined
  return saved.some((region) => isBelow(region, then) && !isBelow(region, now))
}
