import type postgres from 'postgres'

/** A request that was sent around the moment, about a record or a price change with this id. */
export interface Asked {
  id: number
  sentAt: number
  answeredAt: number
  code: number
  text: string
}

/** What a read showed about a price change: whether its new value was in force. */
export interface Seen {
  change: number
  isNew: boolean
  sentAt: number
  answeredAt: number
}

/** What was done in an application around the moment. */
export interface Ended {
  owner: {
    app: { appId: string }
    rules: Record<'read' | 'updated' | 'cancelled' | 'deleted' | 'named', number[]>
    sites: Record<'left' | 'updated' | 'deleted' | 'cancelled', number[]>
    given: number
    other: number
    ofRule: ReadonlyMap<number, number>
    ofSites: number
    ofSite: ReadonlyMap<number, number>
  }
  updatedRules: Asked[]
  deletedRules: Asked[]
  cancels: Asked[]
  updatedSites: Asked[]
  deletedSites: Asked[]
  created: Asked[]
}

interface Told {
  type: string
  actor: string
  subject: string
  data: Record<string, unknown>
}

const writer = 'platform:prices'

/**
 * Finds contradictions between an application's responses around a moment, the values that reads showed, and its log
 * and rows after everything was written.
 */
export async function priceFaults(
  sql: postgres.Sql,
  ended: Ended,
  { moment, fresh, seen }: { moment: number; fresh: string; seen: readonly Seen[] },
): Promise<string[]> {
  const { owner } = ended
  const { appId } = owner.app
  const rows = await sql`select type, actor, subject, data from event where app_id = ${appId} order by id`
  const events = rows.map((row) => ({ ...row, data: JSON.parse(row.data) }) as unknown as Told)
  const changes =
    await sql`select id, applied_at, cancelled_at, effective_at, site_count from price_change where app_id = ${appId}`
  const members =
    await sql`select change_id, count(distinct site_id)::int as sites from site_rule where app_id = ${appId} group by change_id`
  const rules = await sql`
    select distinct on (id) id, periods from billing_rule join rule_terms on rule_id = id
    where billing_rule.app_id = ${appId} and is_written order by id, from_at desc, change_id desc`
  const sites = await sql`select id, fast_rule_id from site where app_id = ${appId}`
  const faults: string[] = []
  const check = (isRight: boolean, words: string) => {
    if (!isRight) faults.push(`${appId}: ${words}`)
  }
  const about = (noun: string, id: number) =>
    events.filter(({ type, subject }) => subject === String(id) && type.startsWith(`${noun}.`))
  const tookEffect = new Map(changes.map((row) => [row.id as number, row.applied_at !== null]))

  for (const { id, applied_at, cancelled_at, effective_at, site_count } of changes) {
    const told = about('priceChange', id).map(({ type }) => type.slice('priceChange.'.length))
    const end = applied_at === null ? 'cancelled' : 'applied'
    check((applied_at === null) !== (cancelled_at === null), `change ${id} has not one end`)
    check(told.join() === `scheduled,${end}`, `change ${id} is told as ${told}`)
    check(applied_at === null || applied_at >= effective_at, `change ${id} was applied before its moment`)
    check(cancelled_at === null || cancelled_at < effective_at, `change ${id} was cancelled behind its moment`)
    const counted = members.find((row) => row.change_id === id)?.sites ?? 0
    check(site_count === null || site_count === counted, `change ${id} counts ${site_count} sites, and has ${counted}`)
  }

  for (const { id, code, text, answeredAt, sentAt } of ended.cancels) {
    check(code === (tookEffect.get(id) ? 40006 : 0), `the cancel of ${id} was answered ${text}`)
    check(code === 0 ? sentAt < moment : answeredAt >= moment, `the cancel of ${id} came at the wrong time: ${text}`)
  }

  const priceOf = (record: Record<string, unknown>) =>
    (record.periods as { electricityPrice: string }[] | null)?.[0]?.electricityPrice
  for (const [id, change] of owner.ofRule) {
    const told = about('billingRule', id)
    const byWriter = told.filter(({ actor }) => actor === writer)
    const isInForce = tookEffect.get(change) as boolean
    check(byWriter.length === (isInForce ? 1 : 0), `rule ${id} has ${byWriter.length} events of its change`)
    check(
      byWriter.every(({ data }) => priceOf(data) === fresh),
      `rule ${id} got other terms than its change has`,
    )
    const [before, applied] = [events.indexOf(byWriter[0] as Told), events.findIndex(isAppliedOf(change))]
    check(!isInForce || before === applied - 1, `rule ${id}: its change is not told behind it`)
    const last = told.at(-1) as Told
    const row = rules.find((rule) => rule.id === id)
    if (last.type !== 'billingRule.deleted')
      check(priceOf(last.data) === priceOf(row ?? {}), `rule ${id} is not what was told last`)
    else check(row === undefined, `rule ${id} was deleted, and is there`)
    check(
      last.type === 'billingRule.deleted' || !told.some(({ type }) => type === 'billingRule.deleted'),
      `rule ${id} goes on behind its end`,
    )
  }
  const orderOf = (noun: string, { id, sentAt, answeredAt, text }: Asked, actsOf: (event: Told) => boolean) => {
    const told = about(noun, id)
    const [own, written] = [told.findIndex(actsOf), told.findIndex(({ actor }) => actor === writer)]
    if (answeredAt < moment) check(written === -1 || own < written, `${noun} ${id}: its change came before ${text}`)
    if (sentAt >= moment) check(written !== -1 && own > written, `${noun} ${id}: its change came behind ${text}`)
  }
  for (const asked of ended.updatedRules) {
    check(asked.code === 0, `an update was answered ${asked.text}`)
    orderOf('billingRule', asked, ({ type, actor }) => type === 'billingRule.updated' && actor !== writer)
  }
  for (const asked of ended.deletedRules) {
    check(asked.code === 0, `a deletion was answered ${asked.text}`)
    orderOf('billingRule', asked, ({ type }) => type === 'billingRule.deleted')
    const ends = events.filter(
      (event) =>
        isEndOf(owner.ofRule.get(asked.id) as number)(event) ||
        (event.type === 'billingRule.deleted' && event.subject === String(asked.id)),
    )
    check(ends.at(-1)?.type === 'billingRule.deleted', `rule ${asked.id} went before its change`)
  }

  const changeOfSite = (id: number) => owner.ofSite.get(id) ?? owner.ofSites
  for (const id of Object.values(owner.sites).flat()) {
    const told = about('site', id)
    const byWriter = told.filter(({ actor }) => actor === writer)
    const isInForce = tookEffect.get(changeOfSite(id)) as boolean
    const last = told.at(-1) as Told
    const isDeleted = last.type === 'site.deleted'
    check(byWriter.length <= (isInForce ? 1 : 0), `site ${id} has ${byWriter.length} events of its change`)
    check(byWriter.length === 1 || !isInForce || isDeleted, `site ${id} is left out by its change`)
    check(
      byWriter.every(({ data }) => data.fastChargeBillRuleId === owner.given),
      `site ${id} got another rule`,
    )
    check(isDeleted || !told.some(({ type }) => type === 'site.deleted'), `site ${id} goes on behind its end`)
    const row = sites.find((site) => site.id === id)
    check(
      isDeleted ? row === undefined : row?.fast_rule_id === last.data.fastChargeBillRuleId,
      `site ${id} is not what was told last`,
    )
  }
  for (const asked of ended.updatedSites) {
    check(asked.code === 0, `an update was answered ${asked.text}`)
    orderOf('site', asked, ({ type, actor }) => type === 'site.updated' && actor !== writer)
  }
  for (const asked of ended.deletedSites) {
    check(asked.code === 0, `a deletion was answered ${asked.text}`)
    orderOf('site', asked, ({ type }) => type === 'site.deleted')
  }
  for (const { id, code, text } of ended.created) {
    check(code === 0, `a create was answered ${text}`)
    check(code !== 0 || JSON.parse(text).data.fastChargeBillRuleId === id, `a site was created otherwise: ${text}`)
  }
  for (const { change, isNew, sentAt, answeredAt } of seen.filter((one) => tookEffect.has(one.change))) {
    const read = `a read of ${change} from ${sentAt - moment} to ${answeredAt - moment} ms`
    check(!isNew || tookEffect.get(change) === true, `${read} showed what never took effect`)
    check(!isNew || answeredAt >= moment, `${read} was early`)
    check(isNew || !tookEffect.get(change) || sentAt < moment, `${read} was late`)
  }
  return faults
}

const isAppliedOf =
  (change: number) =>
  ({ type, subject }: Told) =>
    type === 'priceChange.applied' && subject === String(change)
const isEndOf =
  (change: number) =>
  ({ type, subject }: Told) =>
    ['priceChange.applied', 'priceChange.cancelled'].includes(type) && subject === String(change)
