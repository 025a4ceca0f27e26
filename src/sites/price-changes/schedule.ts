import type { Static } from 'typebox'
import { readTerms, ruleFaults } from '../../billing-rules/rules.ts'
import { findRuleTypes, requireBillingRule } from '../../billing-rules/store.ts'
import type { Statements } from '../../database/open.ts'
import { insertEvents } from '../../events/store.ts'
import { validator } from '../../http/validate.ts'
import { limits } from '../../vocabulary/limits.ts'
import { readMoment } from '../../vocabulary/moments.ts'
import { type FieldFault, invalidRequest, type Reason, Refusal } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { ruleFaults as ruleIdFaults, ruleRefusal } from '../rules.ts'
import { findSiteIds, findSites } from '../store.ts'
import { type ChosenSites, type GivenRules, NewTerms, type schedulePriceChange } from './contract.ts'
import {
  aheadFault,
  draftOf,
  type Field,
  momentFault,
  type NewPriceChange,
  type PriceChange,
  type RulesOfSite,
  readRules,
  showPriceChange,
} from './rules.ts'
import { findDue, findWaiting, insertPriceChange, isAnyIn } from './store.ts'

type Body = Static<NonNullable<typeof schedulePriceChange.body>>
type Shown = Static<typeof schedulePriceChange.data>

export interface Scheduling {
  appId: string
  actor: string
  body: Body
  now: Date
}

/**
 * Schedules a price change, under the application's lock and after due changes were written down. A dry run needs no
 * lock. Throws 10001, 30002, 40002, 40003 and 40007.
 */
export async function schedule(tx: Statements, { appId, actor, body, now }: Scheduling): Promise<Shown> {
  const effectiveAt = readMoment(body.effectiveTime)
  const unfit = momentFault(body.effectiveTime)
  const faults = unfit.length > 0 ? unfit : aheadFault(effectiveAt, now)
  const ruleId = given(body.billingRuleId)
  const what =
    ruleId === null
      ? await readSites(tx, appId, given(body.sites) as ChosenSites, given(body.rules) as GivenRules, faults)
      : await readNewTerms(tx, appId, ruleId, body, faults)
  await requireRoom(tx, appId, effectiveAt, what)
  const by = { createdAt: now, createdBy: actor }
  const asked = { appId, effectiveAt, what, skippedCount: null, reason: given(body.reason), undoOf: null, ...by }
  if (body.dryRun === true) return { ...showPriceChange(draftOf(asked), now), id: null }
  const change = await insertPriceChange(tx, asked)
  const data = showPriceChange(change, now)
  await insertEvents(tx, appId, [{ type: 'priceChange.scheduled', actor, subject: String(change.id), data }], now)
  // Storing many sites takes a while, and a change must not take effect at a past time.
  const late = aheadFault(effectiveAt, (await findDue(tx, appId, 1)).now)
  if (late.length > 0) throw invalidRequest(late)
  return data
}

const termsReader = (ruleType: 1 | 2 | 3) => validator(NewTerms, 'body', (body) => ruleFaults({ ...body, ruleType }))
const termsReaders = { 1: termsReader(1), 2: termsReader(2), 3: termsReader(3) }

type TermsOfRule = Extract<NewPriceChange['what'], { terms: unknown }>
type OtherRules = Extract<NewPriceChange['what'], { sites: unknown }>

async function readNewTerms(
  tx: Statements,
  appId: string,
  billingRuleId: number,
  body: Body,
  faults: FieldFault[],
): Promise<TermsOfRule> {
  const rule = await requireBillingRule(tx, appId, billingRuleId)
  const ruleType = rule.ruleType as 1 | 2 | 3
  try {
    const terms = termsReaders[ruleType](body)
    if (faults.length === 0) return { billingRuleId, terms: readTerms({ ...terms, ruleName: rule.ruleName, ruleType }) }
  } catch (error) {
    if (error instanceof Refusal) throw invalidRequest([...faults, ...(error.errors ?? [])])
    throw error
  }
  throw invalidRequest(faults)
}

const noneFits: Reason = { en: 'doesn’t match any site of the application', zh: '没有符合条件的站点' }
const tooMany: Reason = {
  en: `matches more than ${limits.priceChangeSites} sites`,
  zh: `符合条件的站点超过 ${limits.priceChangeSites} 个`,
}

async function readSites(
  tx: Statements,
  appId: string,
  chosen: ChosenSites,
  rules: GivenRules,
  faults: FieldFault[],
): Promise<OtherRules> {
  const { given: asGiven, byField } = readRules(rules)
  const ids = await findChosen(tx, appId, chosen)
  const sitesFault = ids.length === 0 ? noneFits : ids.length > limits.priceChangeSites ? tooMany : undefined
  const all = [...faults, ...(sitesFault === undefined ? [] : [{ field: 'sites', reason: sitesFault }])]
  if (all.length > 0) throw invalidRequest(all)
  await requireFittingRules(tx, appId, byField)
  const fields = Object.keys(byField) as Field[]
  return { fields, rules: asGiven, sites: ids.map((siteId) => ({ siteId, rules: byField })) }
}

/** Returns the selected sites, up to one above the limit. Throws 30002 for another application's site. */
async function findChosen(tx: Statements, appId: string, chosen: ChosenSites): Promise<number[]> {
  const ids = given(chosen.ids)
  if (ids === null) {
    const filter = {
      provinceCode: given(chosen.provinceCode),
      cityCode: given(chosen.cityCode),
      districtCode: given(chosen.districtCode),
      billingRuleId: given(chosen.billingRuleId),
    }
    return findSiteIds(tx, appId, filter, limits.priceChangeSites + 1)
  }
  const distinct = [...new Set(ids)].sort((one, other) => one - other)
  const found = await findSites(tx, appId, distinct)
  if (found.size < distinct.length) throw new Refusal('siteNotFound')
  return distinct
}

/** Throws 40002 and 40003 as a site's update does, and names the fields of `rules`. */
async function requireFittingRules(tx: Statements, appId: string, byField: RulesOfSite['rules']): Promise<void> {
  const { fast = null, slow = null, occupancy = null } = byField
  const ids = [fast, slow, occupancy].filter((id) => id !== null)
  const types = ids.length === 0 ? new Map<number, number>() : await findRuleTypes(tx, appId, ids)
  const typeOf = (id: number | null) => (id === null ? null : (types.get(id) ?? null))
  const faults = ruleIdFaults(
    { fastRuleId: fast, slowRuleId: slow, occupancyRuleId: occupancy },
    { fast: typeOf(fast), slow: typeOf(slow), occupancy: typeOf(occupancy) },
  )
  if (faults.length === 0) return
  const { refusal, errors = [] } = ruleRefusal(faults)
  throw new Refusal(refusal, {
    status: 409,
    errors: errors.map(({ field, reason }) => ({ field: `rules.${field}`, reason })),
  })
}

const sameMoment: Reason = {
  en: 'is already the effective time of another price change for the same rule or sites',
  zh: '与另一项等待中的价格变更相同，且更改的内容重叠',
}
const tooManyWait = (most: number, of: Reason): Reason => ({
  en: `can’t be scheduled: ${most} price changes of ${of.en} are already scheduled`,
  zh: `${of.zh}已有 ${most} 项价格变更在等待`,
})

/** Checks that the change fits the scheduled ones. Due ones must be written down. Throws 40007. */
async function requireRoom(
  tx: Statements,
  appId: string,
  effectiveAt: Date,
  what: TermsOfRule | OtherRules,
): Promise<void> {
  const clash = (field: string, reason: Reason) => new Refusal('priceChangeClash', { errors: [{ field, reason }] })
  const waiting = await findWaiting(tx, appId)
  const together = waiting.filter((other) => other.effectiveAt.getTime() === effectiveAt.getTime())
  if ('terms' in what) {
    const ofRule = (changes: PriceChange[]) => changes.filter((other) => other.billingRuleId === what.billingRuleId)
    if (ofRule(together).length > 0) throw clash('effectiveTime', sameMoment)
    if (ofRule(waiting).length >= limits.priceChangesOfRule) {
      const words = { en: 'this billing rule', zh: '该计费规则' }
      throw clash('billingRuleId', tooManyWait(limits.priceChangesOfRule, words))
    }
  } else {
    const ofFields = together.filter(({ fields }) => fields.some((field) => what.fields.includes(field)))
    const siteIds = what.sites.map(({ siteId }) => siteId)
    const changeIds = ofFields.map(({ id }) => id)
    if (await isAnyIn(tx, appId, changeIds, siteIds)) throw clash('effectiveTime', sameMoment)
  }
  if (waiting.length >= limits.priceChangesOfOne) {
    const words = { en: 'this application', zh: '该应用' }
    throw clash('appId', tooManyWait(limits.priceChangesOfOne, words))
  }
}
