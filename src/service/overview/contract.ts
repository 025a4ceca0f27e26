import Type, { type Static } from 'typebox'
import { AuditRecord } from '../../events/contract.ts'
import { operation } from '../../vocabulary/operation.ts'
import { callbacksSwitch, moment, named } from '../../vocabulary/values.ts'
import { FindingRecord } from '../contract.ts'

const count = Type.Integer()

/** Counts that are made once in a while, because they are too expensive for each request. */
const Counts = named(
  'PlatformCounts',
  Type.Object({
    sites: count,
    sitesWithoutDevices: Type.Integer({ description: 'how many sites have no device, counted up to 100000' }),
    devices: Type.Integer({ description: 'how many devices are bound to an application' }),
    devicesOnline: count,
    devicesFaulty: count,
    applications: count,
    applicationsOffline: count,
    applicationsFrozen: count,
    callbacksWaiting: Type.Integer({
      description: 'how many deliveries wait for another attempt, counted up to 100000',
    }),
    callbacksDead: Type.Integer({ description: 'how many deliveries are dead, without tests, counted up to 100000' }),
    callbacksHeld: Type.Integer({
      description: 'how many applications have a callback that pauses after failures in a row',
    }),
    eventsWaiting: Type.Integer({
      description:
        'how many events wait for the first attempt of their callback; at most 100000 are counted for callbacks that pause, and at most 100000 for the others',
    }),
    callbacksStopped: Type.Integer({ description: 'how many applications have a callback that answered 410' }),
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
      description:
        'since when every attempt to reach the application’s callback has failed; null after fewer than 3 failures in a row, and while the callback is stopped',
    }),
    callbackFailingReason: Type.Union([Type.String(), Type.Null()], { description: 'why the newest attempt failed' }),
  }),
)
export type Trouble = Static<typeof Trouble>

export const getOverview = operation({
  id: 'getOverview',
  group: 'overview',
  summary:
    'Answers the platform at a glance, as it was at `countTime`: some seconds ago, or a minute ago if there is much to count. If the count is older, the request waits for a new one, for 3 seconds at most.',
  method: 'GET',
  path: '/api/platform/v1/overview/detail',
  callers: ['operator'],
  query: Type.Object({}),
  data: Type.Object({
    counts: Type.Union([Counts, Type.Null()], { description: 'null while everything is counted for the first time' }),
    callbacks: callbacksSwitch,
    countTime: Type.Union([moment, Type.Null()]),
    troubles: Type.Array(Trouble, { description: 'the ten applications with the most problems' }),
    attention: Type.Array(FindingRecord, {
      description:
        'what needs attention, faults first: at most ten of each kind, and for applications those in `troubles`',
    }),
    minutes: Type.Array(
      Type.Object({
        time: moment,
        creates: count,
        siteCreates: Type.Integer({ description: 'how many of the creates were of sites' }),
        refusals: count,
      }),
      {
        description:
          'the minutes of the last 24 hours, oldest first; minutes without creates and refusals are left out. The refusals are those that the refusal log keeps',
      },
    ),
    online: Type.Array(Type.Object({ time: moment, devicesOnline: count }), {
      description: 'how many devices were online in the last 24 hours, oldest first, one count each five minutes',
    }),
    events: Type.Array(AuditRecord, {
      description: 'the newest entries of the audit trail without changes of device state',
    }),
  }),
  refusals: [],
})
