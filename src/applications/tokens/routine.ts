import { isLivingAt } from '../../callers/store.ts'
import type { Statements } from '../../database/open.ts'
import { callRoutine, jsonRows, routine, textArray } from '../../database/routine.ts'
import { limits } from '../../vocabulary/limits.ts'

export interface TokenRequest {
  appId: string
  secretHash: string
  tokenHash: string
}

export type TokenOutcome = { expiresInSeconds: number } | { refusal: 'clientInvalid' | 'applicationFrozen' }

interface TokenRow {
  app_id: string
  secret_hash: string
  token_hash: string
}

const text = 'text'
const rows = (columns: Partial<Record<keyof TokenRow, string>>) => jsonRows<TokenRow>('p_rows::json', columns)

/** Expired tokens beyond this are deleted with the next batch. */
const maxDead = limits.tokensOfOne
/** The newest tokens that can exist, and a batch more. */
const mostRead = 4 * limits.tokensOfOne
const expirySql = 'v_now + make_interval(secs => a.token_lifetime_seconds)'

/**
 * Issues tokens. It locks the applications first, so that rotations, freezes and other batches run wholly before or
 * after. A token of the previous secret expires with it. Past the limit, expired tokens are deleted, or the oldest.
 */
export const issueTokensRoutine = routine(
  'issue_tokens',
  { p_apps: 'text[]', p_rows: text },
  'token_hash text, expires_in integer, is_frozen boolean',
  '  v_now timestamptz;\n  v_app text;\n  a application;\n  v_rows integer;\n  v_living bigint[];',
  `  -- One by one: for an ordered list a planner without statistics would read all applications.
  foreach v_app in array p_apps loop
    perform 1 from application where app_id = v_app for no key update;
  end loop;
  v_now := clock_timestamp();
  insert into access_token (token_hash, app_id, generation, expires_at)
  select i.token_hash, a.app_id,
    case when a.secret_hash = i.secret_hash then a.token_generation else a.token_generation - 1 end,
    case when a.secret_hash = i.secret_hash then ${expirySql} else least(${expirySql}, a.previous_secret_until) end
  from ${rows({ app_id: text, secret_hash: text, token_hash: text })}
  cross join lateral (select * from application where app_id = i.app_id limit 1) as a
  where a.status = 1 and (a.secret_hash = i.secret_hash
    or a.previous_secret_hash = i.secret_hash and a.previous_secret_until > v_now);

  for a in select * from application where app_id = any(p_apps) loop
    select count(*), coalesce(array_agg(id) filter (where is_living), '{}') into v_rows, v_living from (
      select t.id, (${isLivingAt('v_now')}) as is_living from access_token t
      where t.app_id = a.app_id order by t.id desc limit ${mostRead}) newest;
    if cardinality(v_living) > ${limits.tokensOfOne} then
      delete from access_token where app_id = a.app_id and id <= v_living[${limits.tokensOfOne + 1}];
    elsif v_rows - cardinality(v_living) > ${maxDead} then
      delete from access_token where app_id = a.app_id and id <> all(v_living);
    end if;
  end loop;

  return query
  select i.token_hash, case when t.token_hash is not null then
      greatest(1, floor(extract(epoch from t.expires_at - v_now)))::integer end, coalesce(a.status = 2, false)
  from ${rows({ app_id: text, token_hash: text })}
  left join lateral (select * from access_token where token_hash = i.token_hash limit 1) as t on true
  left join lateral (select status from application where app_id = i.app_id limit 1) as a on true;`,
)

interface IssuedRow {
  token_hash: string
  expires_in: number | null
  is_frozen: boolean
}

/** Issues tokens in one transaction. Returns the results in order. */
export async function issueTokens(sql: Statements, requests: TokenRequest[]): Promise<TokenOutcome[]> {
  const issued = await callRoutine<IssuedRow>(sql, issueTokensRoutine, [
    textArray([...new Set(requests.map(({ appId }) => appId))].sort()),
    JSON.stringify(
      requests.map(
        ({ appId, secretHash, tokenHash }): TokenRow => ({
          app_id: appId,
          secret_hash: secretHash,
          token_hash: tokenHash,
        }),
      ),
    ),
  ])
  const byHash = new Map(issued.map((row) => [row.token_hash, row]))
  return requests.map(({ tokenHash }) => {
    const row = byHash.get(tokenHash)
    if (row === undefined || row.expires_in === null) {
      return { refusal: row?.is_frozen ? 'applicationFrozen' : 'clientInvalid' }
    }
    return { expiresInSeconds: row.expires_in }
  })
}
