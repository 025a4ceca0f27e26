import Type, { type Static, type TUnknown } from 'typebox'
import { ruleTerms, shownTerms } from '../../billing-rules/contract.ts'
import { limits } from '../../vocabulary/limits.ts'
import { operation } from '../../vocabulary/operation.ts'
import { pageOf, pageQuery, timeRange } from '../../vocabulary/pages.ts'
import {
  anyAppId,
  described,
  divisionCode,
  freeText,
  ids,
  integer,
  lengths,
  moment,
  momentText,
  momentWords,
  named,
  nullable,
  oneOf,
  optional,
  ownAppId,
  reasonText,
  shownKey,
} from '../../vocabulary/values.ts'

const folder = '/api/charging/v1/priceChange'

export const priceChangeStatus = { waiting: 1, inForce: 2, cancelled: 3 } as const

const PriceChangeStatus = named('PriceChangeStatus', described(oneOf(1, 2, 3), '1 scheduled, 2 applied, 3 cancelled.'))

/** Null removes the rule. */
const givenRules = {
  fastChargeBillRuleId: optional(integer()),
  rushingBillRuleId: optional(integer()),
  placeholderBillRuleId: optional(integer()),
}

const GivenRules = named(
  'GivenRules',
  Type.Object(givenRules, {
    description: 'At least one of the three. Omitted fields stay unchanged at each site; null removes the rule.',
  }),
)
export type GivenRules = Static<typeof GivenRules>

export const ChosenSites = named(
  'ChosenSites',
  Type.Object(
    {
      ids: optional(
        Type.Array(integer(1), {
          minItems: 1,
          maxItems: limits.priceChangeIds,
          description: 'The ids of the sites.',
        }),
      ),
      all: optional(Type.Boolean({ description: 'true: all sites of the application.' })),
      provinceCode: optional(divisionCode),
      cityCode: optional(divisionCode),
      districtCode: optional(divisionCode),
      billingRuleId: optional(described(integer(), 'Sites that use this billing rule.')),
    },
    {
      description:
        '`ids`, or `all`, or any of the other filters, all of which must match. Unknown fields are refused. The set of sites is fixed when the change is scheduled: up to 10000.',
    },
  ),
)
export type ChosenSites = Static<typeof ChosenSites>

const shownTime = (description: string) => nullable(Type.String({ description }))

const members = {
  appId: Type.String(),
  status: Type.Integer({ [shownKey]: PriceChangeStatus }),
  effectiveTime: described(moment, 'When it takes effect.'),
  effectiveAt: Type.String({
    format: 'date-time',
    description: 'The instant of `effectiveTime` in RFC 3339.',
    examples: ['2028-10-31T16:00:00.000Z'],
  }),
  billingRuleId: nullable(
    Type.Integer({ description: 'the rule that gets new pricing; null for a change of rules at sites' }),
  ),
  ...shownTerms,
  rules: nullable(GivenRules),
  siteCount: nullable(
    Type.Integer({
      description:
        'number of sites that get other rules, without sites deleted since; of a cancelled one, its number when it was cancelled',
    }),
  ),
  skippedCount: nullable(Type.Integer({ description: 'for an undo: number of sites that aren’t restored' })),
  reason: nullable(Type.String()),
  undoOf: nullable(Type.Integer({ description: 'the price change that this one undoes' })),
  createTime: moment,
  createdBy: Type.String({ description: 'Who scheduled it.' }),
  appliedTime: shownTime('when all rows and events of the price change had been written'),
  cancelTime: shownTime('when it was cancelled'),
  cancelledBy: nullable(Type.String({ description: 'who cancelled it' })),
}

export const PriceChangeRecord = named('PriceChange', Type.Object({ id: Type.Integer(), ...members }))
export type PriceChangeRecord = Static<typeof PriceChangeRecord>

const ofOne = { group: 'priceChanges', callers: ['application', 'operator'] } as const

/** The pricing as `saveBillingRule` takes it, checked with the rule's type to report all errors together. */
export const NewTerms = Type.Object(ruleTerms)
const termsOfAnyType = Object.fromEntries(
  Object.entries(ruleTerms).map(([member, schema]) => [member, Type.Optional(Type.Unknown({ [shownKey]: schema }))]),
) as Record<keyof typeof ruleTerms, ReturnType<typeof Type.Optional<TUnknown>>>

export const schedulePriceChange = operation({
  ...ofOne,
  id: 'schedulePriceChange',
  summary:
    'Schedules a price change: new pricing for a billing rule (`billingRuleId` and its complete pricing), or other billing rules for sites (`sites` and `rules`). It takes effect exactly at `effectiveTime`.',
  words: { en: 'Schedule a price change', zh: '安排调价' },
  method: 'POST',
  path: `${folder}/schedule`,
  example: { billingRuleId: 1, periods: [{ startTime: '00:00:00', electricityPrice: '0.65', servicePrice: '0.9' }] },
  body: Type.Object({
    appId: ownAppId,
    effectiveTime: described(
      momentText,
      `When it takes effect: in whole seconds, in the future, at most ${limits.priceChangeDays} days ahead. ${momentWords}`,
    ),
    reason: optional(freeText(lengths.reason)),
    dryRun: optional(
      Type.Boolean({ description: 'true: returns what would be scheduled, with `id` null, without writing anything.' }),
    ),
    billingRuleId: optional(described(integer(1), 'The billing rule that gets new pricing.')),
    ...termsOfAnyType,
    sites: optional(ChosenSites),
    rules: optional(GivenRules),
  }),
  data: named(
    'ScheduledPriceChange',
    Type.Object({ id: nullable(Type.Integer({ description: 'the id; null for a dry run' })), ...members }),
  ),
  refusals: ['applicationNotFound', 'siteNotFound', 'billingRuleNotFound', 'billingRuleWrongType', 'priceChangeClash'],
  statuses: { billingRuleNotFound: [404, 409] },
  idempotent: true,
})

const id = integer(1)
const withReason = Type.Object({ appId: ownAppId, id, reason: reasonText })

export const cancelPriceChange = operation({
  ...ofOne,
  id: 'cancelPriceChange',
  summary: 'Cancels a scheduled price change. Refused once it has taken effect.',
  words: { en: 'Cancel a price change', zh: '取消调价' },
  method: 'POST',
  path: `${folder}/cancel`,
  body: withReason,
  data: PriceChangeRecord,
  refusals: ['applicationNotFound', 'priceChangeNotFound', 'priceChangeWrongState'],
  idempotent: true,
})

export const undoPriceChange = operation({
  ...ofOne,
  id: 'undoPriceChange',
  summary:
    'Undoes an applied price change immediately, as a new price change (`undoOf`). Restores the rule’s previous pricing if the rule still has the pricing of this change, or the previous rules of each site that still has the rules of this change.',
  words: { en: 'Undo a price change', zh: '撤销调价' },
  method: 'POST',
  path: `${folder}/undo`,
  body: withReason,
  data: PriceChangeRecord,
  refusals: ['applicationNotFound', 'priceChangeNotFound', 'priceChangeWrongState'],
  idempotent: true,
})

export const getPriceChange = operation({
  ...ofOne,
  id: 'getPriceChange',
  summary: 'Returns one price change.',
  method: 'GET',
  path: `${folder}/detail`,
  query: Type.Object({ appId: anyAppId, id }),
  data: PriceChangeRecord,
  refusals: ['applicationNotFound', 'priceChangeNotFound'],
})

export const pagePriceChanges = operation({
  ...ofOne,
  id: 'pagePriceChanges',
  summary:
    'Lists price changes, latest `effectiveTime` first. Price changes of several applications are grouped by `appId`.',
  method: 'GET',
  path: `${folder}/page`,
  query: Type.Object({
    appId: anyAppId,
    ...pageQuery,
    status: optional(PriceChangeStatus),
    billingRuleId: optional(
      described(integer(), 'Only changes of this rule’s pricing, or that assign this rule to sites.'),
    ),
    siteId: optional(described(integer(), 'Only changes of the rules of this site; a cancelled one is in none.')),
    undoOf: optional(ids('Only undos of these price changes: 1 to 100 IDs, separated by commas.')),
    timeFrom: described(timeRange.timeFrom, 'Only changes that take effect at or after this time.'),
    timeTo: described(
      timeRange.timeTo,
      'Only changes that take effect at or before this time (the whole second included).',
    ),
  }),
  data: pageOf(PriceChangeRecord),
  refusals: ['applicationNotFound'],
})
