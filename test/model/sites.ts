import fc from 'fast-check'
import type { Client } from '../kit/client.ts'
import { siteBody } from '../kit/records.ts'
import { refusedFor } from './answers.ts'
import type { Condition } from './conditions.ts'
import { pageWalk, type Walk } from './pages.ts'
import {
  changeOf,
  deletions,
  type Fault,
  type Meaning,
  meantRecord,
  page,
  reads,
  type Save,
  save,
  update,
} from './records.ts'
import {
  type Asking,
  askedOf,
  type Command,
  command,
  type ModelApplication,
  type ModelRecord,
  type WeightedCommand,
  type World,
} from './world.ts'

/** The three fields that name a rule, and the type of rule that each accepts. */
const ruleFields = { fastChargeBillRuleId: 1, rushingBillRuleId: 2, placeholderBillRuleId: 3 } as const
type RuleField = keyof typeof ruleFields

/** The rule that a site names: one that is accepted, one counted from the newest, an unknown id, or none. */
type NamedRule = 'fitting' | number | 'unknown' | 'none'

/** The members of a site that a caller chooses; rules are named by their part in the world. */
interface SiteMembers {
  siteName?: string
  coordinates?: string | null
  detailAddress?: string | null
  rules: Partial<Record<RuleField, NamedRule>>
}

interface RuleFault {
  field: string
  isUnknown: boolean
}

function ruleOf(world: World, app: ModelApplication, named: NamedRule, field: RuleField): number | null {
  if (named === 'none') return null
  if (named === 'unknown') return 987_654_321
  const rules = world.records.filter(({ noun }) => noun === 'billingRule')
  if (named !== 'fitting') return rules.at(-1 - named)?.id ?? null
  const fitting = (rule: ModelRecord) =>
    rule.app === app && !rule.isDeleted && rule.members.ruleType === ruleFields[field]
  return rules.findLast(fitting)?.id ?? null
}

/** The members as they are sent, and the faults of the rules among them. */
function readMembers(world: World, app: ModelApplication, { rules, ...members }: SiteMembers) {
  const ids = Object.fromEntries(
    (Object.keys(rules) as RuleField[]).map((field) => [field, ruleOf(world, app, rules[field] ?? 'none', field)]),
  )
  // The faults are in the document's order of fields, whatever order the fields are sent in.
  const faults = (Object.keys(ruleFields) as RuleField[]).flatMap((field): RuleFault[] => {
    const id = ids[field] ?? null
    const rule = world.records.find(({ noun, id: one }) => noun === 'billingRule' && one === id)
    const isThere = rule !== undefined && rule.app === app && !rule.isDeleted
    if (id === null || (isThere && rule.members.ruleType === ruleFields[field])) return []
    return [{ field, isUnknown: !isThere }]
  })
  return { sent: { ...members, ...ids }, fault: faultOf(faults) }
}

/** Rules that do not exist are reported before rules of the wrong type. */
function faultOf(faults: RuleFault[]): Fault | undefined {
  if (faults.length === 0) return undefined
  const unknown = faults.filter(({ isUnknown }) => isUnknown)
  const name = unknown.length > 0 ? 'billingRuleNotFound' : 'billingRuleWrongType'
  const reason = unknown.length > 0 ? 'is not a billing rule of this application' : 'is a billing rule of another type'
  const told = unknown.length > 0 ? unknown : faults
  return refusedFor(
    name,
    told.map(({ field }) => ({ field, reason })),
  )
}

const optional = ['sitePictureUrl', ...Object.keys(ruleFields), 'ipcIds', 'detailAddress', 'coordinates']

/** The members of a site's record that come from its request. */
function shownMembers(sent: Record<string, unknown>): Record<string, unknown> {
  const { appId, ...members } = sent
  const coordinates = (sent.coordinates as string | null | undefined) || null
  const [longitude = null, latitude = null] = coordinates?.split(',').map(Number) ?? []
  const given = Object.fromEntries(optional.map((member) => [member, sent[member] || null]))
  return { ...members, ...given, longitude, latitude }
}

interface NewSite extends Save {
  members: SiteMembers
}

async function saveSite(world: World, client: Client, { members, ...rest }: NewSite): Promise<void> {
  const app = askedOf(world, rest.asking)
  const { sent: given, fault } = readMembers(world, app, members)
  const { appId, ...sent } = siteBody(app.appId, { ipcIds: '1,2', ...given })
  await save(world, client, 'site', rest, sent, fault ?? shownMembers(sent))
}

interface UpdateSite {
  change: { of: Meaning; condition: Condition }
  members: SiteMembers
}

async function updateSite(world: World, client: Client, { change, members }: UpdateSite): Promise<void> {
  const { asking } = meantRecord(world, 'site', change.of)
  const { sent, fault } = readMembers(world, askedOf(world, asking), members)
  await update(world, client, 'site', change, sent, (site) => fault ?? shownMembers({ ...site.members, ...sent }))
}

interface PageSites {
  asking: Asking
  walk: Walk
  siteName: string | undefined
  bbox: string | undefined
  rule: NamedRule
}

const shenzhen = '113,22,115,23'

async function pageSites(world: World, client: Client, { siteName, bbox, rule, ...rest }: PageSites): Promise<void> {
  const billingRuleId = ruleOf(world, askedOf(world, rest.asking), rule, 'fastChargeBillRuleId') ?? undefined
  await page(world, client, 'site', rest, { siteName, bbox, billingRuleId }, ({ members }) => {
    const isNamed = (Object.keys(ruleFields) as RuleField[]).some((field) => members[field] === billingRuleId)
    const isInside = bbox === undefined || members.longitude === 114.05
    const name = String(members.siteName).toLowerCase()
    return isInside && (billingRuleId === undefined || isNamed) && name.includes((siteName ?? '').toLowerCase())
  })
}

export function siteCommands(asking: fc.Arbitrary<Asking>, key: fc.Arbitrary<string | undefined>): WeightedCommand[] {
  const rule: fc.Arbitrary<NamedRule> = fc.oneof(
    { weight: 8, arbitrary: fc.constant('fitting' as const) },
    { weight: 1, arbitrary: fc.nat(5) },
    { weight: 1, arbitrary: fc.constantFrom('unknown' as const, 'none' as const) },
  )
  const rules = fc.record(
    { fastChargeBillRuleId: rule, rushingBillRuleId: rule, placeholderBillRuleId: rule },
    { requiredKeys: [] },
  )
  const some = {
    coordinates: fc.constantFrom('114.05 ,22.54', '0,0', '', null),
    detailAddress: fc.constantFrom('x', ''),
  }
  const siteName = fc.constantFrom('Riverside', 'East RIVER')
  const members: fc.Arbitrary<SiteMembers> = fc.record({ siteName, ...some, rules }, { requiredKeys: ['rules'] })
  const commands: [number, fc.Arbitrary<Command>][] = [
    [5, fc.record({ asking, key, members }).map((input) => command('saveSite', input, saveSite))],
    [4, fc.record({ change: changeOf(asking), members }).map((input) => command('updateSite', input, updateSite))],
    [2, deletions('site', asking, () => false)],
    [1, reads('site', asking)],
    [
      1,
      fc
        .record({
          asking,
          walk: pageWalk,
          siteName: fc.constantFrom(undefined, 'river', 'EAST'),
          bbox: fc.constantFrom(undefined, shenzhen),
          rule,
        })
        .map((input) => command('pageSites', input, pageSites)),
    ],
  ]
  return commands.map(([weight, arbitrary]) => ({ weight, arbitrary }))
}

/** Reads all records once more, at the end of a run. */
export async function readAllRecords(world: World, client: Client, asking: Asking): Promise<void> {
  const all: (record: ModelRecord) => boolean = () => true
  const walk: Walk = { by: 'cursor', pageSize: 3 }
  for (const noun of ['site', 'billingRule'] as const) await page(world, client, noun, { asking, walk }, {}, all)
}
