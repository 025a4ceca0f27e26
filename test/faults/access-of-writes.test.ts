import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type postgres from 'postgres'
import type { ISql } from 'postgres'
import { hashSecret } from '../../src/callers/credentials.ts'
import { createOperatorKey } from '../../src/people/operators/contract.ts'
import { operations } from '../../src/reference/operations.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import type { Call } from '../costs/calls.ts'
import { measuredOf } from '../costs/operations.ts'
import { makeWorld, measuredOrigin, type World } from '../costs/world.ts'
import { type Answer, Client, newSerial, newToken, shownSecret } from '../harness.ts'
import { newPerson, signIn } from '../people.ts'
import { becomesTrue, isLong, type OwnDatabase, sleep, Workplace } from './support.ts'

// Every write whose caller loses its access while the write waits for a lock is refused, and leaves nothing. A new operation
// is tried by itself: its call is that of `test/costs/operations.ts`.

const place = new Workplace()
let database: OwnDatabase
let client: Client
let world: World
/** For transactions that hold locks, and for looks beside them. */
let holder: postgres.Sql
let sql: postgres.Sql
let letGo = () => {}
let tests = 0
let receiver: ReturnType<typeof Bun.serve>
/** The tables whose rows come from requests alone. */
let tables: string[] = []
let allTables: string[] = []

/** What the service writes by itself or of refused requests, what admits a caller, and what a test takes away. */
const ownTables = new Set([
  ...['access_token', 'application', 'application_lock', 'operator', 'operator_key', 'operator_session'],
  ...['refusal', 'sign_in_attempt', 'used_ticket', 'service_hearing', 'device_presence'],
  ...[
    'callback_endpoint',
    'delivery',
    'database_size',
    'minute_figures',
    'platform_count',
    'usage_hour',
    'fleet_count',
  ],
  // It hands out ids, of which some are never used.
  'event_head',
])

beforeAll(async () => {
  database = await place.findDatabase()
  receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if ((await request.text()).includes('"delivery.test"')) tests++
      return new Response(null, { status: 204 })
    },
  })
  const env = {
    DATABASE_URL: database.url(),
    FORECOURT_PRIVATE_CALLBACKS: 'allow',
    FORECOURT_PUBLIC_URL: measuredOrigin,
  }
  client = new Client(await place.startService({ env }))
  const gone = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const keep = () =>
    new Promise<postgres.Sql>((resolve) => {
      void database.run(async (opened) => {
        resolve(opened)
        await gone
      })
    })
  ;[holder, sql] = [await keep(), await keep()]
  world = await makeWorld(client, sql, `http://127.0.0.1:${receiver.port}/`)
  // Of a partitioned table without its partitions.
  const rows = await sql`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`
  allTables = rows.map(({ name }) => name)
  tables = allTables.filter((name) => !ownTables.has(name))
}, 120_000)
afterAll(async () => {
  letGo()
  receiver?.stop(true)
  await place.clear()
}, 60_000)

/** How a caller loses its access, the refusal of a write that waits meanwhile, and by whom the write is sent. */
interface Loss {
  code: number
  by: 'application' | 'person' | 'key'
  lose(tx: ISql, caller: Caller): Promise<unknown>
}

interface Caller {
  appId: string
  headers: Record<string, string>
  /** The id of the session, or of the key. */
  id: number
}

const ofSession = (id: number) => `(select operator_id from operator_session where id = ${id})`
const losses: Record<string, Loss> = {
  'the token is revoked': {
    code: 10002,
    by: 'application',
    lose: (tx, { headers }) =>
      tx`delete from access_token where token_hash = ${hashSecret((headers.authorization ?? '').slice(7))}`,
  },
  'the application is frozen': {
    code: 10005,
    by: 'application',
    lose: (tx, { appId }) => tx`update application set status = 2, frozen_reason = 'x' where app_id = ${appId}`,
  },
  'the session ends': {
    code: 10002,
    by: 'person',
    lose: (tx, { id }) => tx`delete from operator_session where id = ${id}`,
  },
  'the account is disabled': {
    code: 10002,
    by: 'person',
    lose: (tx, { id }) => tx.unsafe(`update operator set status = 2 where id = ${ofSession(id)}`),
  },
  'the account is deleted': {
    code: 10002,
    by: 'person',
    lose: (tx, { id }) => tx.unsafe(`delete from operator where id = ${ofSession(id)}`),
  },
  'the role is lowered': {
    code: 10003,
    by: 'person',
    lose: (tx, { id }) => tx.unsafe(`update operator set role = 'viewer' where id = ${ofSession(id)}`),
  },
  'the key is deleted': {
    code: 10002,
    by: 'key',
    lose: (tx, { id }) => tx`delete from operator_key where id = ${id}`,
  },
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
  const headers = await signIn(client, await newPerson(client, 'admin'))
  if (by === 'person') return { appId, headers, id: await sessionOf(headers) }
  const made = await client.call(createOperatorKey, { name: newSerial('key'), role: 'admin' }, { headers })
  const key = { authorization: `Bearer ${shownSecret(made.data.operatorKey)}` }
  // The first use of a key is stored.
  await client.send('/api/platform/v1/application/page', { headers: key })
  return { appId, headers: key, id: made.data.id }
}

/** The rows of all tables that requests write. */
async function rowsOf(tx: ISql): Promise<Record<string, string>> {
  const parts = tables.map(
    (name) =>
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
const kinds = Object.keys(losses)

/** Locks all tables against writes; again when background work, which takes them in another order, met it in a deadlock. */
async function lockAll(tx: ISql): Promise<void> {
  const names = allTables.map((name) => `"${name}"`).join(', ')
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

/** Calls an operation for a caller that loses its access while the call waits for its first lock. */
async function callLosing(operation: Operation, { input, as }: Call, { code, lose }: Loss, caller: Caller) {
  const headers = { ...as?.headers, ...caller.headers }
  const testsBefore = tests
  let answered: Answer<unknown> | undefined
  const { asked, before } = await holder.begin(async (tx) => {
    // All writes wait, and reads do not.
    await lockAll(tx)
    const asked = client.call(operation, input, { headers }).then((answer) => {
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
    if (answered !== undefined) throw new Error(`the request did not wait: ${answered.text}`)
    await lose(tx, caller)
    return { asked, before: await rowsOf(tx) }
  })
  const answer = await asked
  const rows = (answer.data as { results?: { code: number }[] } | null)?.results
  const codes = answer.code === 0 && rows ? rows.map((row) => row.code) : [answer.code]
  expect([...new Set(codes)], answer.text).toEqual([code])
  expect(await rowsOf(sql)).toEqual(before)
  expect(tests).toBe(testsBefore)
}

describe('a write that waits is refused, and leaves nothing, when its caller loses its access', () => {
  // Each write meets one loss, and in the long run all.
  test.each(writes.map((operation, at) => [operation.id, at] as const))('%s', async (id, at) => {
    const operation = writes[at] as Operation
    let tried = 0
    for (let number = 0; number < kinds.length && (tried === 0 || isLong); number++) {
      const name = kinds[(at + number) % kinds.length] as string
      const loss = losses[name] as Loss
      // Calls of one person share a session, which the loss ends: so each has a client of its own.
      const call = await measuredOf(id).call({ ...world, client: new Client(client) })
      const caller = await callerOf(call, loss, name === 'the role is lowered')
      if (caller === undefined) continue
      tried++
      try {
        await callLosing(operation, call, loss, caller)
      } catch (error) {
        throw new Error(`${name}: ${error}`)
      } finally {
        // A job that was to be cancelled stands in the way of the next one.
        await sql`delete from import where status = 1 and lease_until = 'infinity'`
        await sql`update application set status = 1, frozen_reason = null where app_id = ${caller.appId}`
      }
    }
    expect(tried).toBeGreaterThan(0)
  })
})
