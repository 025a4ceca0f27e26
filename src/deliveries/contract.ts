import Type, { type Static } from 'typebox'
import { eventTypes, typeFilter } from '../events/contract.ts'
import { operation } from '../http/operation.ts'
import {
  anyAppId,
  integer,
  moment,
  nullable,
  oneOf,
  optional,
  ownAppId,
  pageOf,
  pageQuery,
  timeRange,
} from '../values.ts'

const folder = '/api/event/v1/delivery'
/** More are replayed in several calls. */
export const maxReplayed = 100_000
/** What a test's delivery is called where others have their event's type. */
export const testType = 'test'
export const deliveryTypes = [...eventTypes, testType] as const

const DeliveryRecord = Type.Object({
  id: Type.Integer({ description: 'ascending within an application' }),
  eventId: nullable(Type.Integer({ description: 'null for a test' })),
  appId: Type.String(),
  type: Type.String({ description: 'of the event; test for a test' }),
  time: Type.String({ description: 'of the event; of a test, when it was sent' }),
  status: Type.Integer({ description: '1 waiting for an attempt, 2 delivered, 3 dead' }),
  attempts: Type.Integer({ description: 'since it was made or replayed' }),
  createTime: moment,
  nextAttemptTime: nullable(
    Type.String({ description: 'when it is due and its endpoint is not left alone; null when nothing is sent' }),
  ),
  finishTime: nullable(moment),
  responseStatus: nullable(Type.Integer({ description: 'of the newest attempt' })),
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
})
export type DeliveryRecord = Static<typeof DeliveryRecord>

/** What one application has before it; null over several. */
const Waiting = Type.Object({
  waitingEvents: nullable(
    Type.Integer({
      description: 'of one application: events that are not taken yet and have no delivery, counted to 10000',
    }),
  ),
  waitingSince: nullable(Type.String({ description: 'the time of the oldest of them' })),
  heldUntil: nullable(Type.String({ description: 'until then the endpoint is left alone for its failures' })),
  callbacks: Type.String({ description: 'on, or paused: then this service sends nothing' }),
})

const ofApplication = { callers: ['application', 'operator'] } as const
const status = optional(oneOf(1, 2, 3))

export const pageDeliveries = operation({
  id: 'pageDeliveries',
  summary:
    'Pages through the deliveries of an application’s events to its callback, newest event first; over several applications, by application first.',
  method: 'GET',
  path: `${folder}/page`,
  ...ofApplication,
  query: Type.Object({
    appId: anyAppId,
    ...pageQuery,
    status,
    type: optional(typeFilter(deliveryTypes)),
    eventId: optional(integer()),
    ...timeRange,
  }),
  data: Type.Object({ ...pageOf(DeliveryRecord).properties, ...Waiting.properties }),
  refusals: ['applicationNotFound'],
})

export const getDelivery = operation({
  id: 'getDelivery',
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
  summary:
    'Sends again: one delivery, or every event of a time range that the callback asks for, one replay at a time.',
  method: 'POST',
  path: `${folder}/replay`,
  ...ofApplication,
  body: Type.Object({
    appId: ownAppId,
    id: optional(integer()),
    ...timeRange,
    status,
  }),
  data: Type.Object({ replayed: Type.Integer({ description: 'how many will be sent again' }) }),
  refusals: ['applicationNotFound', 'callbackMissing', 'deliveryNotFound', 'tooManyRequests'],
  idempotent: true,
})

export const testDelivery = operation({
  id: 'testDelivery',
  summary: 'Sends a test event to the callback, once, and answers what came of it.',
  method: 'POST',
  path: `${folder}/test`,
  ...ofApplication,
  body: Type.Object({ appId: ownAppId }),
  data: DeliveryRecord,
  refusals: ['applicationNotFound', 'callbackMissing', 'tooManyRequests'],
  idempotent: true,
  // The attempt's own time, and a little for the database.
  answerTimeoutMs: 18_000,
})
