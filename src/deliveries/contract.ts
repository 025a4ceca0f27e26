import Type, { type Static } from 'typebox'
import { typeFilter } from '../events/contract.ts'
import { eventTypes } from '../vocabulary/event-types.ts'
import { operation } from '../vocabulary/operation.ts'
import { pageOf, pageQuery, timeRange } from '../vocabulary/pages.ts'
import {
  anyAppId,
  callbacksSwitch,
  described,
  extended,
  integer,
  moment,
  named,
  nullable,
  oneOf,
  optional,
  ownAppId,
  shownKey,
  textOneOf,
} from '../vocabulary/values.ts'

const folder = '/api/event/v1/delivery'
export const testType = 'test'
export const deliveryTypes = [...eventTypes, testType] as const
const DeliveryType = named('DeliveryType', textOneOf(deliveryTypes))

const DeliveryStatus = named('DeliveryStatus', described(oneOf(1, 2, 3), '1 pending, 2 delivered, 3 failed.'))

const DeliveryRecord = named(
  'Delivery',
  Type.Object({
    id: Type.Integer({ description: 'the id, ascending within an application' }),
    eventId: nullable(
      Type.Integer({ description: 'the id of the event; null for a test', examples: [1795422025367000] }),
    ),
    appId: Type.String(),
    type: Type.String({ [shownKey]: DeliveryType, description: 'The type of the event; `test` for a test.' }),
    time: Type.String({ description: 'the time of the event; for a test, when it was sent' }),
    status: Type.Integer({ [shownKey]: DeliveryStatus }),
    attempts: Type.Integer({
      description: 'attempts since the delivery was created or last replayed',
    }),
    createTime: moment,
    nextAttemptTime: nullable(
      Type.String({
        description: 'when the next attempt is due, after any pause of the endpoint; null if there is none',
      }),
    ),
    finishTime: nullable(moment),
    responseStatus: nullable(
      Type.Integer({ description: 'the HTTP status of the latest attempt; null without a response' }),
    ),
    error: nullable(Type.String({ description: 'why the latest attempt failed' })),
    response: nullable(Type.String({ description: 'the first 4 KiB of the latest response' })),
    durationMs: nullable(Type.Integer()),
    attemptLog: Type.Array(
      Type.Object({
        time: moment,
        responseStatus: nullable(Type.Integer()),
        error: nullable(Type.String()),
        durationMs: Type.Integer(),
      }),
      { description: 'the latest 20 attempts, oldest first' },
    ),
  }),
)
export type DeliveryRecord = Static<typeof DeliveryRecord>

/** How many events of one outage (410) are looked at to find those that were not sent. */
export const mostMissedLookedAt = 2_000

export const Missed = {
  missedEvents: nullable(
    Type.Integer({
      description: `Number of missed events: created while the endpoint was disabled (410), so without a delivery. They are sent only by a replay. In a list, only those in its time range. Counted within the first ${mostMissedLookedAt} events of each of the latest outages; null for several applications.`,
    }),
  ),
  missedIsExact: Type.Boolean({ description: 'whether all events of these outages were counted' }),
  missedFrom: nullable(Type.String({ description: 'time of the oldest missed event' })),
  missedTo: nullable(Type.String({ description: 'time of the latest missed event' })),
}

/** Null for several applications. */
const Waiting = {
  waitingEvents: nullable(
    Type.Integer({
      description:
        'Number of queued events (without a delivery yet), counted up to 10000; null for several applications.',
    }),
  ),
  waitingSince: nullable(Type.String({ description: 'time of the oldest queued event' })),
  heldUntil: nullable(Type.String({ description: 'until when the endpoint is paused after failed attempts' })),
  callbacks: callbacksSwitch,
}

const ofApplication = { callers: ['application', 'operator'] } as const
const status = optional(DeliveryStatus)

export const pageDeliveries = operation({
  id: 'pageDeliveries',
  group: 'deliveries',
  summary: 'Lists deliveries, newest event first. Deliveries of several applications are grouped by `appId`.',
  method: 'GET',
  path: `${folder}/page`,
  ...ofApplication,
  query: Type.Object({
    appId: anyAppId,
    ...pageQuery,
    status,
    isDelivered: optional(
      textOneOf(['true', 'false'], 'true: only delivered (2); false: only pending (1) and failed (3).'),
    ),
    type: optional(typeFilter(deliveryTypes)),
    eventId: optional(integer()),
    ...timeRange,
  }),
  data: extended(pageOf(DeliveryRecord), { ...Waiting, ...Missed }),
  refusals: ['applicationNotFound'],
})

export const getDelivery = operation({
  id: 'getDelivery',
  group: 'deliveries',
  summary: 'Returns one delivery.',
  method: 'GET',
  path: `${folder}/detail`,
  ...ofApplication,
  query: Type.Object({ appId: ownAppId, id: integer() }),
  data: DeliveryRecord,
  refusals: ['applicationNotFound', 'deliveryNotFound'],
})

export const replayDeliveries = operation({
  id: 'replayDeliveries',
  group: 'deliveries',
  summary:
    'Replays one delivery, or all events in a time range that the endpoint subscribes to. One replay per application runs at a time.',
  words: { en: 'Replay deliveries', zh: '重新投递' },
  method: 'POST',
  path: `${folder}/replay`,
  ...ofApplication,
  example: { timeFrom: '2026-01-01 00:00:00', timeTo: '2026-12-31 23:59:59' },
  body: Type.Object({
    appId: ownAppId,
    id: optional(integer()),
    ...timeRange,
    status,
    isDelivered: optional(
      Type.Boolean({
        description: 'false: only undelivered events: pending and failed deliveries, and missed events.',
      }),
    ),
  }),
  data: Type.Object({ replayed: Type.Integer({ description: 'number of deliveries that will be replayed' }) }),
  refusals: ['applicationNotFound', 'callbackMissing', 'deliveryNotFound', 'tooManyRequests'],
  idempotent: true,
})

export const testDelivery = operation({
  id: 'testDelivery',
  group: 'deliveries',
  summary: 'Sends one test event to the endpoint, without retries, and returns the result.',
  words: { en: 'Test the callback', zh: '测试回调' },
  method: 'POST',
  path: `${folder}/test`,
  ...ofApplication,
  body: Type.Object({ appId: ownAppId }),
  data: DeliveryRecord,
  refusals: ['applicationNotFound', 'callbackMissing', 'tooManyRequests'],
  idempotent: true,
  // The longest attempt, and some time for the database.
  answerTimeoutMs: 18_000,
})
