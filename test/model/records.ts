import fc from 'fast-check'
import type { Operation } from '../../src/vocabulary/operation.ts'
import type { Client } from '../kit/client.ts'
import { contractOf } from '../kit/contracts.ts'
import { besides, expectWhole, type Moment, refused, type refusedFor, settled, succeeded, timed } from './answers.ts'
import { type Condition, condition, conditionOn } from './conditions.ts'
import { expectWalk, type Walk } from './pages.ts'
import {
  type Asking,
  actorOf,
  ask,
  askedOf,
  type Command,
  command,
  expectTag,
  logEvent,
  type ModelApplication,
  type ModelRecord,
  type Shown,
  type World,
} from './world.ts'

// The common operations of sites and billing rules: both get an id from the service, and are read, changed, deleted and
// paged.

export type Noun = ModelRecord['noun']

type Verb = 'save' | 'update' | 'delete' | 'get' | 'page'

function operationOf(noun: Noun, verb: Verb): Operation {
  const name = noun === 'site' ? 'Site' : 'BillingRule'
  return contractOf(verb === 'page' ? `page${name}s` : `${verb}${name}`)
}

/** A refusal because of the members that a record was to have. */
export type Fault = ReturnType<typeof refusedFor>

const notFound = (noun: Noun) => (noun === 'site' ? refused('siteNotFound') : refused('billingRuleNotFound', 404))

interface Told {
  id: number
  createTime: string
}

/** A snapshot of the record, which can be compared with a response at once or later. */
function shownRecord({ app, id, members, createdAt }: ModelRecord): Shown {
  const record = { id, appId: app.appId, ...members }
  return (told) => ({ ...record, createTime: settled(createdAt, (told as Told | null)?.createTime) })
}

export interface Save {
  asking: Asking
  key: string | undefined
}

/**
 * Creates a record. `members` are the members of the created record beside its id, owner and time, or the refusal of
 * the request.
 */
export async function save(
  world: World,
  client: Client,
  noun: Noun,
  { asking, key }: Save,
  sent: Record<string, unknown>,
  members: Record<string, unknown> | Fault,
): Promise<void> {
  // The document requires a site's appId even if an application means itself.
  const always = noun === 'site' && asking.how === 'own' ? { ...asking, how: 'named' as const } : asking
  const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
  const { answer, at } = await timed(() => ask(world, client, always, operationOf(noun, 'save'), sent, headers))
  if (asking.how === 'stranger') return expectWhole(answer, refused('notPermitted'))
  const app = askedOf(world, asking)
  const kept = app.kept.get(`${noun} ${key}`)
  // The key belongs to the body's exact bytes, and these differ when the application is named.
  const body = `${always.how === 'own'} ${JSON.stringify(sent)}`
  if (kept !== undefined) {
    const same = kept.body === body ? succeeded(kept.record(answer.data)) : refused('idempotencyKeyReused')
    return expectWhole(answer, same)
  }
  if ('status' in members) return expectWhole(answer, members)
  const record = newRecord(world, noun, app, members, at, answer.data)
  const data = shownRecord(record)
  expectWhole(answer, succeeded(data(answer.data)))
  world.records.push(record)
  // A rule's time comes from the database, and that of its event from the service, so they can differ.
  logRecord(world, asking, record, 'created', noun === 'site' ? at : besides(at))
  if (key !== undefined) app.kept.set(`${noun} ${key}`, { body, record: data })
}

function newRecord(
  world: World,
  noun: Noun,
  app: ModelApplication,
  members: Record<string, unknown>,
  createdAt: Moment,
  told: unknown,
): ModelRecord {
  const known = world.records.filter((record) => record.noun === noun).map(({ id }) => id)
  const id = (told as Told | null)?.id ?? 0
  // Ids ascend, so a new id that is smaller is a fault.
  const isNew = Number.isSafeInteger(id) && id > Math.max(0, ...known)
  return { noun, app, id: isNew ? id : Number.NaN, members, createdAt, isDeleted: false }
}

function logRecord(
  world: World,
  asking: Asking,
  record: ModelRecord,
  verb: 'created' | 'updated' | 'deleted',
  at: Moment,
): void {
  const { noun, app, id } = record
  const type = `${noun}.${verb}` as const
  logEvent(app, { type, at, actor: actorOf(world, asking), subject: String(id), data: shownRecord(record) })
}

/** Which record a request is about, and who sends it. */
export interface Meaning extends Asking {
  /** Whether the owner requests a record that exists; otherwise few commands would find one. */
  isOwner: boolean
  /** The record's place counted from the newest; a number beyond the first record gives an unknown id. */
  back: number
}

export function meantRecord(world: World, noun: Noun, { app, how, isOwner, back }: Meaning) {
  const record = world.records.filter((one) => one.noun === noun && !(isOwner && one.isDeleted)).at(-1 - back)
  const owner = isOwner && record !== undefined ? world.apps.indexOf(record.app) : app
  const asking: Asking = { app: owner, how }
  const isTheirs = record !== undefined && !record.isDeleted && record.app === askedOf(world, asking)
  return { asking, id: record?.id ?? 987_654_321, record: isTheirs ? record : undefined }
}

/** Reads a record. Returns its entity tag if the record exists. */
async function read(world: World, client: Client, noun: Noun, meaning: Meaning): Promise<string | undefined> {
  const { asking, id, record } = meantRecord(world, noun, meaning)
  const answer = await ask(world, client, asking, operationOf(noun, 'get'), { id })
  if (asking.how === 'stranger') expectWhole(answer, refused('notPermitted'))
  else if (record === undefined) expectWhole(answer, notFound(noun))
  else {
    expectWhole(answer, succeeded(shownRecord(record)(answer.data)))
    return expectRecordTag(record, answer.headers.get('etag'))
  }
  return undefined
}

function expectRecordTag({ noun, app, id, members, createdAt }: ModelRecord, etag: string | null): string {
  return expectTag(app, { subject: `${noun} ${id}`, content: JSON.stringify(members), since: createdAt }, etag)
}

/**
 * Sends a change of one record, and checks the parts of the response that do not depend on the change. Returns the
 * record if the change must be made.
 */
async function sendChange(
  world: World,
  client: Client,
  verb: 'update' | 'delete',
  noun: Noun,
  meaning: Meaning,
  condition: Condition,
  sent: Record<string, unknown>,
) {
  const { asking, id, record } = meantRecord(world, noun, meaning)
  const subject = `${noun} ${id}`
  const { headers, isMet } = await conditionOn(askedOf(world, asking), subject, condition, () =>
    read(world, client, noun, { ...meaning, how: 'named' }),
  )
  const operation = operationOf(noun, verb)
  const { answer, at } = await timed(() => ask(world, client, asking, operation, { id, ...sent }, headers))
  if (asking.how === 'stranger') expectWhole(answer, refused('notPermitted'))
  else if (record === undefined) expectWhole(answer, notFound(noun))
  else if (!isMet) expectWhole(answer, refused('preconditionFailed'))
  else return { asking, answer, at, record }
  return undefined
}

/** Changes a record. `after` returns the members after the change, or the refusal of it. */
export async function update(
  world: World,
  client: Client,
  noun: Noun,
  { of, condition }: { of: Meaning; condition: Condition },
  sent: Record<string, unknown>,
  after: (record: ModelRecord) => Record<string, unknown> | Fault,
): Promise<void> {
  const sending = await sendChange(world, client, 'update', noun, of, condition, sent)
  if (sending === undefined) return
  const { asking, answer, at, record } = sending
  const members = after(record)
  if ('status' in members) return expectWhole(answer, members)
  const isChange = JSON.stringify(members) !== JSON.stringify(record.members)
  record.members = members
  expectWhole(answer, succeeded(shownRecord(record)(answer.data)))
  expectRecordTag(record, answer.headers.get('etag'))
  if (isChange) logRecord(world, asking, record, 'updated', at)
}

/** Deletes records; `isInUse` says whether that must be refused. */
export function deletions(
  noun: Noun,
  asking: fc.Arbitrary<Asking>,
  isInUse: (world: World, record: ModelRecord) => boolean,
): fc.Arbitrary<Command> {
  return changeOf(asking).map((input) =>
    command(`${noun} delete`, input, async (world, client, { of, condition }) => {
      const sending = await sendChange(world, client, 'delete', noun, of, condition, {})
      if (sending === undefined) return
      const { asking, answer, at, record } = sending
      if (isInUse(world, record)) return expectWhole(answer, refused('billingRuleInUse'))
      record.isDeleted = true
      expectWhole(answer, succeeded(shownRecord(record)(answer.data)))
      logRecord(world, asking, record, 'deleted', at)
    }),
  )
}

export function reads(noun: Noun, asking: fc.Arbitrary<Asking>): fc.Arbitrary<Command> {
  return meaningOf(asking).map((input) =>
    command(`${noun} read`, input, async (world, client, meaning) => void (await read(world, client, noun, meaning))),
  )
}

/** Reads all pages of the records that fit, newest first. */
export async function page(
  world: World,
  client: Client,
  noun: Noun,
  { asking, walk }: { asking: Asking; walk: Walk },
  filter: Record<string, unknown>,
  fits: (record: ModelRecord) => boolean,
): Promise<void> {
  const send = (query: object) => ask(world, client, asking, operationOf(noun, 'page'), { ...filter, ...query })
  if (asking.how === 'stranger') return expectWhole(await send({}), refused('notPermitted'))
  const app = askedOf(world, asking)
  const fitting = world.records
    .filter((record) => record.noun === noun && record.app === app && !record.isDeleted && fits(record))
    .reverse()
  await expectWalk(
    walk,
    send,
    (told, from) => fitting.slice(from, from + walk.pageSize).map((record, at) => shownRecord(record)(told[at])),
    fitting.length,
  )
}

/** The record, the caller and the condition for a change of one kind of record. */
export function changeOf(asking: fc.Arbitrary<Asking>) {
  return fc.record({ of: meaningOf(asking), condition })
}

function meaningOf(asking: fc.Arbitrary<Asking>): fc.Arbitrary<Meaning> {
  const isOwner = fc.constantFrom(true, true, true, true, false)
  return fc.record({ asking, isOwner, back: fc.nat(3) }).map(({ asking, ...rest }) => ({ ...asking, ...rest }))
}
