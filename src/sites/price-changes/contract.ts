import Type, { type Static, type TUnknown } from 'typebox'
import { Period, ruleTerms } from '../../billing-rules/contract.ts'
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

const PriceChangeStatus = named(
  'PriceChangeStatus',
  described(oneOf(1, 2, 3), '1 waiting, 2 in force or has been, 3 cancelled.'),
)

/** The fields of a site that a price change can set; null takes the rule away. */
const givenRules = {
  fastChargeBillRuleId: optional(integer()),
  rushingBillRuleId: optional(integer()),
  placeholderBillRuleId: optional(integer()),
}

const GivenRules = named(
  'GivenRules',
  Type.Object(givenRules, {
    description:
      'At least one of the three. A field that is left out stays as each site has it, and null takes the rule away.',
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
      all: optional(Type.Boolean({ description: 'true: every site of the application.' })),
      provinceCode: optional(divisionCode),
      cityCode: optional(divisionCode),
      districtCode: optional(divisionCode),
      billingRuleId: optional(described(integer(), 'The sites that name this billing rule.')),
    },
    {
      description:
        '`ids`, or `all`, or any of the others, all of which must fit; a member that is no filter is refused beside these. The sites are those that fit when the change is scheduled: 10000 at most.',
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
  billingRuleId: nullable(Type.Integer({ description: 'the rule that gets new terms; null for other rules at sites' })),
  periods: nullable(Type.Array(Period)),
  freeMinutes: nullable(Type.Integer()),
  unitMinutes: nullable(Type.Integer()),
  unitPrice: nullable(Type.String()),
  dailyCap: nullable(Type.String()),
  rules: nullable(GivenRules),
  siteCount: nullable(
    Type.Integer({
      description:
        'how many sites get other rules, without sites deleted since; of a cancelled one, its number when it was cancelled',
    }),
  ),
  skippedCount: nullable(Type.Integer({ description: 'of an undo: how many sites are not put back' })),
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

/**
 * The terms as `saveBillingRule` takes them. They are checked together with the type of the rule, so that all of their
 * faults are told at once.
 */
export const NewTerms = Type.Object(ruleTerms)
const termsOfAnyType = Object.fromEntries(
  Object.entries(ruleTerms).map(([member, schema]) => [member, Type.Optional(Type.Unknown({ [shownKey]: schema }))]),
) as Record<keyof typeof ruleTerms, ReturnType<typeof Type.Optional<TUnknown>>>

export const schedulePriceChange = operation({
  ...ofOne,
  id: 'schedulePriceChange',
  summary:
    'Schedules new terms of a billing rule (`billingRuleId` and the rule’s whole terms), or other rules at sites (`sites` and `rules`), from a moment on. Which terms are in force follows from the time alone.',
  method: 'POST',
  path: `${folder}/schedule`,
  example: { billingRuleId: 1, periods: [{ startTime: '00:00:00', electricityPrice: '0.65', servicePrice: '0.9' }] },
  body: Type.Object({
    appId: ownAppId,
    effectiveTime: described(
      momentText,
      `When it takes effect: in whole seconds, later than now and at most ${limits.priceChangeDays} days ahead. ${momentWords}`,
    ),
    reason: optional(freeText(lengths.reason)),
    dryRun: optional(
      Type.Boolean({ description: 'true: answers what would be scheduled, with `id` null, and writes nothing.' }),
    ),
    billingRuleId: optional(described(integer(1), 'The rule that gets new terms.')),
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
  summary: 'Cancels a price change that waits: it never takes effect. Refused once its moment has come.',
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
    'Undoes a price change that is in force, at once, by another price change (`undoOf`). It restores the former terms of the rule, if its present terms are those of the price change; or the former rules of each site that still has the rules of the price change.',
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
  summary: 'Answers one price change.',
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
    'Pages through an application’s price changes, latest `effectiveTime` first; those of several applications are sorted by `appId` first.',
  method: 'GET',
  path: `${folder}/page`,
  query: Type.Object({
    appId: anyAppId,
    ...pageQuery,
    status: optional(PriceChangeStatus),
    billingRuleId: optional(
      described(integer(), 'Only changes of this rule’s terms, or that give this rule to sites.'),
    ),
    siteId: optional(described(integer(), 'Only changes of the rules of this site; a cancelled one is in none.')),
    undoOf: optional(ids('Only undos of these price changes: 1 to 100 ids, with commas between them.')),
    timeFrom: described(timeRange.timeFrom, 'Only changes that take effect at this moment or later.'),
    timeTo: described(
      timeRange.timeTo,
      'Only changes that take effect at this moment or earlier, including all of its second.',
    ),
  }),
  data: pageOf(PriceChangeRecord),
  refusals: ['applicationNotFound'],
})
