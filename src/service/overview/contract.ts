import Type, { type Static } from 'typebox'
import { AuditRecord } from '../../events/contract.ts'
import { operation } from '../../vocabulary/operation.ts'
import { callbacksSwitch, moment, named } from '../../vocabulary/values.ts'

const count = Type.Integer()

/** Counts that are made once in a while, because they are too expensive for each request. */
const Counts = named(
  'PlatformCounts',
  Type.Object({
    sites: count,
    devices: Type.Integer({ description: 'bound to an application' }),
    devicesOnline: count,
    devicesFaulty: count,
    applications: count,
    applicationsOffline: count,
    applicationsFrozen: count,
    callbacksWaiting: Type.Integer({ description: 'that wait for another attempt' }),
    callbacksDead: count,
    callbacksHeld: Type.Integer({ description: 'applications whose callback is held after failures in a row' }),
    eventsWaiting: Type.Integer({
      description: 'that callbacks ask for and that wait for their first attempt, counted to 200000',
    }),
    callbacksStopped: Type.Integer({ description: 'applications whose callback answered 410' }),
  }),
)
export type Counts = Static<typeof Counts>

/** An application where something asks for attention. */
const Trouble = named(
  'Trouble',
  Type.Object({
    appId: Type.String(),
    appName: Type.String(),
    devicesFaulty: count,
    callbacksDead: count,
    isCallbackStopped: Type.Boolean(),
    callbackFailingSince: Type.Union([moment, Type.Null()], {
      description: 'since when each attempt at its callback has failed; null while it is sent to',
    }),
    callbackFailingReason: Type.Union([Type.String(), Type.Null()], { description: 'why the newest attempt failed' }),
  }),
)
export type Trouble = Static<typeof Trouble>

export const getOverview = operation({
  id: 'getOverview',
  group: 'overview',
  summary:
    'Answers the platform at a glance, as it was at `countTime`: some seconds ago, a minute where there is much to count.',
  method: 'GET',
  path: '/api/platform/v1/overview/detail',
  callers: ['operator'],
  query: Type.Object({}),
  data: Type.Object({
    counts: Type.Union([Counts, Type.Null()], { description: 'null while they are made for the first time' }),
    callbacks: callbacksSwitch,
    countTime: Type.Union([moment, Type.Null()]),
    troubles: Type.Array(Trouble, { description: 'the ten applications with the most' }),
    minutes: Type.Array(Type.Object({ time: moment, creates: count, refusals: count }), {
      description:
        'of the last 24 hours, oldest first; minutes without any are left out. Refusals are those of writes, as the refusal log takes them',
    }),
    events: Type.Array(AuditRecord, { description: 'the newest of all applications' }),
  }),
  refusals: [],
})
