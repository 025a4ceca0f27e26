import Type, { type Static } from 'typebox'
import { operation } from '../http/operation.ts'
import { deviceNo, integer, moment, momentText, optional, ownAppId, pageOf, pageQuery, reasonKey } from '../values.ts'

/** Every type of event (contract §6). */
export const eventTypes = [
  'site.created',
  'site.updated',
  'site.deleted',
  'device.bound',
  'device.updated',
  'device.unbound',
  'device.transferred',
  'device.stateChanged',
  'billingRule.created',
  'billingRule.updated',
  'billingRule.deleted',
  'application.online',
  'application.offline',
  'application.frozen',
  'application.unfrozen',
  'thirdPartyConfig.saved',
] as const

export type EventType = (typeof eventTypes)[number]

const EventRecord = Type.Object({
  id: Type.Integer({ description: 'ascending within an application' }),
  type: Type.String(),
  appId: Type.String(),
  time: moment,
  actor: Type.String({ description: 'who did it: application:…, operator:… or platform:…' }),
  data: Type.Unknown({ description: 'the record as its operation answers it' }),
})
export type EventRecord = Static<typeof EventRecord>

/** The types that tell of a device, and those that tell of a site: each has its filter. */
export const typesOf = (noun: 'device' | 'site' | 'billingRule') =>
  eventTypes.filter((type) => type.startsWith(`${noun}.`))

export const pageEvents = operation({
  id: 'pageEvents',
  summary: 'The feed: an application’s events, oldest first. Ask again with `afterId` for what came since.',
  method: 'GET',
  path: '/api/event/v1/event/page',
  callers: ['application', 'operator'],
  query: Type.Object({
    appId: ownAppId,
    ...pageQuery,
    afterId: optional(integer()),
    order: optional(
      Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
        [reasonKey]: { en: 'must be asc or desc', zh: '必须是 asc 或 desc' },
      }),
    ),
    type: optional(
      Type.Union(
        eventTypes.map((type) => Type.Literal(type)),
        {
          [reasonKey]: { en: `must be one of ${eventTypes.join(', ')}`, zh: `必须是 ${eventTypes.join('、')} 之一` },
        },
      ),
    ),
    timeFrom: optional(momentText),
    timeTo: optional(momentText),
    deviceNo: optional(deviceNo),
    siteId: optional(integer()),
    billingRuleId: optional(integer()),
  }),
  data: pageOf(EventRecord),
  refusals: ['applicationNotFound'],
})
