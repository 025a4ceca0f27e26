import { hashSecret } from '../../callers/credentials.ts'
import type { Statements } from '../../database/open.ts'
import type { Pruned } from '../../database/prune.ts'
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

/** Only those that have expired by the clock of every process. */
export const usedTickets: Pruned = {
  table: 'used_ticket',
  key: 'ticket_hash',
  isOld: "expires_at < now() - interval '1 hour'",
}
