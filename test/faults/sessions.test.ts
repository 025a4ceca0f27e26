import { describe, expect, test } from 'bun:test'
import type { ISql } from 'postgres'
import { prune } from '../../src/database/prune.ts'
import { expiredSetUps } from '../../src/people/operators/store.ts'
import { endedSessions } from '../../src/people/sessions/store.ts'
import { rememberedMs } from '../kit/client.ts'
import { askWhileLocked } from '../kit/locks.ts'
import { enter, insertPasskey, newPassword, newPerson, signIn } from '../kit/people.ts'
import { newSerial, shownSecret } from '../kit/records.ts'
import { twoServices } from '../kit/two-services.ts'
import { waitUntil } from '../kit/waits.ts'

// The ends of sessions, links, keys and locks, for which the tests change the times in the rows instead of waiting; and
// what a request of a person does whose session, role or factor changes while it waits.

const {
  database,
  clients: [client, another],
} = await twoServices()

test('a session that nobody used for 12 hours has ended, and is removed', async () => {
  const person = await newPerson(client, 'viewer')
  const [headers, other] = [await signIn(client, person), await signIn(client, person)]
  const { id } = (await client.call('getSession', {}, { headers })).data
  await database.sql`update operator_session set expires_at = now() - interval '1 second' where id = ${id}`
  const hasEnded = async () => (await client.call('getSession', {}, { headers })).code === 10002
  await waitUntil(hasEnded, 2 * rememberedMs)
  expect(await database.run((sql) => prune(sql, endedSessions, 100))).toBe(1)
  expect((await client.call('getSession', {}, { headers: other })).code).toBe(0)
})

test('a session that is used lasts longer, but not beyond 14 days', async () => {
  const person = await newPerson(client, 'viewer')
  const [headers, ancient] = [await signIn(client, person), await signIn(client, person)]
  const left = (which: { cookie: string }) =>
    database.run(async (sql) => {
      const { id } = (await client.call('getSession', {}, { headers: which })).data
      const [row] = await sql`
        select extract(epoch from expires_at - now())::float8 / 3600 as hours from operator_session where id = ${id}`
      return Number(row?.hours)
    })
  const age = async (which: { cookie: string }, days: number) => {
    const [row] = await database.sql`
        update operator_session set created_at = now() - ${days} * interval '1 day',
          seen_at = now() - interval '1 hour', expires_at = now() + interval '1 hour'
        where id = (select max(id) from operator_session where id <= ${await idOf(which)}) returning id`
    return row?.id
  }
  const idOf = async (which: { cookie: string }) => (await client.call('getSession', {}, { headers: which })).data.id
  await age(headers, 1)
  await age(ancient, 13.9)
  // Another process has neither session in memory, so it reads them from the database and renews them.
  for (const which of [headers, ancient])
    expect((await another.call('getSession', {}, { headers: which })).code).toBe(0)
  expect(await left(headers)).toBeGreaterThan(11)
  expect(await left(ancient)).toBeLessThan(2.5)
})

test('a set-up link ends after 24 hours', async () => {
  const made = await client.operate('createOperator', { name: newSerial('late'), role: 'admin' })
  await database.sql`
      update operator_setup set expires_at = now() - interval '1 second' where operator_id = ${made.data.id}`
  const setUpToken = String(made.data.setUpPath).split('#')[1]
  expect((await client.call('setUpOperator', { setUpToken, password: newPassword() })).code).toBe(10052)
  expect(await database.run((sql) => prune(sql, expiredSetUps, 100))).toBe(1)
})

/** A date some days from now, in the service's time zone, which is 8 hours ahead of UTC. */
const dayHence = (days: number) =>
  new Date(Date.now() + days * 86_400_000 + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')

test('a key lasts 180 days when nothing is said, and 366 at most', async () => {
  const make = (expireTime: string | null) =>
    client.operate('createOperatorKey', { name: newSerial('key'), role: 'viewer', expireTime })
  const days = await database.run(async (sql) => {
    const { id } = (await make(null)).data
    const [row] =
      await sql`select extract(epoch from expires_at - now()) / 86400 as days from operator_key where id = ${id}`
    return Number(row?.days)
  })
  expect(Math.round(days)).toBe(180)
  expect((await make(dayHence(365))).code).toBe(0)
  expect((await make(dayHence(367))).code).toBe(10001)
})

test('a key ends when it was said to', async () => {
  const key = { name: newSerial('key'), role: 'viewer', expireTime: dayHence(1) }
  const made = (await client.operate('createOperatorKey', key)).data
  const [id, operatorKey] = [made.id, shownSecret(made.operatorKey)]
  expect((await client.call('getOverview', {}, { token: operatorKey })).code).toBe(0)
  await database.sql`update operator_key set expires_at = now() where id = ${id}`
  const hasEnded = async () => (await client.call('getOverview', {}, { token: operatorKey })).code === 10002
  await waitUntil(hasEnded, 2 * rememberedMs)
  expect((await client.call('createSession', { operatorKey })).code).toBe(10031)
})

test('wrong guesses are forgiven after 15 minutes', async () => {
  const person = await newPerson(client, 'viewer')
  const tryIt = (password: string) => client.call('createSession', { name: person.name, password })
  for (let index = 0; index < 10; index++) expect((await tryIt('wrong')).code).toBe(10031)
  expect((await tryIt(person.password)).code).toBe(10007)
  await database.sql`update sign_in_attempt set since = now() - interval '16 minutes'`
  expect((await tryIt(person.password)).code).toBe(0)
})

test('a key or an account that is gone makes no key any more, also where it is still believed', async () => {
  const [person] = [await newPerson(client, 'admin'), await newPerson(client, 'admin')]
  const session = { headers: await signIn(client, person) }
  const key = (await client.call('createOperatorKey', { name: newSerial('key'), role: 'admin' }, session)).data
  for (const caller of [{ token: shownSecret(key.operatorKey) }, session]) {
    // The other process now keeps the caller in memory for half a second.
    expect((await another.call('getSession', {}, caller)).code).toBe(0)
    const gone =
      'token' in caller
        ? await client.operate('deleteOperatorKey', { id: key.id })
        : await client.operate('deleteOperator', { id: person.id })
    expect(gone.code).toBe(0)
    const made = await another.call('createOperatorKey', { name: newSerial('key'), role: 'admin' }, caller)
    expect([made.status, made.code]).toEqual([401, 10002])
  }
})

const lockAccount = (id: number) => (tx: ISql) => tx`select 1 from operator where id = ${id} for update`

describe('what waits', () => {
  test('begins no session by a password that was changed meanwhile, nor past a factor that was set meanwhile', async () => {
    const [person, other] = [await newPerson(client, 'viewer'), await newPerson(client, 'viewer')]
    const changes: ((tx: ISql) => Promise<unknown>)[] = [
      (tx) => tx`update operator set password_hash = (select password_hash from operator where id = ${other.id})
        where id = ${person.id}`,
      (tx) => insertPasskey(tx, other.id),
    ]
    for (const [index, change] of changes.entries()) {
      const who = index === 0 ? person : other
      expect((await askWhileLocked(database, lockAccount(who.id), () => enter(client, who), change)).code).toBe(10031)
    }
  })
})
