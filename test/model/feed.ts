import fc from 'fast-check'
import { momentFormat } from '../../src/vocabulary/moments.ts'
import type { Client } from '../kit/client.ts'
import { settled } from './answers.ts'
import { expectWalk } from './pages.ts'
import {
  type Asking,
  ask,
  askedOf,
  command,
  type ModelApplication,
  type ModelEvent,
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
    (query) => ask(world, client, asking, 'pageEvents', { afterId, ...query }),
    (told, from) => shownEvents(app, app.events, told, known.length + from),
    app.events.length - known.length,
  )
}

export function feedCommands(asking: fc.Arbitrary<Asking>): WeightedCommand[] {
  return [
    {
      weight: 5,
      arbitrary: fc.record({ asking, pageSize: fc.integer({ min: 1, max: 4 }) }).map((input) =>
        command('followFeed', input, async (world, client, { asking, pageSize }) => {
          if (asking.how !== 'stranger') await followFeed(world, client, asking, pageSize)
        }),
      ),
    },
  ]
}
