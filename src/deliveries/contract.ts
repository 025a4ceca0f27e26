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
/** The `type` of a test's delivery; other deliveries have their event's type. */
export const testType = 'test'
export const deliveryTypes = [...eventTypes, testType] as const
const DeliveryType = named('DeliveryType', textOneOf(deliveryTypes))

const DeliveryStatus = named(
  'DeliveryStatus',
  described(oneOf(1, 2, 3), '1 waiting for an attempt, 2 delivered, 3 dead.'),
)

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
      description: 'how many attempts there were since the delivery was created or last replayed',
    }),
    createTime: moment,
    nextAttemptTime: nullable(
      Type.String({
        description: 'when the next attempt follows, after any pause of the endpoint; null if none follows',
      }),
    ),
    finishTime: nullable(moment),
    responseStatus: nullable(
      Type.Integer({ description: 'the HTTP status of the newest attempt; null without an answer' }),
    ),
    error: nullable(Type.String({ description: 'why the newest attempt failed' })),
    response: nullable(Type.String({ description: 'the first 4 KiB of the newest answer' })),
    durationMs: nullable(Type.Integer()),
    attemptLog: Type.Array(
      Type.Object({
        time: moment,
        responseStatus: nullable(Type.Integer()),
        error: nullable(Type.String()),
        durationMs: Type.Integer(),
      }),
      { description: 'the newest 20 attempts, oldest first' },
    ),
  }),
)
export type DeliveryRecord = Static<typeof DeliveryRecord>

/** How many events of one stop are looked at to find those that were not sent. */
export const mostMissedLookedAt = 2_000

/** The events of a callback's stops. */
export const Missed = {
  missedEvents: nullable(
    Type.Integer({
      description: `How many events were made while the callback was stopped (410), and have no delivery; of a page, those in its time. They are sent only by a replay. Counted among the first ${mostMissedLookedAt} events of each of the newest stops; null for several applications.`,
    }),
  ),
  missedIsExact: Type.Boolean({ description: 'whether all events of these stops were looked at' }),
  missedFrom: nullable(Type.String({ description: 'the time of the oldest of these events' })),
  missedTo: nullable(Type.String({ description: 'the time of the newest of these events' })),
}

/** The backlog of one application; null for several. */
const Waiting = {
  waitingEvents: nullable(
    Type.Integer({
      description:
        'How many events of the application wait and have no delivery yet, counted up to 10000; null for several applications.',
    }),
  ),
  waitingSince: nullable(Type.String({ description: 'the time of the oldest waiting event' })),
  heldUntil: nullable(
    Type.String({ description: 'until when nothing is sent to the endpoint, because attempts have failed' }),
  ),
  callbacks: callbacksSwitch,
}

const ofApplication = { callers: ['application', 'operator'] } as const
const status = optional(DeliveryStatus)

export const pageDeliveries = operation({
  id: 'pageDeliveries',
  group: 'deliveries',
  summary:
    'Pages through the deliveries of an application’s events to its callback, newest event first; those of several applications are sorted by `appId` first.',
  method: 'GET',
  path: `${folder}/page`,
  ...ofApplication,
  query: Type.Object({
    appId: anyAppId,
    ...pageQuery,
    status,
    isDelivered: optional(
      textOneOf(['true', 'false'], 'true: only deliveries of status 2; false: only those that wait or are dead.'),
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
  summary: 'Answers one delivery of an application.',
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
    'Sends one delivery again, or every event of a time range that the callback asks for. One replay of an application runs at a time.',
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
        description:
          'false: only events that were not delivered: those whose delivery waits or is dead, and those without one that were made while the callback was stopped.',
      }),
    ),
  }),
  data: Type.Object({ replayed: Type.Integer({ description: 'how many deliveries will be sent again' }) }),
  refusals: ['applicationNotFound', 'callbackMissing', 'deliveryNotFound', 'tooManyRequests'],
  idempotent: true,
})

export const testDelivery = operation({
  id: 'testDelivery',
  group: 'deliveries',
  summary: 'Sends a test event to the callback, once, and answers the outcome.',
  method: 'POST',
  path: `${folder}/test`,
  ...ofApplication,
  body: Type.Object({ appId: ownAppId }),
  data: DeliveryRecord,
  refusals: ['applicationNotFound', 'callbackMissing', 'tooManyRequests'],
  idempotent: true,
  // The longest attempt, and some time for the database's part.
  answerTimeoutMs: 18_000,
})
