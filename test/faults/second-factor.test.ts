import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createApplication, pageApplications } from '../../src/applications/contract.ts'
import { pageAudit } from '../../src/events/contract.ts'
import {
  changePassword,
  createOperator,
  createOperatorKey,
  pageOperators,
  setUpOperator,
  updateOperator,
} from '../../src/people/operators/contract.ts'
import {
  deleteTotp,
  getSecondFactors,
  renewRecoveryCodes,
  resetSecondFactors,
  saveTotp,
  startTotp,
} from '../../src/people/second-factor/contract.ts'
import {
  confirmSession,
  createSession,
  deleteSession,
  getSession,
  getSettings,
  pageSessions,
} from '../../src/people/sessions/contract.ts'
import { operations } from '../../src/reference/operations.ts'
import { EventReader } from '../event-reader.ts'
import { Client, newApplication, newSerial } from '../harness.ts'
import { codeOf, cookieOf, enter, newGenerator, newPassword, newPerson, signIn } from '../people.ts'
import { untyped } from '../untyped.ts'
import { becomes, becomesTrue, type OwnDatabase, rememberedMs, Workplace } from './support.ts'

// What a role that asks for a second factor requires of sessions, in several processes.

const place = new Workplace()
let database: OwnDatabase
let strict: Client
afterAll(() => place.clear(), 60_000)

beforeAll(async () => {
  database = await place.findDatabase()
  const env = {
    DATABASE_URL: database.url(),
    FORECOURT_TRUSTED_PROXIES: '127.0.0.1,::1',
    FORECOURT_REQUIRE_SECOND_FACTOR: 'admin,operator',
    FORECOURT_WORKERS: '3',
  }
  strict = new Client(await place.startService({ env }))
}, 120_000)

describe('a role that asks for a second factor', () => {
  test('limits a session by password until a factor is set', async () => {
    const person = await newPerson(strict, 'admin')
    const headers = await signIn(strict, person)
    const limited = await strict.call(getSession, {}, { headers })
    expect(limited.data).toMatchObject({ isLimited: true, method: 'password' })
    const refused = [
      [pageApplications, {}],
      [createApplication, { appName: 'x' }],
      [pageOperators, {}],
      [resetSecondFactors, { id: person.id, reason: 'x' }],
      [createOperatorKey, {}],
    ] as const
    for (const [operation, input] of refused) {
      const { status, code, data } = await strict.call(untyped(operation), input, { headers })
      expect([operation.id, status, code, data]).toEqual([operation.id, 403, 10034, null])
    }
    // All that it may call; whatever else there is, is refused before anything is looked at.
    const mayCall = /\/(secondFactor\/(?!reset$)\w+|session\/\w+|operator\/changePassword)$/
    const others = operations.filter(({ callers, path }) => callers.includes('operator') && !mayCall.test(path))
    expect(others.length).toBeGreaterThan(60)
    const codes = await Promise.all(
      others.map(async ({ id }) => [id, (await strict.call(untyped({ id }), {}, { headers })).code]),
    )
    expect(codes).toEqual(others.map(({ id }) => [id, 10034]))
    const open = [
      [getSettings, {}],
      [pageSessions, {}],
      [getSecondFactors, {}],
      [confirmSession, { password: person.password }],
    ] as const
    for (const [operation, input] of open)
      expect((await strict.call(untyped(operation), input, { headers })).code).toBe(0)
    const password = newPassword()
    const changed = await strict.call(changePassword, { password: person.password, newPassword: password }, { headers })
    expect(changed.code).toBe(0)
    expect((await strict.call(getSecondFactors, {}, { headers })).data.isRequired).toBe(true)
    expect((await strict.call(deleteTotp, {}, { headers })).code).toBe(10056)
    await newGenerator(strict, headers)
    // The change applies in each process at once, although they have the limited session in memory.
    const answers = await Promise.all(Array.from({ length: 30 }, () => strict.call(pageApplications, {}, { headers })))
    expect(answers.map(({ code }) => code)).toEqual(Array(30).fill(0))
    expect((await strict.call(getSession, {}, { headers })).data.isLimited).toBe(false)
    expect((await strict.call(deleteTotp, {}, { headers })).code).toBe(10057)
    expect((await strict.call(getSecondFactors, {}, { headers })).data.totp).not.toBeNull()
  })

  test('is asked for after a set-up link too', async () => {
    const made = (await strict.operate(createOperator, { name: newSerial('person'), role: 'operator' })).data
    const setUp = { setUpToken: made.setUpPath?.split('#')[1], password: newPassword() }
    const entered = await strict.call(setUpOperator, setUp)
    expect(entered.data).toMatchObject({ method: 'password', isLimited: true })
    const headers = { cookie: cookieOf(entered) }
    expect((await strict.call(pageApplications, {}, { headers })).code).toBe(10034)
    await newGenerator(strict, headers)
    expect((await strict.call(pageApplications, {}, { headers })).code).toBe(0)
  })

  test('leaves a session limited that has not shown the factor, until it does', async () => {
    const person = await newPerson(strict, 'admin')
    const [headers, other] = [await signIn(strict, person), await signIn(strict, person)]
    const { secret } = await newGenerator(strict, headers)
    expect((await strict.call(getSession, {}, { headers })).data.isLimited).toBe(false)
    // Somebody who knows only the password could have begun the other session, so it may neither set up a factor nor
    // act as an admin.
    const newer = { password: person.password, newPassword: newPassword() }
    const refused = [
      await strict.call(pageOperators, {}, { headers: other }),
      await strict.call(startTotp, {}, { headers: other }),
      await strict.call(saveTotp, { code: codeOf(secret) }, { headers: other }),
      await strict.call(renewRecoveryCodes, {}, { headers: other }),
      await strict.call(changePassword, newer, { headers: other }),
    ]
    expect(refused.map(({ code }) => code)).toEqual(Array(5).fill(10034))
    const { list } = (await strict.call(pageSessions, {}, { headers: other })).data
    expect(new Set(list.map(({ operatorId }) => operatorId))).toEqual(new Set([person.id]))
    const stranger = (await enter(strict, await newPerson(strict, 'viewer'))).data.id
    expect((await strict.call(deleteSession, { id: stranger }, { headers: other })).code).toBe(10053)

    const { password } = person
    expect((await strict.call(confirmSession, { password }, { headers: other })).code).toBe(10032)
    const shown = await strict.call(confirmSession, { password, code: codeOf(secret) }, { headers: other })
    expect(shown.data.isLimited).toBe(false)
    expect((await strict.call(pageOperators, {}, { headers: other })).code).toBe(0)
  })

  test('is told within a second of a change of role', async () => {
    const person = await newPerson(strict, 'viewer')
    const headers = await signIn(strict, person)
    expect((await strict.call(getSession, {}, { headers })).data.isLimited).toBe(false)
    const { appId } = await newApplication(strict)
    const stream = await EventReader.open(strict.url, { headers, query: { appId } })
    await stream.until(() => stream.blocks.length === 2)
    expect((await strict.operate(updateOperator, { id: person.id, role: 'operator' })).code).toBe(0)
    expect(await becomes(10034, () => stream.closed?.code, rememberedMs)).toBe(10034)
    const page = async () => (await strict.call(pageApplications, {}, { headers })).code
    expect(await becomes(10034, page, rememberedMs)).toBe(10034)
    expect((await strict.operate(updateOperator, { id: person.id, role: 'viewer' })).code).toBe(0)
    expect(await becomes(0, page, rememberedMs)).toBe(0)
  })

  test('takes no session by an operator key of such a role, but for the key of the settings', async () => {
    const make = async (role: string) =>
      (await strict.operate(createOperatorKey, { name: newSerial('key'), role })).data.operatorKey ?? ''
    const [admin, viewer] = [await make('admin'), await make('viewer')]
    expect((await strict.call(createSession, { operatorKey: admin })).code).toBe(10034)
    expect((await strict.call(createSession, { operatorKey: viewer })).code).toBe(0)
    const own = await strict.call(createSession, { operatorKey: strict.operatorKey })
    expect([own.code, own.data.isLimited]).toEqual([0, false])
    expect((await strict.call(pageApplications, {}, { headers: { cookie: cookieOf(own) } })).code).toBe(0)
    // Programs need none.
    expect((await strict.call(pageApplications, {}, { token: admin })).code).toBe(0)
  })

  test('lets a session go that only may set one up', async () => {
    const headers = await signIn(strict, await newPerson(strict, 'operator'))
    expect((await strict.call(deleteSession, {}, { headers })).code).toBe(0)
  })
})

describe('codes', () => {
  test('work once under many tries on several processes', async () => {
    const person = await newPerson(strict, 'viewer')
    const { secret } = await newGenerator(strict, await signIn(strict, person))
    const code = codeOf(secret)
    const answers = await Promise.all(Array.from({ length: 30 }, () => enter(strict, person, code)))
    // On a busy machine the first may be told 50003 before it has used the code; then one that comes again uses it.
    const isUsed = async () => {
      await database.run((sql) => sql`delete from sign_in_attempt`)
      const answer = await enter(strict, person, code)
      answers.push(answer)
      return answer.code === 10033
    }
    expect(await becomesTrue(isUsed)).toBe(true)
    expect(answers.filter((answer) => answer.code === 0).length).toBeLessThanOrEqual(1)
    for (const answer of answers) expect([0, 10033, 10007, 50003]).toContain(answer.code)
  })

  test('are guessed ten times from everywhere together', async () => {
    const person = await newPerson(strict, 'viewer')
    const { secret, recoveryCodes } = await newGenerator(strict, await signIn(strict, person))
    const from = (index: number) => ({ 'x-forwarded-for': `198.51.100.${index}` })
    for (let index = 0; index < 10; index++) {
      expect((await enter(strict, person, '000000', from(index))).code).toBe(10033)
    }
    expect((await enter(strict, person, codeOf(secret), from(20))).code).toBe(10007)
    expect((await enter(strict, person, recoveryCodes[0], from(21))).code).toBe(10007)
    await database.run((sql) => sql`update sign_in_attempt set since = now() - interval '16 minutes'`)
    expect((await enter(strict, person, codeOf(secret, 1), from(22))).code).toBe(0)
  })

  test('that are wrong count like wrong passwords too', async () => {
    const person = await newPerson(strict, 'viewer')
    const { secret } = await newGenerator(strict, await signIn(strict, person))
    const address = '198.51.100.88'
    const headers = { 'x-forwarded-for': address }
    const counts = () =>
      database.run(async (sql) => {
        const keys = [`source ${address}`, `${address} account ${person.id}`, `account ${person.id}`]
        const rows = await sql`select key, failures from sign_in_attempt`
        return keys.map((key) => rows.find((row) => row.key === key)?.failures ?? 0)
      })
    for (let time = 0; time < 2; time++) expect((await enter(strict, person, '000000', headers)).code).toBe(10033)
    expect(await counts()).toEqual([2, 2, 2])
    // A password that is right says nothing yet.
    expect((await enter(strict, person, undefined, headers)).code).toBe(10032)
    expect((await enter(strict, person, codeOf(secret), headers)).code).toBe(0)
    expect(await counts()).toEqual([0, 0, 0])
  })

  test('of a generator that was begun more than 10 minutes ago set nothing up', async () => {
    const headers = await signIn(strict, await newPerson(strict, 'viewer'))
    const { secret } = (await strict.call(startTotp, {}, { headers })).data
    await database.run((sql) => sql`update operator_totp_draft set expires_at = now()`)
    expect((await strict.call(saveTotp, { code: codeOf(secret) }, { headers })).code).toBe(10033)
  })

  test('are kept sealed and as hashes alone', async () => {
    const { secret, recoveryCodes } = await newGenerator(
      strict,
      await signIn(strict, await newPerson(strict, 'viewer')),
    )
    const stored = JSON.stringify(
      await database.run(async (sql) => [
        await sql`select * from operator_totp`,
        await sql`select * from operator_recovery_code`,
        await sql`select type, data from event where app_id = ''`,
      ]),
    )
    for (const word of [secret, ...recoveryCodes, ...recoveryCodes.map((code) => code.replaceAll('-', ''))]) {
      expect(stored.toUpperCase()).not.toContain(word.toUpperCase())
    }
  })
})

describe('the audit trail', () => {
  test('tells of factors that were added, removed and reset, and no secret', async () => {
    const person = await newPerson(strict, 'viewer')
    const headers = await signIn(strict, person)
    const { secret, recoveryCodes } = await newGenerator(strict, headers)
    const renewed = (await strict.call(renewRecoveryCodes, {}, { headers })).data.recoveryCodes
    expect((await strict.call(deleteTotp, {}, { headers })).code).toBe(0)
    await newGenerator(strict, headers)
    const browsers = () => database.run((sql) => sql`select 1 from operator_browser where operator_id = ${person.id}`)
    expect(await browsers()).toHaveLength(1)
    await strict.operate(resetSecondFactors, { id: person.id, reason: 'the phone is lost' })
    // Its browsers are strangers again.
    expect(await browsers()).toHaveLength(0)
    const trail = await strict.operate(pageAudit, { subject: String(person.id) })
    const told = trail.data.list.filter(({ type }) => type.startsWith('secondFactor.'))
    expect(told.map(({ type, actor, data }) => [type, actor, data])).toEqual(
      [
        ['added', 'totp'],
        ['added', 'recoveryCodes'],
        ['removed', 'totp'],
        ['added', 'totp'],
        ['reset', undefined],
      ]
        .map(([what, factor]) => [
          `secondFactor.${what}`,
          what === 'reset' ? 'operator:operator' : `operator:${person.name}`,
          expect.objectContaining({
            operatorId: person.id,
            name: person.name,
            ...(factor ? { factor } : { reason: 'the phone is lost' }),
          }),
        ])
        .reverse(),
    )
    for (const word of [secret, ...recoveryCodes, ...(renewed ?? [])]) expect(trail.text).not.toContain(word)
  })
})
