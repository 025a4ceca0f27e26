import type { Row } from 'postgres'
import type { Statements } from '../database/open.ts'

export interface ThirdPartyConfig {
  appId: string
  operatorName: string
  operatorId: string | null
  callbackUrl: string | null
  callbackEvents: string[]
  updatedAt: Date
}

function toConfig(row: Row): ThirdPartyConfig {
  return {
    appId: row.app_id,
    operatorName: row.operator_name,
    operatorId: row.operator_id,
    callbackUrl: row.callback_url,
    callbackEvents: row.callback_events,
    updatedAt: row.updated_at,
  }
}

const columns =
  'app_id, operator_name, operator_id, callback_url, to_json(callback_events) as callback_events, updated_at'

/**
 * Creates or replaces the configuration. `newSecret` becomes the callback secret only when there was none; whether it
 * did is answered, because that is the one time it is shown.
 */
export async function upsertConfig(
  tx: Statements,
  config: Omit<ThirdPartyConfig, 'updatedAt'>,
  newSecret: string,
): Promise<{ config: ThirdPartyConfig; isNew: boolean }> {
  const [row] = await tx`
    insert into third_party_config (app_id, operator_name, operator_id, callback_url, callback_events,
      callback_secret, updated_at)
    values (${config.appId}, ${config.operatorName}, ${config.operatorId}, ${config.callbackUrl},
      array(select json_array_elements_text(${JSON.stringify(config.callbackEvents)}::text::json)), ${newSecret}, now())
    on conflict (app_id) do update set operator_name = excluded.operator_name, operator_id = excluded.operator_id,
      callback_url = excluded.callback_url, callback_events = excluded.callback_events, updated_at = now()
    returning ${tx.unsafe(columns)}, callback_secret = ${newSecret} as is_new`
  return { config: toConfig(row as Row), isNew: row?.is_new }
}

export async function findConfig(sql: Statements, appId: string): Promise<ThirdPartyConfig | undefined> {
  const [row] = await sql`select ${sql.unsafe(columns)} from third_party_config where app_id = ${appId}`
  return row === undefined ? undefined : toConfig(row)
}
