import Type, { type Static } from 'typebox'
import { eventTypes } from '../events/contract.ts'
import { operation } from '../http/operation.ts'
import {
  integer,
  moment,
  momentText,
  nullable,
  oneOf,
  optional,
  ownAppId,
  pageOf,
  pageQuery,
  textOneOf,
} from '../values.ts'

const folder = '/api/event/v1/delivery'
/** More are replayed in several calls. */
export const maxReplayed = 100_000
export const replayTimeoutMs = 28_000
/** What a test's delivery is called where others have their event's type. */
export const testType = 'test'
const deliveryTypes = [...eventTypes, testType] as const

const DeliveryRecord = Type.Object({
  id: Type.Integer({ description: 'ascending within an application' }),
  eventId: nullable(Type.Integer({ description: 'null for a test' })),
  appId: Type.String(),
  type: Type.String({ description: 'of the event; test for a test' }),
  status: Type.Integer({ description: '1 waiting for an attempt, 2 delivered, 3 dead' }),
  attempts: Type.Integer({ description: 'since it was made or replayed' }),
  createTime: moment,
  nextAttemptTime: nullable(moment),
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

const ofApplication = { callers: ['application', 'operator'] } as const
const status = optional(oneOf(1, 2, 3))

export const pageDeliveries = operation({
  id: 'pageDeliveries',
  summary: 'Pages through the deliveries of an application’s events to its callback, newest event first.',
  method: 'GET',
  path: `${folder}/page`,
  ...ofApplication,
  query: Type.Object({
    appId: ownAppId,
    ...pageQuery,
    status,
    type: optional(textOneOf(deliveryTypes)),
    eventId: optional(integer()),
    createTimeFrom: optional(momentText),
    createTimeTo: optional(momentText),
  }),
  data: pageOf(DeliveryRecord),
  refusals: ['applicationNotFound'],
})

export const replayDeliveries = operation({
  id: 'replayDeliveries',
  summary: 'Sends again: one delivery, or every event of a time range that the callback asks for.',
  method: 'POST',
  path: `${folder}/replay`,
  ...ofApplication,
  body: Type.Object({
    appId: ownAppId,
    id: optional(integer()),
    from: optional(momentText),
    to: optional(momentText),
    status,
  }),
  data: Type.Object({ replayed: Type.Integer() }),
  refusals: ['applicationNotFound', 'callbackMissing', 'deliveryNotFound'],
  // As many as one call may set waiting take some seconds.
  answerTimeoutMs: replayTimeoutMs + 2_000,
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
  // The attempt's own time, and a little for the database.
  answerTimeoutMs: 18_000,
})
