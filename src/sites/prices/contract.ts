import Type, { type Static } from 'typebox'
import { Period } from '../../billing-rules/contract.ts'
import { operation } from '../../vocabulary/operation.ts'
import {
  described,
  integer,
  moment,
  momentText,
  momentWords,
  named,
  nullable,
  optional,
  ownAppId,
} from '../../vocabulary/values.ts'

const instant = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2028-10-31T16:00:00.000Z'] })

const PriceInForce = named(
  'PriceInForce',
  Type.Object({
    billingRuleId: Type.Integer({ description: 'The rule that the site uses at that time.' }),
    ruleName: Type.String({ description: 'The rule’s present name; for a deleted rule, its last name.' }),
    periods: nullable(Type.Array(Period)),
    period: nullable(described(Period, 'The period of `periods` that covers that time of day.')),
    freeMinutes: nullable(Type.Integer()),
    unitMinutes: nullable(Type.Integer()),
    unitPrice: nullable(Type.String()),
    dailyCap: nullable(Type.String()),
    sinceTime: described(moment, 'Since when this pricing is in effect at this site.'),
    sinceAt: instant('The instant of `sinceTime` in RFC 3339.'),
    untilTime: nullable(
      described(moment, 'Until when this pricing is in effect at this site; null if no price change is scheduled.'),
    ),
    untilAt: nullable(instant('The instant of `untilTime` in RFC 3339.')),
    priceChangeId: nullable(
      Type.Integer({
        description:
          'the price change that set this pricing; null if it was set with the site or rule, or by an update',
      }),
    ),
  }),
)
export type PriceInForce = Static<typeof PriceInForce>

export const getSitePrices = operation({
  id: 'getSitePrices',
  group: 'sites',
  summary:
    'Returns the billing rules and pricing in effect at a site at a given time, exact to the second: fast charging, slow charging and occupancy. For a future time, scheduled price changes are included.',
  method: 'GET',
  path: '/api/charging/v1/siteManageThird/prices',
  callers: ['application', 'operator'],
  query: Type.Object({
    appId: ownAppId,
    id: integer(1),
    time: optional(described(momentText, `The time; default: now. ${momentWords}`)),
  }),
  data: named(
    'SitePrices',
    Type.Object({
      siteId: Type.Integer({ description: 'The site.' }),
      appId: Type.String(),
      time: described(moment, 'The time at which these rules are in effect.'),
      at: instant('The instant of `time` in RFC 3339.'),
      fast: nullable(described(PriceInForce, 'Fast charging; null without a rule.')),
      slow: nullable(described(PriceInForce, 'Slow charging; null for no rule.')),
      occupancy: nullable(described(PriceInForce, 'Occupancy; null for no rule.')),
    }),
  ),
  refusals: ['applicationNotFound', 'siteNotFound'],
})
