import type { Statements } from '../../database/open.ts'
import type { Pruned } from '../../database/prune.ts'
import { textArray } from '../../database/routine.ts'
import { limits } from '../../vocabulary/limits.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { Refusal } from '../../vocabulary/refusals.ts'
import type { SecondFactors } from './contract.ts'

/** Locks an account, so that two changes cannot each remove the last factor that the other one leaves. Throws 10050. */
export async function lockAccount(tx: Statements, operatorId: number): Promise<{ role: string }> {
  const [row] = await tx<{ role: string }[]>`select role from operator where id = ${operatorId} for no key update`
  if (row === undefined) throw new Refusal('operatorNotFound')
  return row
}

export async function readFactors(sql: Statements, operatorId: number): Promise<Omit<SecondFactors, 'isRequired'>> {
  const [totp] = await sql`select created_at, used_at from operator_totp where operator_id = ${operatorId}`
  const passkeys = await sql`
    select id, name, created_at, used_at, is_synced from operator_passkey where operator_id = ${operatorId} order by id`
  const [codes] = await sql`select count(*)::int as left from operator_recovery_code where operator_id = ${operatorId}`
  const shown = (moment: Date | null) => (moment === null ? null : showMoment(moment))
  return {
    totp: totp === undefined ? null : { createTime: showMoment(totp.created_at), lastUseTime: shown(totp.used_at) },
    passkeys: passkeys.map(({ id, name, created_at, used_at, is_synced }) => ({
      id,
      name,
      createTime: showMoment(created_at),
      lastUseTime: shown(used_at),
      isSynced: is_synced,
    })),
    recoveryCodesLeft: codes?.left ?? 0,
  }
}

export async function keepDraft(tx: Statements, operatorId: number, secret: string): Promise<void> {
  await tx`
    insert into operator_totp_draft (operator_id, secret, expires_at)
    values (${operatorId}, ${secret}, now() + ${limits.generatorDraftMinutes} * interval '1 minute')
    on conflict (operator_id) do update set secret = excluded.secret, expires_at = excluded.expires_at`
}

/** `now` is the database's clock, so that every process compares codes alike. */
export interface Generator {
  secret: string
  now: Date
}

export async function findDraft(sql: Statements, operatorId: number): Promise<Generator | undefined> {
  const [row] = await sql<Generator[]>`
    select secret, clock_timestamp() as now from operator_totp_draft
    where operator_id = ${operatorId} and expires_at > clock_timestamp()`
  return row
}

export async function findGenerator(sql: Statements, operatorId: number): Promise<Generator | undefined> {
  const [row] = await sql<Generator[]>`
    select secret, clock_timestamp() as now from operator_totp where operator_id = ${operatorId}`
  return row
}

/** The code of `step` counts as used. Returns false if another request was first. */
export async function saveGenerator(
  tx: Statements,
  operatorId: number,
  secret: string,
  step: number,
): Promise<boolean> {
  const taken = await tx`delete from operator_totp_draft where operator_id = ${operatorId} and secret = ${secret}`
  if (taken.count === 0) return false
  await tx`
    insert into operator_totp (operator_id, secret, created_at, used_step) values (${operatorId}, ${secret}, now(), ${step})
    on conflict (operator_id) do update set secret = excluded.secret, created_at = excluded.created_at, used_at = null,
      used_step = excluded.used_step`
  return true
}

/** Uses up this step and earlier ones. Returns false if it was used before, in any process. */
export async function useStep(sql: Statements, operatorId: number, secret: string, step: number): Promise<boolean> {
  const used = await sql`
    update operator_totp set used_step = ${step}, used_at = now()
    where operator_id = ${operatorId} and secret = ${secret} and used_step < ${step}`
  return used.count === 1
}

/** Returns how many are left; undefined for an unknown or used code. */
export async function useRecoveryCode(
  tx: Statements,
  operatorId: number,
  codeHash: string,
): Promise<number | undefined> {
  const used = await tx`
    delete from operator_recovery_code where operator_id = ${operatorId} and code_hash = ${codeHash}`
  if (used.count === 0) return undefined
  const [left] = await tx`select count(*)::int as count from operator_recovery_code where operator_id = ${operatorId}`
  return left?.count ?? 0
}

export async function replaceRecoveryCodes(
  tx: Statements,
  operatorId: number,
  codeHashes: readonly string[],
): Promise<void> {
  await tx`delete from operator_recovery_code where operator_id = ${operatorId}`
  await tx`
    insert into operator_recovery_code (operator_id, code_hash)
    select ${operatorId}, code_hash from unnest(${textArray(codeHashes)}::text[]) as c (code_hash)`
}

export async function deleteGenerator(tx: Statements, operatorId: number): Promise<boolean> {
  return (await tx`delete from operator_totp where operator_id = ${operatorId}`).count === 1
}

export interface NewPasskey {
  /** Both in base64url. */
  credentialId: string
  publicKey: string
  signCount: number
  isSynced: boolean
}

export interface KnownPasskey extends Omit<NewPasskey, 'signCount' | 'isSynced'> {
  id: number
  name: string
  operatorId: number
  operatorName: string
}

export async function passkeysOf(sql: Statements, operatorId: number): Promise<string[]> {
  const rows = await sql`select credential_id from operator_passkey where operator_id = ${operatorId}`
  return rows.map((row) => row.credential_id)
}

/** Returns its ID; undefined if an account has this passkey. */
export async function insertPasskey(
  tx: Statements,
  operatorId: number,
  name: string,
  { credentialId, publicKey, signCount, isSynced }: NewPasskey,
): Promise<number | undefined> {
  const [row] = await tx`
    insert into operator_passkey (operator_id, credential_id, public_key, sign_count, is_synced, name, created_at)
    values (${operatorId}, ${credentialId}, ${publicKey}, ${signCount}, ${isSynced}, ${name}, now())
    on conflict do nothing returning id`
  return row?.id
}

export async function hasPasskey(sql: Statements, operatorId: number, id: number): Promise<boolean> {
  const [row] = await sql`select 1 from operator_passkey where id = ${id} and operator_id = ${operatorId}`
  return row !== undefined
}

export async function findPasskey(sql: Statements, credentialId: string): Promise<KnownPasskey | undefined> {
  const [row] = await sql`
    select p.id, p.name, p.credential_id, p.public_key, o.id as operator_id, o.name as operator_name
    from operator_passkey p join operator o on o.id = p.operator_id where p.credential_id = ${credentialId}`
  return (
    row && {
      id: row.id,
      name: row.name,
      credentialId: row.credential_id,
      publicKey: row.public_key,
      operatorId: row.operator_id,
      operatorName: row.operator_name,
    }
  )
}

/** Returns false if the counter is not above the last one; synced passkeys stay at 0. */
export async function countUse(tx: Statements, id: number, counter: number, isSynced: boolean): Promise<boolean> {
  const counted = await tx`
    update operator_passkey set sign_count = ${counter}, is_synced = ${isSynced}, used_at = now()
    where id = ${id} and (sign_count < ${counter} or (sign_count = 0 and ${counter} = 0))`
  return counted.count === 1
}

export async function deletePasskey(tx: Statements, operatorId: number, id: number): Promise<string | undefined> {
  const [row] = await tx`
    delete from operator_passkey where id = ${id} and operator_id = ${operatorId} returning name`
  return row?.name
}

export async function deleteFactors(tx: Statements, operatorId: number): Promise<void> {
  await tx`delete from operator_totp where operator_id = ${operatorId}`
  await tx`delete from operator_totp_draft where operator_id = ${operatorId}`
  await tx`delete from operator_passkey where operator_id = ${operatorId}`
  await tx`delete from operator_recovery_code where operator_id = ${operatorId}`
}

export const oldDrafts: Pruned = { table: 'operator_totp_draft', key: 'operator_id', isOld: 'expires_at < now()' }
