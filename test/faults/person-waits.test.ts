import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ISql } from 'postgres'
import {
  changePassword,
  createOperatorKey,
  deleteOperator,
  resetOperator,
  updateOperator,
} from '../../src/people/operators/contract.ts'
import { deleteTotp, renewRecoveryCodes, saveTotp, startTotp } from '../../src/people/second-factor/contract.ts'
import { deleteSession, getSession } from '../../src/people/sessions/contract.ts'
import { type Answer, Client, newSerial } from '../harness.ts'
import {
  codeOf,
  cookieOf,
  enter,
  insertPasskey,
  newGenerator,
  newPassword,
  newPerson,
  signIn,
  startedSecret,
} from '../people.ts'
import { becomesTrue, type OwnDatabase, Workplace } from './support.ts'

// What a request of a person does whose session, role or factor changes while it waits.

const place = new Workplace()
let database: OwnDatabase
let client: Client
afterAll(() => place.clear(), 60_000)

beforeAll(async () => {
  database = await place.findDatabase()
  const env = { DATABASE_URL: database.url(), FORECOURT_TRUSTED_PROXIES: '127.0.0.1,::1' }
  client = new Client(await place.startService({ env }))
}, 120_000)

/** Runs statements in a transaction that stays open until a request waits for one of its locks, and then commits. */
async function whileWaiting<Answered>(
  lock: (tx: ISql) => Promise<unknown>,
  ask: () => Promise<Answered>,
  meanwhile: (tx: ISql) => Promise<unknown>,
): Promise<Answered> {
  return database
    .run((sql) =>
      sql.begin(async (tx) => {
        await lock(tx)
        const asked = ask()
        const [self] = await tx`select pg_backend_pid() as pid`
        const waits = () =>
          database.run(
            async (other) =>
              (await other`select 1 from pg_stat_activity where ${self?.pid} = any(pg_blocking_pids(pid))`).length > 0,
          )
        if (!(await becomesTrue(waits))) throw new Error('the request never waited')
        await meanwhile(tx)
        return { asked }
      }),
    )
    .then(({ asked }) => asked)
}

const lockAccount = (id: number) => (tx: ISql) => tx`select 1 from operator where id = ${id} for update`
const lockAccounts = (tx: ISql) => tx`select pg_advisory_xact_lock(hashtextextended('operators', 0))`

describe('what waits', () => {
  test('gives no factor to a session that ends while its request waits, and takes none', async () => {
    const person = await newPerson(client, 'viewer')
    const [headers, other] = [await signIn(client, person), await signIn(client, person)]
    await newGenerator(client, other)
    const { id } = (await client.call(getSession, {}, { headers })).data
    const proven = () =>
      database.run((sql) => sql`update operator_session set confirmed_at = now() + interval '1 hour' where id = ${id}`)
    await proven()
    const secret = await startedSecret(client, headers)
    const before = await database.run((sql) => sql`select secret, used_step from operator_totp`)
    const requests: (() => Promise<Answer<unknown>>)[] = [
      () => client.call(saveTotp, { code: codeOf(secret) }, { headers }),
      () => client.call(startTotp, {}, { headers }),
      () => client.call(renewRecoveryCodes, {}, { headers }),
      () => client.call(deleteTotp, {}, { headers }),
    ]
    const [row] = await database.run((sql) => sql`select * from operator_session where id = ${id}`)
    for (const request of requests) {
      const ended = await whileWaiting(lockAccount(person.id), request, () =>
        database.run((sql) => sql`delete from operator_session where id = ${id}`),
      )
      expect([ended.status, ended.code]).toEqual([401, 10002])
      // Each operation is tried in turn, with the session restored before it.
      await database.run((sql) => sql`insert into operator_session ${sql(row as object)}`)
    }
    const after = await database.run((sql) => sql`select secret, used_step from operator_totp`)
    expect(JSON.stringify(after)).toBe(JSON.stringify(before))
  })

  test('changes no password of a session that ends meanwhile', async () => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    const newer = { password: person.password, newPassword: newPassword() }
    const { id } = (await client.call(getSession, {}, { headers })).data
    const changed = await whileWaiting(
      lockAccounts,
      () => client.call(changePassword, newer, { headers }),
      // By somebody else: the person’s own writes take turns.
      () => client.operate(deleteSession, { id }),
    )
    expect(changed.code).toBe(10002)
    expect((await enter(client, person)).code).toBe(0)
  })

  test('begins no session by a password that was changed meanwhile, nor past a factor that was set meanwhile', async () => {
    const [person, other] = [await newPerson(client, 'viewer'), await newPerson(client, 'viewer')]
    const changes: ((tx: ISql) => Promise<unknown>)[] = [
      (tx) => tx`update operator set password_hash = (select password_hash from operator where id = ${other.id})
        where id = ${person.id}`,
      (tx) => insertPasskey(tx, other.id),
    ]
    for (const [index, change] of changes.entries()) {
      const who = index === 0 ? person : other
      expect((await whileWaiting(lockAccount(who.id), () => enter(client, who), change)).code).toBe(10031)
    }
  })

  test('writes nothing for a caller that lost its role meanwhile', async () => {
    const [admin, person] = [await newPerson(client, 'admin'), await newPerson(client, 'viewer')]
    const headers = await signIn(client, admin)
    const key = await client.operate(createOperatorKey, { name: newSerial('key'), role: 'admin' })
    await database.run((sql) => sql`update operator_session set confirmed_at = now() + interval '1 hour'`)
    const rights = await database.run((sql) => sql`select role from operator where id = ${person.id}`)
    const asked = await whileWaiting(
      lockAccounts,
      () => client.call(updateOperator, { id: person.id, role: 'admin' }, { headers }),
      (tx) => tx`update operator set role = 'viewer' where id = ${admin.id}`,
    )
    const byKey = await whileWaiting(
      lockAccounts,
      () => client.call(deleteOperator, { id: person.id }, { token: key.data.operatorKey ?? '' }),
      (tx) => tx`update operator_key set role = 'viewer' where id = ${key.data.id}`,
    )
    expect([asked.code, byKey.code]).toEqual([10003, 10003])
    expect([...(await database.run((sql) => sql`select role from operator where id = ${person.id}`))]).toEqual([
      ...rights,
    ])
  })

  test('holds no lock of the log while it waits for a session', async () => {
    // Not the last admin, who could be neither reset nor deleted.
    const [person] = [await newPerson(client, 'admin'), await newPerson(client, 'admin')]
    const headers = await signIn(client, person)
    expect((await client.call(createOperatorKey, { name: newSerial('key'), role: 'viewer' }, { headers })).code).toBe(0)
    const [first, second] = [await enter(client, person), await enter(client, person)]
    const isLogFree = () =>
      database
        .run((sql) => sql`select 1 from application_lock where app_id = '' for update nowait`)
        .then(
          () => true,
          () => false,
        )
    const lockSession = (id: number | null) => (tx: ISql) =>
      tx`select 1 from operator_session where id = ${id} for update`
    const isFree: boolean[] = []
    const look = async () => isFree.push(await isLogFree())
    // A sign-in that ends the browser's former session, and a reset that ends all.
    await whileWaiting(
      lockSession(first.data.id),
      () => enter(client, person, undefined, { cookie: cookieOf(first) }),
      look,
    )
    await whileWaiting(lockSession(second.data.id), () => client.operate(resetOperator, { id: person.id }), look)
    await whileWaiting(lockAccount(person.id), () => client.operate(deleteOperator, { id: person.id }), look)
    expect(isFree).toEqual([true, true, true])
  })
})
