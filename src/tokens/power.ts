import type { Statements } from '../database/open.ts'
import { textArray } from '../database/routine.ts'
import { type ApplicationCaller, type Caller, tokenInvalid } from '../http/authenticate.ts'
import { Refusal } from '../refusals.ts'

/**
 * SQL: whether the token `t` of the application `a` lives: it has not expired, and the secret that it was obtained with
 * is the application's, or was until a rotation that leaves it some time.
 */
export const isLivingAt = (now: string) => `t.expires_at > ${now} and (t.generation = a.token_generation
    or t.generation = a.token_generation - 1 and a.previous_secret_until > ${now})`

export const isLiving = isLivingAt('clock_timestamp()')

/** The parameters by which a routine is told the callers of its batch; what `callerValues` answers is given for them. */
export const callerParameters = { p_callers: 'integer', p_caller_apps: 'text[]', p_caller_tokens: 'text[]' }

/** The applications among the callers, each token once. Operators have no token that an application could lose. */
export function callerValues(callers: Iterable<Caller>): [number, string, string] {
  const distinct = new Set<ApplicationCaller>()
  for (const caller of callers) if (caller.kind === 'application') distinct.add(caller)
  const applications = [...distinct]
  return [
    applications.length,
    textArray(applications.map(({ appId }) => appId)),
    textArray(applications.map(({ tokenHash }) => tokenHash)),
  ]
}

/** SQL: the applications of which a caller has lost its power since it was admitted. */
export const powerlessOf = (apps: string, tokens: string) => `array(
      select c.app_id from unnest(${apps}, ${tokens}) as c (app_id, token_hash)
      where not exists (select 1 from access_token t join application a using (app_id)
        where t.token_hash = c.token_hash and a.status = 1 and ${isLiving}))`

/**
 * For a routine that has the applications' locks: puts the applications of which a caller has lost its power into
 * `v_powerless`. What is nearly always so, that all have it, is found by the cheaper question.
 */
export const findPowerless = `if p_callers > 0 and (
      select count(*) from access_token t join application a using (app_id)
      where t.token_hash = any(p_caller_tokens) and a.status = 1 and ${isLiving}) < p_callers then
      v_powerless := ${powerlessOf('p_caller_apps', 'p_caller_tokens')};
    end if;`

/** Refuses a caller that has lost its power since it was admitted. Throws 10002 and 10005. */
export async function requirePower(sql: Statements, caller: Caller): Promise<void> {
  if (caller.kind !== 'application') return
  const [found] = await sql`
    select a.status, t.token_hash is not null as is_living from application a
    left join access_token t on t.token_hash = ${caller.tokenHash} and ${sql.unsafe(isLiving)}
    where a.app_id = ${caller.appId}`
  if (found?.status === 2) throw new Refusal('applicationFrozen')
  if (found?.is_living !== true) throw tokenInvalid('invalid_token')
}
