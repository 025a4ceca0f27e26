import type { Sql } from '../src/database/open.ts'
import type { readByIndexOrder } from '../src/database/page.ts'
import { transaction } from '../src/database/transaction.ts'
import type { Statement } from '../src/devices/paging/statements.ts'

// The plans of statements about devices, as PostgreSQL carries them out.

export interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

function nodes(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodes)]
}

function literal(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return `'${(value instanceof Date ? value.toISOString() : String(value)).replaceAll("'", "''")}'`
}

/** The plan of a statement for its actual parameters; the service also lets PostgreSQL plan it anew each time. */
export async function planOf(
  sql: Sql,
  { text, values }: Statement,
  within: typeof readByIndexOrder = transaction,
): Promise<PlanNode[]> {
  return (await within(sql, async (tx) => {
    await tx.unsafe('set local plan_cache_mode = force_custom_plan')
    await tx.unsafe(`prepare planned as ${text}`)
    const parameters = values.length === 0 ? '' : `(${values.map(literal).join(', ')})`
    const [row] = await tx.unsafe(`explain (analyze, format json) execute planned ${parameters}`)
    await tx.unsafe('deallocate planned')
    return nodes(row?.['QUERY PLAN'][0].Plan)
  })) as PlanNode[]
}

/** The scans of the device table in a plan: the kind of each scan and its index. */
export function scansOf(planned: PlanNode[]): string[] {
  const scans = planned.filter((node) => node['Relation Name'] === 'device')
  return [...new Set(scans.map((node) => [node['Node Type'], node['Index Name'] ?? 'none'].join(' by ')))].sort()
}

/** The number of rows that a plan's scans of the device table have read. */
export function rowsRead(planned: PlanNode[]): number {
  return planned
    .filter((node) => node['Relation Name'] === 'device')
    .map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'])
    .reduce((sum, rows) => sum + rows, 0)
}
