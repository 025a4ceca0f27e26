import { laterThan } from '../../billing-rules/store.ts'
import type { Statements } from '../../database/open.ts'
import { textArray } from '../../database/routine.ts'

// The history of the rules that sites name: a row for each rule that a site had, with the moment until which it had it. What
// it has now is the site's own row.

/** A rule that a site has until now. */
export interface FormerRule {
  siteId: number
  /** 1 fast, 2 slow, 3 occupancy, as the types of rules. */
  field: number
  ruleId: number | null
}

/**
 * Keeps the rules that sites had until a moment, before they get others by a price change, or by an update (null). A later
 * row is later than those before it, also when the database's clock was set back. The transaction must hold the
 * application's lock.
 */
export async function keepPastRules(
  tx: Statements,
  appId: string,
  former: readonly FormerRule[],
  { until, changeId }: { until: Date; changeId: number | null },
): Promise<void> {
  if (former.length === 0) return
  const siteIds = textArray(former.map(({ siteId }) => siteId))
  const fields = textArray(former.map(({ field }) => field))
  const lasts = await tx.unsafe(
    `select i.n, last.until_at from unnest($2::bigint[], $3::smallint[]) with ordinality as i (site_id, field, n)
    cross join lateral (
      select until_at from past_site_rule where app_id = $1 and site_id = i.site_id and field = i.field
      order by until_at desc limit 1) as last`,
    [appId, siteIds, fields],
    { prepare: true },
  )
  const lastOf = new Map(lasts.map((row) => [Number(row.n) - 1, row.until_at as Date]))
  const untils = former.map((_, place) => laterThan(lastOf.get(place), until).toISOString())
  await tx.unsafe(
    `insert into past_site_rule (app_id, site_id, field, until_at, rule_id, change_id)
    select $1, i.site_id, i.field, i.until_at, i.rule_id, $6::bigint
    from unnest($2::bigint[], $3::smallint[], $4::timestamptz[], $5::bigint[]) as i (site_id, field, until_at, rule_id)`,
    [appId, siteIds, fields, textArray(untils), textArray(former.map(({ ruleId }) => ruleId)), changeId],
    { prepare: true },
  )
}
