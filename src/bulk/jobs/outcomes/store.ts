import type { Statements } from '../../../database/open.ts'
import { columnOf, countColumns, type KeptOutcome, type Outcome, unpackOutcomes } from '../rules.ts'

/** Reads the results in portions; undefined after the last. */
export async function readOutcomes(
  sql: Statements,
  jobId: number,
  after: number,
  outcome: Outcome | null,
): Promise<{ id: number; outcomes: KeptOutcome[] } | undefined> {
  const column = outcome === null ? null : columnOf(outcome)
  const counted = countColumns.map((name) => `when '${name}' then ${name}`).join(' ')
  const [row] = await sql`
    select id, outcomes from import_result where import_id = ${jobId} and id > ${after}
      and (${column}::text is null or case ${column}::text ${sql.unsafe(counted)} end > 0)
    order by id limit 1`
  return row && { id: row.id, outcomes: unpackOutcomes(row.outcomes) }
}

export async function readResultBytes(sql: Statements, jobId: number): Promise<number> {
  const [row] = await sql<[{ bytes: number }]>`
    select coalesce(sum(octet_length(outcomes)), 0)::bigint as bytes from import_result where import_id = ${jobId}`
  return row.bytes
}
