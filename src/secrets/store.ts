import type { Statements } from '../database/open.ts'
import { keyIdOf, type SecretBox } from './box.ts'

export async function keysOfSecrets(sql: Statements): Promise<string[]> {
  const rows = await sql<{ key_id: string }[]>`
    select split_part(callback_secret, ':', 1) as key_id from third_party_config where callback_secret is not null
    union select split_part(previous_callback_secret, ':', 1) from third_party_config
      where previous_callback_secret is not null
    union select split_part(callback_query, ':', 1) from third_party_config where callback_query is not null
    union select split_part(secret, ':', 1) from operator_totp
    order by key_id`
  return rows.map((row) => row.key_id)
}

export async function neededKeys(sql: Statements): Promise<string[]> {
  const noted = await findNotedKey(sql)
  return [...new Set([...(noted === undefined ? [] : [noted.keyId]), ...(await keysOfSecrets(sql))])]
}

export interface NotedKey {
  keyId: string
  /** Locked with the database's password; null if a file holds the key. */
  lockedKey: string | null
}

/** Undefined before the first one. */
export async function findNotedKey(sql: Statements): Promise<NotedKey | undefined> {
  const [row] = await sql`select key_id, locked_key from secrets_key`
  return row === undefined ? undefined : { keyId: row.key_id, lockedKey: row.locked_key }
}

/** Returns false if the box does not hold the current key. */
export async function noteKey(sql: Statements, box: SecretBox, lockedKey: string | null): Promise<boolean> {
  const noted = await sql`
    insert into secrets_key as k (key_id, locked_key) values (${box.keyId}, ${lockedKey})
    on conflict (only_row) do update set key_id = excluded.key_id, locked_key = excluded.locked_key
    where k.key_id in (select json_array_elements_text(${JSON.stringify(box.keyIds)}::text::json))`
  return noted.count > 0
}

/** Few rows, so that no step blocks requests that save a configuration. */
const stepRows = 200

interface SealedRow {
  app_id: string
  callback_secret: string | null
  previous: string | null
  query: string | null
}

export const sealedFor = (operatorId: number) => `operator ${operatorId}`

/** Returns the number of configurations and authenticator apps. */
export async function sealAnew(sql: Statements, box: SecretBox): Promise<number> {
  return (await sealConfigsAnew(sql, box)) + (await sealGeneratorsAnew(sql, box))
}

async function sealGeneratorsAnew(sql: Statements, box: SecretBox): Promise<number> {
  let count = 0
  for (let after = 0; ; ) {
    const rows = await sql<{ operator_id: number; secret: string }[]>`
      select operator_id, secret from operator_totp where operator_id > ${after} order by operator_id limit ${stepRows}`
    for (const { operator_id, secret } of rows.filter((row) => keyIdOf(row.secret) !== box.keyId)) {
      const owner = sealedFor(operator_id)
      const written = await sql`
        update operator_totp set secret = ${box.seal(owner, box.open(owner, secret))}
        where operator_id = ${operator_id} and secret = ${secret}`
      count += written.count
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < stepRows) return count
    after = last.operator_id
  }
}

async function sealConfigsAnew(sql: Statements, box: SecretBox): Promise<number> {
  const isOlder = (sealed: string | null): sealed is string => sealed !== null && keyIdOf(sealed) !== box.keyId
  let count = 0
  for (let after = ''; ; ) {
    const rows = await sql<SealedRow[]>`
      select app_id, callback_secret, previous_callback_secret as previous, callback_query as query
      from third_party_config where app_id > ${after} order by app_id limit ${stepRows}`
    const renewed = rows
      .filter((row) => isOlder(row.callback_secret) || isOlder(row.previous) || isOlder(row.query))
      .map((row) => {
        const anew = (sealed: string | null) =>
          isOlder(sealed) ? box.seal(row.app_id, box.open(row.app_id, sealed)) : sealed
        const { callback_secret, previous, query } = row
        return { ...row, new_secret: anew(callback_secret), new_previous: anew(previous), new_query: anew(query) }
      })
    // Secrets that were rotated or saved meanwhile stay.
    const written = await sql`
      update third_party_config c set callback_secret = r.new_secret, previous_callback_secret = r.new_previous,
        callback_query = r.new_query
      from json_to_recordset(${JSON.stringify(renewed)}::text::json) as r (app_id text, callback_secret text,
        previous text, query text, new_secret text, new_previous text, new_query text)
      where c.app_id = r.app_id and c.callback_secret is not distinct from r.callback_secret
        and c.previous_callback_secret is not distinct from r.previous and c.callback_query is not distinct from r.query`
    count += written.count
    const last = rows.at(-1)
    if (last === undefined || rows.length < stepRows) return count
    after = last.app_id
  }
}
