import fc from 'fast-check'
import type { Client } from '../kit/client.ts'
import { refusedFor } from './answers.ts'
import type { Condition } from './conditions.ts'
import { pageWalk, type Walk } from './pages.ts'
import { changeOf, deletions, type Fault, type Meaning, page, reads, type Save, save, update } from './records.ts'
import { type Asking, type Command, command, type ModelRecord, type WeightedCommand, type World } from './world.ts'

const noTerms = { periods: null, freeMinutes: null, unitMinutes: null, unitPrice: null, dailyCap: null }
const day = [{ startTime: '00:00:00', electricityPrice: '0.65', servicePrice: '0.8000' }]
const dayAndNight = [...day, { startTime: '22:00:00', electricityPrice: '0.3', servicePrice: '0' }]
const occupancy = { freeMinutes: 15, unitMinutes: 30, unitPrice: '1.50' }

type RuleType = 1 | 2 | 3

interface NewRule extends Save {
  ruleType: RuleType
  ruleName: string
}

/** Creates a rule. The request also contains the terms of the other rule types, which the service must ignore. */
async function saveRule(world: World, client: Client, { ruleType, ruleName, ...rest }: NewRule): Promise<void> {
  const sent = { ruleName, ruleType, periods: day, ...occupancy, dailyCap: '' }
  const terms = ruleType === 3 ? { ...noTerms, ...occupancy } : { ...noTerms, periods: day }
  await save(world, client, 'billingRule', rest, sent, { ruleName, ruleType, ...terms })
}

interface RuleChange {
  ruleName?: string
  ruleType?: RuleType
  periods?: typeof day | null
  unitPrice?: string | null
  dailyCap?: string | null
}

interface UpdateRule {
  change: { of: Meaning; condition: Condition }
  members: RuleChange
}

async function updateRule(world: World, client: Client, { change, members }: UpdateRule): Promise<void> {
  await update(world, client, 'billingRule', change, { ...members }, (record) => changedRule(record, members))
}

const needed = (field: string) => ({ field, reason: 'is required for this rule type' })

/** The rule after a change: it keeps its type, has only the terms of that type, and must have all that are required. */
function changedRule({ members }: ModelRecord, change: RuleChange): Record<string, unknown> | Fault {
  const ruleType = members.ruleType as RuleType
  const after = { ...members, ...(change.ruleName === undefined ? {} : { ruleName: change.ruleName }) }
  const isOther = change.ruleType !== undefined && change.ruleType !== ruleType
  const faults = isOther ? [{ field: 'ruleType', reason: 'cannot be changed' }] : []
  const [own, required] = ruleType === 3 ? [['unitPrice', 'dailyCap'], 'unitPrice'] : [['periods'], 'periods']
  const given = Object.entries(change).filter(([member]) => own.includes(member))
  Object.assign(after, Object.fromEntries(given.map(([member, value]) => [member, value || null])))
  if (after[required as keyof typeof after] === null) faults.push(needed(required as string))
  return faults.length === 0 ? after : refusedFor('invalidRequest', faults)
}

function isRuleInUse(world: World, rule: ModelRecord): boolean {
  const fields = ['fastChargeBillRuleId', 'rushingBillRuleId', 'placeholderBillRuleId']
  return world.records.some(
    ({ noun, app, isDeleted, members }) =>
      noun === 'site' && app === rule.app && !isDeleted && fields.some((field) => members[field] === rule.id),
  )
}

interface PageRules {
  asking: Asking
  walk: Walk
  ruleType: RuleType | undefined
  ruleName: string | undefined
}

async function pageRules(world: World, client: Client, { ruleType, ruleName, ...rest }: PageRules): Promise<void> {
  await page(world, client, 'billingRule', rest, { ruleType, ruleName }, ({ members }) => {
    const name = String(members.ruleName).toLowerCase()
    return (ruleType ?? members.ruleType) === members.ruleType && name.includes((ruleName ?? '').toLowerCase())
  })
}

export function billingRuleCommands(asking: fc.Arbitrary<Asking>, key: fc.Arbitrary<string | undefined>) {
  const ruleType = fc.constantFrom(1 as const, 2 as const, 3 as const)
  const ruleName = fc.constantFrom('Day', 'day and Night', '峰谷')
  const fitting = {
    ruleName,
    periods: fc.constantFrom(dayAndNight, day),
    unitPrice: fc.constantFrom('2', '2.0000'),
    dailyCap: fc.constantFrom('40', '', null),
  }
  const faulty = { ...fitting, ruleType, periods: fc.constant(null), unitPrice: fc.constantFrom('', null) }
  const members: fc.Arbitrary<RuleChange> = fc.oneof(
    { weight: 3, arbitrary: fc.record(fitting, { requiredKeys: [] }) },
    { weight: 1, arbitrary: fc.record(faulty, { requiredKeys: [] }) },
  )
  const commands: [number, fc.Arbitrary<Command>][] = [
    [5, fc.record({ asking, key, ruleType, ruleName }).map((input) => command('saveRule', input, saveRule))],
    [4, fc.record({ change: changeOf(asking), members }).map((input) => command('updateRule', input, updateRule))],
    [3, deletions('billingRule', asking, isRuleInUse)],
    [1, reads('billingRule', asking)],
    [
      1,
      fc
        .record({
          asking,
          walk: pageWalk,
          ruleType: fc.option(ruleType, { nil: undefined }),
          ruleName: fc.constantFrom(undefined, 'NIGHT', 'd'),
        })
        .map((input) => command('pageRules', input, pageRules)),
    ],
  ]
  return commands.map(([weight, arbitrary]): WeightedCommand => ({ weight, arbitrary }))
}
