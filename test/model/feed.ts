import fc from 'fast-check'
import { pageEvents } from '../../src/events/contract.ts'
import { momentFormat } from '../../src/vocabulary/moments.ts'
import type { Client } from '../kit/client.ts'
import { expectWhole, refused, settled } from './answers.ts'
import { serial } from './creates.ts'
import { expectWalk, pageWalk, type Walk } from './pages.ts'
import {
  type Asking,
  ask,
  askedOf,
  command,
  type ModelApplication,
  type ModelEvent,
  serialOf,
  type WeightedCommand,
  type World,
} from './world.ts'

interface ToldEvent {
  id: number
  time: string
  occurredAt: string
  data: { deviceNo?: string } | null
}

/**
 * The events as a page must show them. The model takes an event's id from the first page that shows it; a new id must
 * be greater than all earlier ones.
 */
function shownEvents(app: ModelApplication, events: ModelEvent[], told: unknown[], from: number): unknown[] {
  return events.slice(from, from + told.length).map((_, at) => {
    const one = told[at] as ToldEvent
    const event = eventAt(events, from + at, one)
    const before = events[from + at - 1]?.id ?? 0
    if (event.id === undefined && one.id > before) event.id = one.id
    const { id = `above ${before}`, type, actor } = event
    const occurredAt = isInstant(one.occurredAt, one.time) ? one.occurredAt : `the instant that shows ${one.time}`
    return {
      id,
      type,
      appId: app.appId,
      time: settled(event.at, one.time),
      occurredAt,
      actor,
      data: event.data(one.data),
    }
  })
}

const show = momentFormat(process.env.FORECOURT_TIME_ZONE ?? 'Asia/Shanghai')

/** Whether an instant of RFC 3339, to the millisecond, is the same time as this shown one. */
function isInstant(instant: string, shown: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(instant) && show(new Date(instant)) === shown
}

/**
 * The event at this place. In a group that is shown for the first time, the service decides the order of the events.
 */
function eventAt(events: ModelEvent[], at: number, told: ToldEvent): ModelEvent {
  const here = events[at] as ModelEvent
  if (here.id !== undefined || here.group === undefined) return here
  const found = events.findIndex(
    ({ id, group, subject }) => id === undefined && group === here.group && subject === told.data?.deviceNo,
  )
  const event = events[found]
  if (event === undefined) return here
  events.splice(found, 1)
  events.splice(at, 0, event)
  return event
}

/** Reads the new events as a follower of the feed does, and expects all of them, in ascending order, each once. */
export async function followFeed(world: World, client: Client, asking: Asking, pageSize: number): Promise<void> {
  const app = askedOf(world, asking)
  const known = app.events.filter(({ id }) => id !== undefined)
  const afterId = known.at(-1)?.id
  await expectWalk(
    { by: 'afterId', pageSize },
    (query) => ask(world, client, asking, pageEvents, { afterId, ...query }),
    (told, from) => shownEvents(app, app.events, told, known.length + from),
    app.events.length - known.length,
  )
}

interface Filter {
  /** One type, several types with commas, or all types of one kind. */
  type: string | undefined
  about: About | undefined
  order: 'asc' | 'desc' | undefined
  /** Only events after the one with this number. */
  after: number | undefined
}

/** One record: a device by its serial number, or a site or rule by its place in the world's list. */
type About = { serial: number } | { record: number }

interface Subject {
  query: Record<string, unknown>
  /** The text with which the types of the record's events begin. */
  types: string
  subject: string
}

function subjectOf(world: World, about: About | undefined): Subject | undefined {
  if (about === undefined) return undefined
  if ('serial' in about) {
    const deviceNo = serialOf(world, about.serial)
    return { query: { deviceNo }, types: 'device.', subject: deviceNo }
  }
  const record = world.records.at(-1 - about.record)
  if (record === undefined) return undefined
  const query = record.noun === 'site' ? { siteId: record.id } : { billingRuleId: record.id }
  return { query, types: `${record.noun}.`, subject: String(record.id) }
}

async function readFeed(world: World, client: Client, asking: Asking, walk: Walk, filter: Filter): Promise<void> {
  if (asking.how === 'stranger') {
    return expectWhole(await ask(world, client, asking, pageEvents, {}), refused('notPermitted'))
  }
  await followFeed(world, client, asking, 50)
  const app = askedOf(world, asking)
  const { type, order } = filter
  const about = subjectOf(world, filter.about)
  const afterId = filter.after === undefined ? undefined : app.events[filter.after]?.id
  const fitting = app.events.filter(
    (event) =>
      (type === undefined || isOfTypes(event.type, type)) &&
      (about === undefined || (event.subject === about.subject && event.type.startsWith(about.types))) &&
      (event.id ?? 0) > (afterId ?? 0),
  )
  const events = order === 'desc' ? fitting.reverse() : fitting
  await expectWalk(
    walk,
    (query) => ask(world, client, asking, pageEvents, { type, ...about?.query, order, afterId, ...query }),
    (told, from) => shownEvents(app, events, told, from),
    events.length,
  )
}

const isOfTypes = (type: string, filter: string) =>
  filter.split(',').some((one) => (one.endsWith('*') ? type.startsWith(one.slice(0, -1)) : type === one))

const filter: fc.Arbitrary<Filter> = fc.record({
  type: fc.option(
    fc.constantFrom(
      'device.bound' as const,
      'device.updated' as const,
      'device.unbound' as const,
      'device.transferred' as const,
      'device.stateChanged' as const,
      'application.offline' as const,
      'site.created' as const,
      'site.updated' as const,
      'billingRule.deleted' as const,
      'device.*' as const,
      'site.*,device.bound,thirdPartyConfig.saved' as const,
    ),
    { nil: undefined },
  ),
  about: fc.oneof(
    { weight: 2, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.record({ serial }) },
    { weight: 1, arbitrary: fc.record({ record: fc.nat(5) }) },
  ),
  order: fc.constantFrom(undefined, 'asc' as const, 'desc' as const),
  after: fc.option(fc.nat(30), { nil: undefined }),
})

export function feedCommands(asking: fc.Arbitrary<Asking>): WeightedCommand[] {
  return [
    {
      weight: 3,
      arbitrary: fc.record({ asking, pageSize: fc.integer({ min: 1, max: 4 }) }).map((input) =>
        command('followFeed', input, async (world, client, { asking, pageSize }) => {
          if (asking.how !== 'stranger') await followFeed(world, client, asking, pageSize)
        }),
      ),
    },
    {
      weight: 2,
      arbitrary: fc
        .record({ asking, walk: pageWalk, filter })
        .map((input) =>
          command('readFeed', input, (world, client, { asking, walk, filter }) =>
            readFeed(world, client, asking, walk, filter),
          ),
        ),
    },
  ]
}
