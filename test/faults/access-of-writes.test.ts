import { afterAll, describe, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import type postgres from 'postgres'
import type { ISql } from 'postgres'
import { hashSecret } from '../../src/callers/credentials.ts'
import { operations } from '../../src/reference/operations.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { refusals } from '../../src/vocabulary/refusals.ts'
import type { Call } from '../costs/calls.ts'
import { measuredOf } from '../costs/operations.ts'
import { makeWorld, measuredOrigin } from '../costs/world.ts'
import { type Answer, Client } from '../kit/client.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { deviceBody, newSerial, newToken, shownSecret } from '../kit/records.ts'
import { isLong } from '../kit/scale.ts'
import { becomesTrue, sleep } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

// Every write whose caller loses its access while the write waits for a lock is refused, and leaves nothing; what a read that
// waited has found is not told. A new operation is tried by itself: its call is that of `test/costs/operations.ts`.

const place = new Workplace()
/** What the service writes by itself or of refused requests, what admits a caller, and what a test takes away. */
const ownTables = new Set([
  ...['access_token', 'application', 'application_lock', 'operator', 'operator_key', 'operator_session'],
  ...['refusal', 'sign_in_attempt', 'used_ticket', 'service_hearing', 'device_presence', 'callback_endpoint'],
  ...['delivery', 'database_size', 'minute_figures', 'platform_count', 'usage_hour', 'fleet_count'],
  // It hands out ids, of which some are never used.
  'event_head',
])

let tests = 0
const receiver = Bun.serve({
  ...{ port: 0, hostname: '127.0.0.1' },
  async fetch(request) {
    if ((await request.text()).includes('"delivery.test"')) tests++
    return new Response(null, { status: 204 })
  },
})
const database = await place.findDatabase()
const { client } = await place.start({
  env: {
    DATABASE_URL: database.url(),
    FORECOURT_PRIVATE_CALLBACKS: 'allow',
    FORECOURT_PUBLIC_URL: measuredOrigin,
  },
})
const gone = Promise.withResolvers<void>()
const keep = () =>
  new Promise<postgres.Sql>((resolve) => {
    void database.run(async (opened) => {
      resolve(opened)
      await gone.promise
    })
  })
/** For transactions that hold locks, and for looks beside them. */
const [holder, sql] = [await keep(), await keep()]
const world = await makeWorld(client, sql, `http://127.0.0.1:${receiver.port}/`)
/** An admin with a session, of which the callers are copies: to hash their passwords would take most of the time. */
const [cookieName = '', token = ''] = (await signIn(client, await newPerson(client, 'admin'))).cookie.split('=')
const [original] = await sql`
  select id as session, operator_id as id from operator_session where token_hash = ${hashSecret(token)}`
// Of a partitioned table without its partitions.
const allTables = await sql<{ name: string }[]>`
  select relname as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`
/** The tables whose rows come from requests alone. */
const tables = allTables.filter(({ name }) => !ownTables.has(name))
afterAll(async () => {
  gone.resolve()
  receiver.stop(true)
  await place.clear()
}, 60_000)

/** How a caller loses its access, the refusal of a write that waits meanwhile, and by whom the write is sent. */
interface Loss {
  code: number
  by: 'application' | 'person' | 'developer' | 'key'
  lose(tx: ISql, caller: Caller): Promise<unknown>
}

interface Caller {
  appId: string
  headers: Record<string, string>
  /** The id of the session, or of the key. */
  id: number
}

const loss = (code: number, by: Loss['by'], lose: Loss['lose']): Loss => ({ code, by, lose })
const losses: Record<string, Loss> = {
  'the token is revoked': loss(10002, 'application', (tx, { headers }) => {
    const token = (headers.authorization ?? '').slice(7)
    return tx`delete from access_token where token_hash = ${hashSecret(token)}`
  }),
  'the application is frozen': loss(
    ...([10005, 'application'] as const),
    (tx, { appId }) => tx`update application set status = 2, frozen_reason = 'x' where app_id = ${appId}`,
  ),
  'the session ends': loss(10002, 'person', (tx, { id }) => tx`delete from operator_session where id = ${id}`),
  ...Object.fromEntries(
    (
      [
        ['the account is disabled', 10002, 'person', 'update operator set status = 2 where id ='],
        ['the account is deleted', 10002, 'person', 'delete from operator where id ='],
        ['the role is lowered', 10003, 'person', "update operator set role = 'viewer' where id ="],
        ['the membership ends', 10003, 'developer', 'delete from operator_application where operator_id ='],
      ] as const
    ).map(([name, code, by, statement]) => [
      name,
      loss(code, by, (tx, { id }) =>
        tx.unsafe(`${statement} (select operator_id from operator_session where id = ${id})`),
      ),
    ]),
  ),
  'the key is deleted': loss(10002, 'key', (tx, { id }) => tx`delete from operator_key where id = ${id}`),
}

async function sessionOf(headers: Record<string, string>): Promise<number> {
  const token = (headers.cookie ?? '').split('=')[1] ?? ''
  const [row] = await sql`select id from operator_session where token_hash = ${hashSecret(token)}`
  return row?.id
}

/** A caller of the kind that a loss is about, who may make the call; undefined where none may. */
async function callerOf({ input, as }: Call, { by }: Loss, lowers: boolean): Promise<Caller | undefined> {
  const { appId = '' } = input as { appId?: string }
  // An operation on somebody's own account has a session of it.
  if (as?.headers?.cookie !== undefined) {
    return by === 'person' && !lowers ? { appId, headers: as.headers, id: await sessionOf(as.headers) } : undefined
  }
  const isPlatforms = as?.token === client.operatorKey
  if (by === 'application') {
    const app = [world.owner, world.spare].find((known) => known.appId === appId)
    const own = (as ?? app) as Partial<typeof world.owner> | undefined
    if (isPlatforms || own?.appSecret === undefined) return undefined
    return { appId, headers: { authorization: `Bearer ${await newToken(client, appId, own.appSecret)}` }, id: 0 }
  }
  if (by === 'developer') return isPlatforms || appId === '' ? undefined : { appId, ...(await newAccount(by, appId)) }
  const { headers, id } = await newAccount('admin')
  if (by === 'person') return { appId, headers, id }
  const made = await client.call('createOperatorKey', { name: newSerial('key'), role: 'admin' }, { headers })
  const key = { authorization: `Bearer ${shownSecret(made.data.operatorKey)}` }
  // The first use of a key is stored.
  await client.send('/api/platform/v1/application/page', { headers: key })
  return { appId, headers: key, id: made.data.id }
}

/** An account with a session. */
async function newAccount(role: string, appId?: string) {
  const token = randomBytes(32).toString('base64url')
  const [account] = await sql`
    insert into operator (name, role, password_hash, created_at)
    select ${newSerial('person')}, ${role}, password_hash, now() from operator where id = ${original?.id} returning id`
  if (appId !== undefined) await sql`insert into operator_application values (${account?.id}, ${appId})`
  const [session] = await sql`
    insert into operator_session (token_hash, operator_id, address, method, created_at, seen_at, confirmed_at, expires_at)
    select ${hashSecret(token)}, ${account?.id}, address, method, now(), now(), now(), expires_at
    from operator_session where id = ${original?.session} returning id`
  return { headers: { cookie: `${cookieName}=${token}` }, id: session?.id as number }
}

/** The rows of all tables that requests write. */
async function rowsOf(tx: ISql): Promise<Record<string, string>> {
  const parts = tables.map(
    ({ name }) =>
      `select '${name}' as name, coalesce(md5(string_agg(t::text, ',' order by t::text)), '') as rows from "${name}" t`,
  )
  return Object.fromEntries((await tx.unsafe(parts.join(' union all '))).map(({ name, rows }) => [name, rows]))
}

/** Operations that wait for no lock, because they write nothing. */
const withoutRows = ['startPasskey']
/** Without single sign-on there is nothing to complete (`sign-on-browsers.test.ts` has it). */
const elsewhere = ['completeSignOn']

const writes: readonly Operation[] = operations.filter(
  ({ id, callers, method }) => method === 'POST' && callers.length > 0 && ![...withoutRows, ...elsewhere].includes(id),
)
const ofDevelopers = 'the membership ends'
const kinds = Object.keys(losses).filter((name) => name !== ofDevelopers)
/** One write of each way to the database. */
const writesOfDevelopers = 'createDevice updateDevice saveSite reportDeviceState unbindDevice saveBillingRule'.split(
  ' ',
)

/** Locks all tables against writes; again when background work, which takes them in another order, met it in a deadlock. */
async function lockAll(tx: ISql): Promise<void> {
  const names = allTables.map(({ name }) => `"${name}"`).join(', ')
  const isLocked = () =>
    (tx as postgres.TransactionSql)
      .savepoint((sp) => sp.unsafe(`lock table ${names} in exclusive mode`))
      .then(
        () => true,
        (error: { code?: string }) => {
          if (error.code === '40P01') return false
          throw error
        },
      )
  if (!(await becomesTrue(isLocked))) throw new Error('the tables were never free')
}

/** Sends requests while a lock is held that they wait for, and takes something away before it is released. */
async function whileWaiting<Answered>(
  lock: (tx: ISql) => Promise<unknown>,
  ask: () => Promise<Answered>,
  lose: (tx: ISql) => Promise<unknown>,
): Promise<Answered> {
  let answered: Answered | undefined
  const { asked } = await holder.begin(async (tx) => {
    await lock(tx)
    const asked = ask().then((answer) => {
      answered = answer
      return answer
    })
    const [self] = await tx`select pg_backend_pid() as pid`
    const waits = async () =>
      answered !== undefined ||
      (await sql`select 1 from pg_stat_activity where ${self?.pid} = any(pg_blocking_pids(pid))`).length > 0
    if (!(await becomesTrue(waits))) throw new Error('the request never waited')
    // What waits may be the service's own work; and the caller's look-up is trusted for a moment.
    await sleep(70)
    if (answered !== undefined) throw new Error(`the request did not wait: ${JSON.stringify(answered)}`)
    await lose(tx)
    return { asked }
  })
  return asked
}

/** Calls an operation for a caller that loses its access while the call waits for its first lock. */
async function callLosing(operation: Operation, { input, as }: Call, { code, lose }: Loss, caller: Caller) {
  const headers = { ...as?.headers, ...caller.headers }
  const testsBefore = tests
  let before: Record<string, string> = {}
  // All writes wait, and reads do not.
  const answer: Answer<unknown> = await whileWaiting(
    lockAll,
    () => client.call(operation, input, { headers }),
    async (tx) => {
      await lose(tx, caller)
      before = await rowsOf(tx)
    },
  )
  const rows = (answer.data as { results?: { code: number }[] } | null)?.results
  const codes = answer.code === 0 && rows ? rows.map((row) => row.code) : [answer.code]
  expect([...new Set(codes)], answer.text).toEqual([code])
  expect(await rowsOf(sql)).toEqual(before)
  expect(tests).toBe(testsBefore)
}

describe('a write that waits is refused, and leaves nothing, when its caller loses its access', () => {
  /** Returns false where no caller of this kind may make the call. */
  async function loseAt(operation: Operation, name: string): Promise<boolean> {
    const loss = losses[name] as Loss
    // Calls of one person share a session, which the loss ends: so each has a client of its own.
    const call = await measuredOf(operation.id).call({ ...world, client: new Client(client) })
    const caller = await callerOf(call, loss, name === 'the role is lowered')
    if (caller === undefined) return false
    try {
      await callLosing(operation, call, loss, caller)
    } catch (error) {
      throw new Error(`${name}: ${error}`)
    } finally {
      // A job that was to be cancelled stands in the way of the next one.
      await sql`delete from import where status = 1 and lease_until = 'infinity'`
      await sql`update application set status = 1, frozen_reason = null where app_id = ${caller.appId}`
    }
    return true
  }

  // Each write meets one loss, and in the long run all.
  test.each(writes.map((operation, at) => [operation.id, at] as const))('%s', async (_, at) => {
    let tried = 0
    for (let number = 0; number < kinds.length && (tried === 0 || isLong); number++) {
      if (await loseAt(writes[at] as Operation, kinds[(at + number) % kinds.length] as string)) tried++
    }
    expect(tried).toBeGreaterThan(0)
  })

  test.each(writesOfDevelopers)('%s of a developer', async (id) => {
    expect(await loseAt(writes.find((one) => one.id === id) as Operation, ofDevelopers)).toBe(true)
  })
})

const callerOfOwner = async (loss: string) =>
  (await callerOf({ input: { appId: world.owner.appId } }, losses[loss] as Loss, false)) as Caller

/** What reads are told of: the service's own changes, which it need not read from the database. */
const noticed: [loss: string, code: number, lose: (caller: Caller) => Promise<unknown>][] = [
  ['the session ends', 10002, ({ id }) => client.operate('deleteSession', { id })],
  ['the key is deleted', 10002, ({ id }) => client.operate('deleteOperatorKey', { id })],
  ['the account is disabled', 10002, (caller) => updateOwner(caller, { status: 2 })],
  // A viewer may read what an admin may.
  ['the role is lowered', 0, (caller) => updateOwner(caller, { role: 'viewer' })],
]
async function updateOwner({ id }: Caller, members: object) {
  const [session] = await sql`select operator_id as id from operator_session where id = ${id}`
  return client.operate('updateOperator', { id: session?.id, ...members })
}

test.each(noticed)('a read that waits is not answered when %s', async (name, code, lose) => {
  const caller = await callerOfOwner(name)
  const { appId, headers } = caller
  const answers = await whileWaiting(
    (tx) => tx`lock table device in access exclusive mode`,
    () => Promise.all(Array.from({ length: 8 }, () => client.call('pageDevices', { appId }, { headers }))),
    () => lose(caller),
  )
  expect(new Set(answers.map((answer) => answer.code))).toEqual(new Set([code]))
})

test('a read that shows more to admins is not answered if its caller is no longer one', async () => {
  const caller = await callerOfOwner('the role is lowered')
  const { code } = await whileWaiting(
    (tx) => tx`lock table device in access exclusive mode`,
    () => client.call('search', { text: 'gate' }, caller),
    () => updateOwner(caller, { role: 'viewer' }),
  )
  expect(code).toBe(10003)
})

test('a demoted admin ends no session of others, and unlinks nobody', async () => {
  const [caller, other] = [await callerOfOwner('the role is lowered'), await callerOfOwner('the session ends')]
  const lower = (tx: ISql) => (losses['the role is lowered'] as Loss).lose(tx, caller)
  const ended = await whileWaiting(
    (tx) => tx`select 1 from operator_session where id = ${other.id} for update`,
    () => client.call('deleteSession', { id: other.id }, caller),
    lower,
  )
  expect(ended.code).toBe(refusals.sessionNotFound.code)
  expect(await sql`select 1 from operator_session where id = ${other.id}`).toHaveLength(1)
  await sql`update operator set role = 'admin' where id = (select operator_id from operator_session where id = ${caller.id})`
  const [account] = await sql`select operator_id as id from operator_session where id = ${other.id}`
  const unlinked = await whileWaiting(
    (tx) => tx`select pg_advisory_xact_lock(hashtextextended('operators', 0))`,
    () => client.call('unlinkSignOn', { id: account?.id }, caller),
    lower,
  )
  expect(unlinked.code).toBe(10003)
})

test('a write whose caller keeps its access is written, though it shares a batch with one of another', async () => {
  const loss = losses['the session ends'] as Loss
  const [gone, stays] = [await callerOfOwner('the session ends'), await callerOfOwner('the session ends')]
  const { appId } = gone
  const create = (headers: Record<string, string>) => client.call('createDevice', deviceBody(appId), { headers })
  const answers = await whileWaiting(
    (tx) => tx`select 1 from application_lock where app_id = ${appId} for update`,
    async () => {
      // The first waits alone; the others share the next batch.
      const alone = create({ authorization: `Bearer ${client.operatorKey}` })
      await sleep(50)
      return Promise.all([alone, create(gone.headers), create(stays.headers)])
    },
    (tx) => loss.lose(tx, gone),
  )
  expect(answers.map(({ code }) => code)).toEqual([0, 10002, 0])
})
