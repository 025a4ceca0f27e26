import type { Statements } from '../../database/open.ts'

/** Removes, at most `limit`, tickets that no process would open any more, whatever its clock. */
export async function deleteUsedTickets(sql: Statements, limit: number): Promise<number> {
  const deleted = await sql`
    delete from used_ticket where ticket_hash in (
      select ticket_hash from used_ticket where expires_at < now() - interval '1 hour' limit ${limit})`
  return deleted.count
}
