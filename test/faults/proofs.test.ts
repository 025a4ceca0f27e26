import { describe, expect, test } from 'bun:test'
import { operations } from '../../src/reference/operations.ts'
import { Client, rememberedMs } from '../kit/client.ts'
import { contractOf, type OperationId } from '../kit/contracts.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { codeOf, cookieOf, enter, newGenerator, newPerson, signIn } from '../kit/people.ts'
import { newSerial, shownSecret } from '../kit/records.ts'
import { newSignedIn } from '../kit/sessions.ts'
import { becomes } from '../kit/waits.ts'

// Dangerous acts ask for a proof that is not old.

const place = ownWorkplace()
/** How long a proof lasts. */
const proofMs = 1000

const database = await place.findDatabase()
const env = {
  DATABASE_URL: database.url(),
  FORECOURT_TRUSTED_PROXIES: '127.0.0.1,::1',
  FORECOURT_CONFIRM_SECONDS: String(proofMs / 1000),
}
const brief = new Client(await place.startService({ env }))

describe('a proof', () => {
  test('that is too old is asked for before anything is looked at, and a new one lets the act through', async () => {
    const { headers, ...person } = await newSignedIn(brief, 'admin')
    // The sign-in is one.
    const act = async () => (await brief.call('createOperatorKey', {}, { headers })).code
    expect(await act()).toBe(10001)
    expect(await becomes(10035, act, proofMs + rememberedMs)).toBe(10035)
    const dangerous: OperationId[] = [
      ...(['rotateApplicationSecret', 'endPreviousApplicationSecret', 'rotateCallbackSecret'] as const),
      ...(['freezeApplication', 'createOperator', 'updateOperator', 'deleteOperator', 'resetOperator'] as const),
      ...(['createOperatorKey', 'deleteOperatorKey', 'handOverOperatorKey', 'startTotp', 'saveTotp'] as const),
      ...(['deleteTotp', 'renewRecoveryCodes', 'resetSecondFactors', 'startPasskey', 'savePasskey'] as const),
      ...(['deletePasskey', 'unlinkSignOn', 'forceUnbindDevice', 'transferDevice', 'transferDevices'] as const),
    ]
    for (const id of dangerous) {
      const { status, code, data } = await brief.call(contractOf(id), {}, { headers })
      expect([id, status, code, data]).toEqual([id, 403, 10035, null])
      // Bearer keys are asked for none.
      expect((await brief.operate(contractOf(id), {})).code).not.toBe(10035)
    }
    const asking = operations.filter(({ asksProof }) => asksProof).map(({ id }) => id)
    expect(asking.toSorted()).toEqual(dangerous.toSorted())
    const ofMany = { kind: 'devices', filter: { all: true }, reason: 'x', appId: 'no-such-application' }
    for (const [act, code] of [
      [{ act: 'forceUnbind' }, 10035],
      [{ act: 'transfer', targetAppId: 'y' }, 10035],
      [{ act: 'unbind' }, 10004],
    ] as const)
      expect((await brief.call('createAct', { ...ofMany, ...act }, { headers })).code).toBe(code)

    expect((await brief.call('pageOperators', {}, { headers })).code).toBe(0)
    expect((await brief.call('confirmSession', { password: 'wrong' }, { headers })).code).toBe(10031)
    expect((await brief.call('createOperatorKey', {}, { headers })).code).toBe(10035)
    expect((await brief.call('confirmSession', { password: person.password }, { headers })).code).toBe(0)
    expect(await act()).toBe(10001)
    expect(await becomes(10035, act, proofMs + rememberedMs)).toBe(10035)
  })

  test('that is wrong counts like a wrong sign-in', async () => {
    const person = await newPerson(brief, 'viewer')
    const { password } = person
    const [headers, other] = [await signIn(brief, person), await signIn(brief, person)]
    const confirm = (shown: object, by = headers) => brief.call('confirmSession', shown, { headers: by })
    for (let time = 0; time < 10; time++) expect((await confirm({ password: 'wrong' })).code).toBe(10031)
    expect((await confirm({ password })).code).toBe(10007)
    expect((await enter(brief, person, undefined, headers)).code).toBe(10007)
    // Codes are guessed ten times in all, by confirmations and sign-ins together.
    const { headers: own, ...holder } = await newSignedIn(brief, 'viewer')
    const { secret } = await newGenerator(brief, own)
    for (let time = 0; time < 5; time++) {
      expect((await confirm({ password: holder.password, code: '000000' }, own)).code).toBe(10033)
      expect((await enter(brief, holder, '000000')).code).toBe(10033)
    }
    expect((await confirm({ password: holder.password, code: codeOf(secret) }, own)).code).toBe(10007)
    const { list } = (await brief.operate('pageAudit', { type: 'session.refused', subject: String(person.id) })).data
    expect(list[0]?.data).toMatchObject({ name: person.name })
    expect((await brief.call('getSession', {}, { headers: other })).code).toBe(0)
  })

  test('by an operator key that is wrong, or another’s, counts for its source, as a sign-in by one', async () => {
    const address = '198.51.100.73'
    const key = `source ${address}`
    const newKey = async () => {
      const headers = await signIn(brief, await newPerson(brief, 'admin'))
      const made = await brief.call('createOperatorKey', { name: newSerial('key'), role: 'viewer' }, { headers })
      return shownSecret(made.data.operatorKey)
    }
    const [operatorKey, foreign] = [await newKey(), await newKey()]
    const from = (headers: object) => ({ headers: { 'x-forwarded-for': address, ...headers } })
    const enterBy = (shown: string) => brief.call('createSession', { operatorKey: shown }, from({}))
    const session = { cookie: cookieOf(await enterBy(operatorKey)) }
    const confirm = async (shown: string) =>
      (await brief.call('confirmSession', { operatorKey: shown }, from(session))).code
    const failures = async () =>
      (await database.sql`select failures from sign_in_attempt where key = ${key}`)[0]?.failures
    const wrong = `${operatorKey.slice(0, -1)}!`
    expect([await confirm(wrong), await confirm(foreign), (await enterBy(wrong)).code]).toEqual([10031, 10031, 10031])
    expect(await failures()).toBe(3)
    expect(await confirm(operatorKey)).toBe(0)
    expect(await failures()).toBe(3)
    await database.sql`update sign_in_attempt set failures = 100 where key = ${key}`
    expect([await confirm(operatorKey), (await enterBy(operatorKey)).code]).toEqual([10007, 10007])
  })

  test('of another process counts at once', async () => {
    const { headers, ...person } = await newSignedIn(brief, 'admin')
    // The first service still has the session in memory as its last look-up found it.
    await database.sql`update operator_session set confirmed_at = now() - interval '1 hour' where operator_id = ${person.id}`
    const act = async () => (await brief.call('createOperatorKey', {}, { headers })).code
    expect(await becomes(10035, act, rememberedMs)).toBe(10035)
    await database.sql`update operator_session set confirmed_at = now() where operator_id = ${person.id}`
    expect(await act()).toBe(10001)
  })
})
