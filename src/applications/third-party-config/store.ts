import type { Row } from 'postgres'
import type { Statements } from '../../database/open.ts'

export interface ThirdPartyConfig {
  appId: string
  operatorName: string
  operatorId: string | null
  callbackUrl: string | null
  callbackQuery: string | null
  callbackEvents: string[]
  updatedAt: Date
  stoppedAt: Date | null
  stoppedReason: string | null
}

function toConfig(row: Row): ThirdPartyConfig {
  return {
    appId: row.app_id,
    operatorName: row.operator_name,
    operatorId: row.operator_id,
    callbackUrl: row.callback_url,
    callbackQuery: row.callback_query,
    callbackEvents: row.callback_events,
    updatedAt: row.updated_at,
    stoppedAt: row.stopped_at,
    stoppedReason: row.stopped_reason,
  }
}

const columnsSql = `app_id, operator_name, operator_id, callback_url, callback_query, to_json(callback_events) as callback_events, updated_at,
  stopped_at, stopped_reason`

/** A configuration that gains a callback gets a new secret, which is shown; the previous one still signs for a day. */
const secretOfNewCallbackSql = Object.entries({
  callback_secret: 'excluded.callback_secret',
  previous_callback_secret: 'c.callback_secret',
  secret_rotated_at: 'excluded.updated_at',
})
  .map(
    ([name, value]) =>
      `${name} = case when c.callback_url is null and excluded.callback_url is not null then ${value} else c.${name} end`,
  )
  .join(', ')

/** Saves a configuration. `sealedSecret` is used only without an earlier callback: a secret is shown once. */
export async function upsertConfig(
  tx: Statements,
  config: Omit<ThirdPartyConfig, 'updatedAt' | 'stoppedAt' | 'stoppedReason'>,
  sealedSecret: string,
): Promise<{ config: ThirdPartyConfig; isNew: boolean }> {
  const [row] = await tx`
    insert into third_party_config as c (app_id, operator_name, operator_id, callback_url, callback_query, callback_events,
      callback_secret, updated_at)
    values (${config.appId}, ${config.operatorName}, ${config.operatorId}, ${config.callbackUrl}, ${config.callbackQuery},
      string_to_array(${config.callbackEvents.join(',')}, ','), ${sealedSecret}, now())
    on conflict (app_id) do update set operator_name = excluded.operator_name, operator_id = excluded.operator_id,
      callback_url = excluded.callback_url, callback_query = excluded.callback_query, callback_events = excluded.callback_events, updated_at = excluded.updated_at,
      ${tx.unsafe(secretOfNewCallbackSql)}
    returning updated_at, callback_secret = ${sealedSecret} as is_new`
  const { updated_at: updatedAt, is_new: isNew } = row as Row
  return { config: { ...config, updatedAt, stoppedAt: null, stoppedReason: null }, isNew }
}

export async function findConfig(sql: Statements, appId: string): Promise<ThirdPartyConfig | undefined> {
  const [row] = await sql`
    select ${sql.unsafe(columnsSql)} from third_party_config left join callback_endpoint using (app_id)
    where app_id = ${appId}`
  return row === undefined ? undefined : toConfig(row)
}

/** Replaces the callback secret. The previous one also signs for a day. */
export async function replaceSecret(tx: Statements, appId: string, sealedSecret: string): Promise<void> {
  await tx`
    update third_party_config
    set previous_callback_secret = callback_secret, callback_secret = ${sealedSecret}, secret_rotated_at = now(),
      updated_at = now()
    where app_id = ${appId}`
}

/** Tells whether a configuration exists, without which an application can't have sites. */
export async function hasConfiguration(sql: Statements, appId: string): Promise<boolean> {
  const [row] = await sql`select 1 from third_party_config where app_id = ${appId}`
  return row !== undefined
}
