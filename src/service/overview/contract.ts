import Type, { type Static } from 'typebox'
import { AuditRecord } from '../../events/contract.ts'
import { operation } from '../../vocabulary/operation.ts'
import { callbacksSwitch, moment, named } from '../../vocabulary/values.ts'
import { FindingRecord } from '../contract.ts'

const count = Type.Integer()

/** Counted once in a while, because counting for each request would cost too much. */
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
      description: 'number of pending deliveries, counted up to 100000',
    }),
    callbacksDead: Type.Integer({ description: 'number of failed deliveries, without tests, counted up to 100000' }),
    callbacksHeld: Type.Integer({
      description: 'number of applications whose endpoint is paused after repeated failures',
    }),
    eventsWaiting: Type.Integer({
      description: 'number of queued events, counted up to 100000 for paused endpoints and up to 100000 for the others',
    }),
    callbacksStopped: Type.Integer({ description: 'number of applications whose endpoint is disabled (410)' }),
  }),
)
export type Counts = Static<typeof Counts>

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
        'since when all attempts have failed; null after fewer than 3 failures in a row, and while the endpoint is disabled',
    }),
    callbackFailingReason: Type.Union([Type.String(), Type.Null()], { description: 'why the latest attempt failed' }),
  }),
)
export type Trouble = Static<typeof Trouble>

export const getOverview = operation({
  id: 'getOverview',
  group: 'overview',
  summary:
    'Returns an overview of the platform at `countTime`: a few seconds ago, or up to a minute on large platforms. If the counts are older, the request waits up to 3 seconds for new ones.',
  method: 'GET',
  path: '/api/platform/v1/overview/detail',
  callers: ['operator'],
  query: Type.Object({}),
  data: Type.Object({
    counts: Type.Union([Counts, Type.Null()], { description: 'null until the first count is complete' }),
    callbacks: callbacksSwitch,
    countTime: Type.Union([moment, Type.Null()]),
    troubles: Type.Array(Trouble, { description: 'the ten applications with the most problems' }),
    attention: Type.Array(FindingRecord, {
      description:
        'what needs attention, failures first: up to ten of each kind, and for applications those in `troubles`',
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
          'counts per minute of the last 24 hours, oldest first, without empty minutes; refused requests as far as they are stored',
      },
    ),
    online: Type.Array(Type.Object({ time: moment, devicesOnline: count }), {
      description: 'how many devices were online in the last 24 hours, oldest first, one count each five minutes',
    }),
    events: Type.Array(AuditRecord, {
      description: 'the latest audit log entries, without changes of device state',
    }),
  }),
  refusals: [],
})
