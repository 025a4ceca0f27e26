import type { Statements } from './open.ts'

/** Reads the database's clock, in whole milliseconds: one clock for all processes. */
export async function readClock(sql: Statements): Promise<Date> {
  const [row] = await sql<[{ now: Date }]>`select clock_timestamp() as now`
  return row.now
}
