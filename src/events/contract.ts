import Type, { type Static } from 'typebox'
import { eventTypes, platformEventTypes } from '../vocabulary/event-types.ts'
import { operation } from '../vocabulary/operation.ts'
import { pageOf, pageQuery, timeRange } from '../vocabulary/pages.ts'
import {
  appId,
  deviceNo,
  integer,
  moment,
  named,
  nullable,
  optional,
  ownAppId,
  reasonKey,
  shownKey,
  text,
  textOneOf,
} from '../vocabulary/values.ts'
import { typeNames } from './rules.ts'

export const auditTypes = [...eventTypes, ...platformEventTypes]

/** Makes a filter by types, separated by commas; `device.*` means all types of a kind. */
export function typeFilter(types: readonly string[]) {
  const names = typeNames(types)
  const one = `(${names.map((name) => name.replace(/[.*]/g, String.raw`\$&`)).join('|')})`
  return Type.String({
    pattern: `^${one}(,${one})*$`,
    [shownKey]: { type: 'string', pattern: '^[A-Za-z.*]+(,[A-Za-z.*]+)*$' },
    description: 'One or more event types, separated by commas; device.* matches all device events.',
    [reasonKey]: {
      en: `must be one or more of ${names.join(', ')}, separated by commas`,
      zh: `必须是以下一项或多项（以逗号分隔）：${names.join('、')}`,
    },
  })
}

export const EventTypeName = named('EventType', textOneOf(eventTypes))

const EventRecord = named(
  'Event',
  Type.Object({
    id: Type.Integer({ description: 'the id, ascending within an application', examples: [1795422025367000] }),
    type: Type.String({ [shownKey]: EventTypeName }),
    appId: Type.String(),
    time: moment,
    occurredAt: Type.String({
      format: 'date-time',
      description: 'The instant of `time` in RFC 3339, to the millisecond.',
    }),
    actor: Type.String(),
    data: Type.Unknown({
      [shownKey]: Type.Object({}),
      description: 'The record, as returned by its detail operation.',
    }),
  }),
)
export type EventRecord = Static<typeof EventRecord>

/** Returns the event types of one kind of record. */
export const typesOf = (noun: 'device' | 'site' | 'billingRule') =>
  eventTypes.filter((type) => type.startsWith(`${noun}.`))

export const pageEvents = operation({
  id: 'pageEvents',
  group: 'events',
  summary:
    'Returns the event feed of an application, oldest first. To get newer events, send the last event’s ID as `afterId`.',
  method: 'GET',
  path: '/api/event/v1/event/page',
  callers: ['application', 'operator'],
  query: Type.Object({
    appId: ownAppId,
    ...pageQuery,
    afterId: optional(integer()),
    beforeId: optional(integer()),
    order: optional(
      Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
        [reasonKey]: { en: 'must be asc or desc', zh: '必须是 asc 或 desc' },
      }),
    ),
    type: optional(typeFilter(eventTypes)),
    ...timeRange,
    deviceNo: optional(deviceNo),
    siteId: optional(integer()),
    billingRuleId: optional(integer()),
  }),
  data: pageOf(EventRecord),
  refusals: ['applicationNotFound'],
})

export const eventStreamType = 'text/event-stream'

export const streamEvents = operation({
  id: 'streamEvents',
  group: 'events',
  summary:
    'Streams an application’s events as server-sent events, in the order of `pageEvents`. Begins after `Last-Event-ID`, else after `afterId`, else after the newest event.',
  method: 'GET',
  path: '/api/event/v1/event/stream',
  callers: ['application', 'operator'],
  query: Type.Object({
    appId: ownAppId,
    type: optional(typeFilter(eventTypes)),
    deviceNo: optional(deviceNo),
    siteId: optional(integer()),
    afterId: optional(integer()),
  }),
  data: Type.Unknown(),
  answers: [eventStreamType],
  resumes: true,
  refusals: ['applicationNotFound'],
})

export const getEvent = operation({
  id: 'getEvent',
  group: 'events',
  summary: 'Returns one event.',
  method: 'GET',
  path: '/api/event/v1/event/detail',
  callers: ['application', 'operator'],
  query: Type.Object({ appId: ownAppId, id: integer() }),
  data: EventRecord,
  refusals: ['applicationNotFound', 'eventNotFound'],
})

const LoggedType = named('LoggedType', Type.Union([EventTypeName, textOneOf(platformEventTypes)]))

export const AuditRecord = named(
  'AuditEntry',
  Type.Object({
    ...EventRecord.properties,
    type: Type.String({ [shownKey]: LoggedType }),
    appId: nullable(Type.String({ description: 'the application; null if the event concerns none' })),
    actorId: nullable(
      Type.Integer({ description: 'the ID of the account or key that acted; renaming doesn’t change it' }),
    ),
    subject: nullable(Type.String({ description: 'the subject of the event: a serial number or an ID' })),
    address: nullable(Type.String({ description: 'the source address, for events that record it' })),
  }),
)
export type AuditRecord = Static<typeof AuditRecord>

export const pageAudit = operation({
  id: 'pageAudit',
  group: 'audit',
  summary:
    'Lists the audit log, newest first: actions of people and operator keys in all applications, applied price changes, and platform events.',
  method: 'GET',
  path: '/api/platform/v1/audit/page',
  callers: ['operator'],
  query: Type.Object({
    ...pageQuery,
    appId: optional(appId),
    actor: optional(text(128, 'the full name of an actor, or a prefix: operator:… or operatorKey:…')),
    actorId: optional(integer()),
    type: optional(typeFilter(auditTypes)),
    subject: optional(text(64, 'a serial number or an id')),
    beforeId: optional(integer()),
    ...timeRange,
  }),
  data: pageOf(AuditRecord),
  refusals: [],
})
