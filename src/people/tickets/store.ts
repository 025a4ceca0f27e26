import { hashSecret } from '../../callers/credentials.ts'
import type { Statements } from '../../database/open.ts'
import type { Ticket } from './tickets.ts'

/** Returns false if it was used before, in any process. */
export async function useOnce(sql: Statements, { id, until }: Pick<Ticket<unknown>, 'id' | 'until'>): Promise<boolean> {
  const noted = await sql`
    insert into used_ticket (ticket_hash, expires_at) values (${hashSecret(id)}, ${until})
    on conflict do nothing`
  return noted.count === 1
}

export async function isUsed(sql: Statements, { id }: Pick<Ticket<unknown>, 'id'>): Promise<boolean> {
  const [row] = await sql`select 1 from used_ticket where ticket_hash = ${hashSecret(id)}`
  return row !== undefined
}

/** At most `limit`, and only those that have expired by the clock of every process. */
export async function deleteUsedTickets(sql: Statements, limit: number): Promise<number> {
  const deleted = await sql`
    delete from used_ticket where ticket_hash in (
      select ticket_hash from used_ticket where expires_at < now() - interval '1 hour' limit ${limit})`
  return deleted.count
}
