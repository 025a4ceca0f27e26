import type { Statements } from '../../database/open.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import type { Role } from '../../vocabulary/roles.ts'
import { sameName } from '../sessions/store.ts'
import type { Identity } from './provider.ts'

type Who = Pick<Identity, 'issuer' | 'subject'>

export interface LinkedAccount {
  id: number
  name: string
  role: Role
  status: number
  source: number
  hasLeft: boolean
}

export async function findLinked(sql: Statements, { issuer, subject }: Who): Promise<LinkedAccount | undefined> {
  const [row] = await sql`
    select o.id, o.name, o.role, o.status, o.source, o.has_left
    from operator_identity i join operator o on o.id = i.operator_id
    where i.issuer = ${issuer} and i.subject = ${subject}`
  return row && { ...(row as unknown as LinkedAccount), hasLeft: row.has_left }
}

/** Throws 10064 if either is linked with another. */
export async function requireLinkable(
  sql: Statements,
  operatorId: number,
  { issuer, subject }: Who,
): Promise<{ isLinked: boolean }> {
  const [known] = await sql`
    select operator_id, issuer, subject from operator_identity
    where operator_id = ${operatorId} or (issuer = ${issuer} and subject = ${subject}) limit 1`
  if (known === undefined) return { isLinked: false }
  const isSame = known.operator_id === operatorId && known.issuer === issuer && known.subject === subject
  if (!isSame) throw new Refusal('signOnLinked')
  return { isLinked: true }
}

/** Throws 10064 if either is linked with another. */
export async function link(tx: Statements, operatorId: number, who: Who): Promise<void> {
  const { issuer, subject } = who
  if ((await requireLinkable(tx, operatorId, who)).isLinked) return
  await tx`
    insert into operator_identity (issuer, subject, operator_id, linked_at)
    values (${issuer}, ${subject}, ${operatorId}, now())`
}

export async function unlink(tx: Statements, operatorId: number): Promise<boolean> {
  return (await tx`delete from operator_identity where operator_id = ${operatorId}`).count === 1
}

/** Uses the first of these names that is free, else the last one with a number. */
export async function insertAccount(tx: Statements, names: readonly string[], role: Role): Promise<number> {
  const last = names.at(-1) ?? 'Person'
  for (let number = 0; ; number++) {
    const name = names[number] ?? `${last} ${number - names.length + 2}`
    const [taken] = await tx`select 1 from operator where ${sameName(tx, name)}`
    if (taken !== undefined) continue
    const [row] = await tx`
      insert into operator (name, role, source, created_at) values (${name}, ${role}, 2, now())
      on conflict do nothing returning id`
    if (row !== undefined) return row.id
  }
}

export async function updateAccount(tx: Statements, id: number, role: Role): Promise<void> {
  await tx`update operator set role = ${role}, has_left = false where id = ${id}`
  if (role !== 'developer') await tx`delete from operator_application where operator_id = ${id}`
}

export async function noteLeft(tx: Statements, id: number): Promise<void> {
  await tx`update operator set has_left = true where id = ${id}`
}

export async function sessionsOf(
  sql: Statements,
  { issuer, subject, sessionId }: { issuer: string; subject: string | null; sessionId: string | null },
): Promise<number[]> {
  const rows = await sql`
    select s.id from operator_session s join operator_identity i on i.operator_id = s.operator_id
    where i.issuer = ${issuer} and s.method like 'signOn%'
      and (${subject}::text is null or i.subject = ${subject})
      and (${sessionId}::text is null or s.provider_session = ${sessionId})`
  return rows.map(({ id }) => id)
}

export async function signOnSessionsOf(sql: Statements, operatorId: number, except: number | null): Promise<number[]> {
  const rows = await sql`
    select id from operator_session
    where operator_id = ${operatorId} and method like 'signOn%' and id is distinct from ${except}`
  return rows.map(({ id }) => id)
}
