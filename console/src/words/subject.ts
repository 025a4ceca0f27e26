import type { Static } from 'typebox'
import { reportedMembers } from '../../../src/devices/state/contract.ts'
import type { AuditRecord, pageAudit, pageEvents } from '../../../src/events/contract.ts'
import { eventTypes, hasOwnData, platformEventTypes } from '../../../src/vocabulary/event-types.ts'
import { paths } from '../paths.ts'

/** An event of either list. Those of a feed lack the members that only the audit trail has. */
type OnlyAudit = 'subject' | 'actorId' | 'address'
export type AnyEvent = Omit<AuditRecord, OnlyAudit> & Partial<Pick<AuditRecord, OnlyAudit>>

/** The unique key of an event: its id is unique only within its application's log or the platform's. */
export type EventName = Pick<AnyEvent, 'id' | 'type' | 'appId'>

export const keyOf = ({ id, type, appId }: EventName) => `${id} ${type} ${appId ?? ''}`

/** The parameters in the address that open an event's drawer. */
export const eventInAddress = ({ id, type, appId }: EventName) => ({
  event: String(id),
  eventType: type,
  eventAppId: appId ?? undefined,
})

type IdMember = 'id' | 'code' | 'appId' | 'deviceNo' | 'serialPrefix' | 'billingRuleId'
type Member = IdMember | 'effectiveTime' | 'siteName' | 'ruleName' | 'deviceName' | 'appName' | 'name'

function member(event: AnyEvent, name: Member): string {
  const value = (event.data as Partial<Record<Member, unknown>> | null)?.[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

const nounOf = (type: string) => type.split('.')[0] ?? ''

/** The subject of an event: its name, id and page; no page if it no longer exists. */
export interface Subject {
  name: string
  id: string
  path: string | undefined
}

export function subjectOf(event: AnyEvent): Subject {
  const describe = ofAccounts.includes(event.type) ? ofNamedAccount : describers[nounOf(event.type)]
  const { name, id, path } = describe?.(event) ?? { name: '', id: event.subject ?? '', path: undefined }
  return { name, id, path: isGone(event.type) ? undefined : path }
}

/** Whether the record no longer existed after the event. */
export const isGone = (type: string) => /\.(deleted|unbound|ended)$/.test(type)

/** The account that an event is about but whose record it does not have. */
const ofNamedAccount = (event: AnyEvent): Subject => ({
  name: member(event, 'name'),
  id: event.subject ?? '',
  path: paths.people(),
})

function ofApplication(event: AnyEvent): Subject {
  const id = event.appId ?? event.subject ?? ''
  return { name: '', id, path: paths.application(id) }
}

const ofAccount = (event: AnyEvent): Subject => ({
  name: member(event, 'name'),
  id: member(event, 'id'),
  path: paths.people(),
})

const describers: Record<string, (event: AnyEvent) => Subject> = {
  site: (event) => {
    const id = member(event, 'id')
    return { name: member(event, 'siteName'), id, path: paths.site(event.appId ?? '', Number(id)) }
  },
  device: (event) => {
    const id = member(event, 'deviceNo')
    return { name: member(event, 'deviceName'), id, path: paths.device(event.appId ?? '', id) }
  },
  billingRule: (event) => {
    const id = member(event, 'id')
    return { name: member(event, 'ruleName'), id, path: paths.billingRule(event.appId ?? '', Number(id)) }
  },
  priceChange: (event) => ({
    name: member(event, 'effectiveTime'),
    id: member(event, 'id'),
    path: paths.priceChanges({ appId: event.appId, billingRuleId: member(event, 'billingRuleId') || undefined }),
  }),
  application: (event) => {
    const id = event.appId ?? event.subject ?? member(event, 'appId')
    return { name: member(event, 'appName'), id, path: paths.application(id) }
  },
  thirdPartyConfig: ofApplication,
  delivery: ofApplication,
  deviceModel: (event) => ({ name: '', id: member(event, 'serialPrefix'), path: paths.models() }),
  region: (event) => ({ name: member(event, 'name'), id: member(event, 'code'), path: paths.regions() }),
  deviceInventory: (event) => ({ name: '', id: member(event, 'deviceNo'), path: paths.models() }),
  operator: ofAccount,
  view: ofAccount,
  secondFactor: ofNamedAccount,
  import: (event) => ({ name: '', id: member(event, 'id'), path: paths.import(Number(member(event, 'id'))) }),
  act: (event) => ({ name: '', id: member(event, 'id'), path: paths.act(Number(member(event, 'id'))) }),
  operatorKey: (event) => ({
    name: member(event, 'name'),
    id: member(event, 'id'),
    path: `${paths.people()}?tab=keys`,
  }),
  session: (event) => ({
    name: member(event, 'name'),
    id: event.subject ?? '',
    path: `${paths.people()}?tab=sessions`,
  }),
}

/**
 * Types that are about an act and not about a record that other events are about too, and those whose record others
 * change meanwhile: who cancels an import has not written its rows.
 */
const alone = [
  'deviceInventory.imported',
  'view.handedOver',
  'session.refused',
  'session.locked',
  'site.erased',
  'import.cancelled',
  'act.cancelled',
]

/** Types that begin with `session` but concern no session: their subject is the account that was tried. */
const ofAccounts = ['session.refused', 'session.locked']

/** Whether the record began with the event. */
export const isBeginning = (type: string) => /\.(created|bound)$/.test(type)

/** Whether an event’s own data says what it changed, so that the console does not compare it with an earlier event. */
export const standsAlone = (type: string) =>
  alone.includes(type) || ['secondFactor', 'delivery'].includes(nounOf(type)) || hasOwnData(type)

type FeedQuery = Static<NonNullable<typeof pageEvents.query>>
type AuditQuery = Static<NonNullable<typeof pageAudit.query>>

/** The queries among whose newest results is the previous event about the same record. */
export interface Earlier {
  feed: FeedQuery[]
  audit: AuditQuery[]
  /** For queries that cannot tell the record from others. */
  fits?: (event: AnyEvent) => boolean
}

/** The sides of the comparison of an event with the previous event about the same record. */
export function sidesOf({ type, data }: AnyEvent, earlier: unknown): { before: unknown; after: unknown } {
  if (type === 'priceChange.scheduled') {
    const former = Object.entries(earlier ?? {}).filter(([member]) => terms.includes(member))
    return { before: Object.fromEntries(former), after: without(data, ['id', 'appId', 'status', 'billingRuleId']) }
  }
  const others = changedByOthers[type] ?? changedByOthers[nounOf(type)] ?? []
  return { before: without(earlier, others), after: without(data, others) }
}

/**
 * Members that change without an event about the record, by the noun or the type of event: a comparison with the event
 * before would tell them as a part of the act. Sign-ins and second factors are those of an account’s owner.
 */
const changedByOthers: Record<string, readonly string[]> = {
  device: [...reportedMembers, 'DeviceBatteryOutput'],
  operator: ['signInTime', 'isSetUp', 'isLinked', 'hasSecondFactor'],
  operatorKey: ['lastUseTime', 'status', 'role'],
  'thirdPartyConfig.secretRotated': ['callbackStopTime', 'callbackStopReason'],
}

/**
 * The sides for an event whose own data holds the former values of the members that it changed; undefined for any other
 * event.
 */
export function ownSidesOf(data: unknown): { before: unknown; after: unknown } | undefined {
  const { before } = (data ?? {}) as { before?: object }
  const after = without(data, ['before']) as object
  return before === undefined ? undefined : { before: { ...after, ...before }, after }
}

const without = (record: unknown, members: readonly string[]): unknown =>
  Object.fromEntries(Object.entries(record ?? {}).filter(([member]) => !members.includes(member)))

type Prices = Partial<Record<'id' | 'billingRuleId', number | null>>

/**
 * A price change begins when it is scheduled, and is compared with the terms of its rule then; one of other rules at
 * sites with nothing. Later it is compared with itself, among the latest price changes of the application.
 */
function earlierOfPrices({ type, data }: AnyEvent, latest: FeedQuery): Earlier {
  const { id, billingRuleId } = data as Prices
  if (type !== 'priceChange.scheduled') {
    const fits = ({ data: other }: AnyEvent) => (other as Prices).id === id
    return { feed: [{ ...latest, type: 'priceChange.scheduled', pageSize: 100 }], audit: [], fits }
  }
  if (billingRuleId == null) return { feed: [], audit: [] }
  return { feed: [{ ...latest, billingRuleId, type: 'billingRule.created,billingRule.updated' }], audit: [] }
}

/** What a billing rule and a price change both have. */
const terms = ['periods', 'freeMinutes', 'unitMinutes', 'unitPrice', 'dailyCap']

/** How to find the previous event. A serial number or an id is unique only among the events of its kind. */
export function earlierOf(event: AnyEvent): Earlier {
  const noun = nounOf(event.type)
  const { id } = subjectOf(event)
  const before = { beforeId: event.id, pageSize: 1 }
  const ofKind = <Type extends string>(types: readonly Type[]) => types.filter((type) => nounOf(type) === noun)
  const inFeed = { ...before, appId: event.appId ?? id, order: 'desc' } as const
  const filters: Record<string, Partial<FeedQuery>> = {
    site: { siteId: Number(id) },
    device: { deviceNo: id },
    billingRule: { billingRuleId: Number(id) },
  }
  if (noun === 'priceChange') return earlierOfPrices(event, inFeed)
  const filter = filters[noun]
  const type = ofKind(eventTypes)
    .filter((type) => !hasOwnData(type))
    .join(',')
  if (filter !== undefined) return { feed: [{ ...inFeed, ...filter, type }], audit: [] }
  return {
    feed: ofKind(eventTypes).map((type) => ({ ...inFeed, type })),
    audit: ofKind(platformEventTypes)
      .filter((type) => !ofAccounts.includes(type))
      .map((type) => ({ ...before, type, subject: id })),
  }
}
