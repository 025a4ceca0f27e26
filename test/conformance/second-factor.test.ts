import { describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  codeOf,
  cookieOf,
  earlyInStep,
  enter as enterService,
  newGenerator,
  newPassword,
  newPerson,
  type Person,
  signIn,
  startedSecret,
} from '../kit/people.ts'
import { client, expectFaults, expectRefusal, expectSuccess, succeed, withinOneSecond } from './support.ts'

const enter = (person: Person, code?: string) => enterService(client, person, code)

async function personWithGenerator(role = 'viewer') {
  const person = await newPerson(client, role)
  const headers = await signIn(client, person)
  return { person, headers, ...(await newGenerator(client, headers)) }
}

describe('a code generator', () => {
  test('is set up by a code of the secret that was shown, and shows recovery codes once', async () => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    const before = await succeed('getSecondFactors', {}, { headers })
    expect(before).toEqual({ isRequired: false, totp: null, passkeys: [], recoveryCodesLeft: 0 })
    const started = await succeed('startTotp', {}, { headers })
    expect(started.secret).toMatch(/^[A-Z2-7]{32}$/)
    const url = new URL(started.otpauthUrl)
    expect([url.protocol, url.host, url.searchParams.get('secret')]).toEqual(['otpauth:', 'totp', started.secret])
    expectRefusal(await client.call('saveTotp', { code: '000000' }, { headers }), 'codeInvalid')
    const saved = await succeed('saveTotp', { code: codeOf(started.secret) }, { headers })
    expect(saved.recoveryCodes).toHaveLength(10)
    expect(new Set(saved.recoveryCodes).size).toBe(10)
    for (const code of saved.recoveryCodes ?? []) expect(code).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/)
    expect(saved).toMatchObject({ isRequired: false, recoveryCodesLeft: 10, totp: { lastUseTime: null }, passkeys: [] })
    const shown = await client.call('getSecondFactors', {}, { headers })
    expect(shown.text).not.toContain(started.secret)
    expect(expectSuccess(shown)).not.toHaveProperty('recoveryCodes')
    expect((await succeed('getOperator', { id: person.id })).hasSecondFactor).toBe(true)
    // A new generator in place of the first brings no new recovery codes.
    const again = await startedSecret(client, headers)
    expect((await succeed('saveTotp', { code: codeOf(again) }, { headers })).recoveryCodes).toBeNull()
  })

  test('is asked for after the right password alone', async () => {
    const { person, secret } = await personWithGenerator()
    expectRefusal(await enter(person), 'secondFactorRequired')
    expectRefusal(await enter({ ...person, password: 'wrong' }), 'signInFailed')
    expectRefusal(await enter({ ...person, password: 'wrong' }, codeOf(secret)), 'signInFailed')
    for (const wrong of ['000000', 'no code', '12345', 'aaaa-aaaa-aaaa-aaaa']) {
      expectRefusal(await enter(person, wrong), 'codeInvalid')
    }
    const session = expectSuccess(await enter(person, codeOf(secret)))
    expect(session).toMatchObject({ method: 'password+code', isLimited: false, name: person.name })
  })

  test('takes the code of one step before and behind, each once, and none before a used one', async () => {
    await earlyInStep()
    const { person, secret } = await personWithGenerator()
    expectRefusal(await enter(person, codeOf(secret, -2)), 'codeInvalid')
    expectRefusal(await enter(person, codeOf(secret, 2)), 'codeInvalid')
    // The set-up has used the present time step, and with it the one before.
    expectRefusal(await enter(person, codeOf(secret, -1)), 'codeInvalid')
    const next = codeOf(secret, 1)
    expectSuccess(await enter(person, next))
    expectRefusal(await enter(person, next), 'codeInvalid')
    expectRefusal(await enter(person, codeOf(secret)), 'codeInvalid')
  })

  test('understands the codes of a generator that others wrote', async () => {
    const oathtool = '/usr/bin/oathtool'
    if (!existsSync(oathtool)) {
      console.warn('oathtool is not on this machine (Debian: oathtool): not compared with it')
      return
    }
    const { person, secret } = await personWithGenerator()
    const { stdout } = spawnSync(oathtool, ['--totp', '--base32', secret], { encoding: 'utf8' })
    expectSuccess(await enter(person, stdout.trim()))
  })

  test('is removed, with the recovery codes where it was the last factor', async () => {
    const { person, headers } = await personWithGenerator()
    const left = await succeed('deleteTotp', {}, { headers })
    expect(left).toEqual({ isRequired: false, totp: null, passkeys: [], recoveryCodesLeft: 0 })
    expectRefusal(await client.call('deleteTotp', {}, { headers }), 'secondFactorNotFound')
    expectRefusal(await client.call('renewRecoveryCodes', {}, { headers }), 'secondFactorNotFound')
    expect(expectSuccess(await enter(person)).method).toBe('password')
  })

  test('is nothing that an operator key could have', async () => {
    expectRefusal(await client.operate('getSecondFactors', {}), 'notPermitted')
    expectRefusal(await client.operate('startTotp', {}), 'notPermitted')
    const byKey = await client.call('createSession', { operatorKey: client.operatorKey })
    const headers = { cookie: cookieOf(byKey) }
    expectRefusal(await client.call('getSecondFactors', {}, { headers }), 'notPermitted')
  })
})

describe('a recovery code', () => {
  test('stands in for the code, once, in any case and without hyphens', async () => {
    const { person, headers, recoveryCodes } = await personWithGenerator()
    const [first = '', second = ''] = recoveryCodes
    expect(expectSuccess(await enter(person, first.toUpperCase().replaceAll('-', ''))).method).toBe('password+code')
    expectRefusal(await enter(person, first), 'codeInvalid')
    expectSuccess(await enter(person, second))
    expect((await succeed('getSecondFactors', {}, { headers })).recoveryCodesLeft).toBe(8)
    const { list } = await succeed('pageAudit', { type: 'secondFactor.recoveryCodeUsed' })
    const told = list.find(({ data }) => (data as { operatorId?: number }).operatorId === person.id)
    expect(told?.data).toMatchObject({ operatorId: person.id, recoveryCodesLeft: 8 })
    expect(JSON.stringify(list)).not.toContain(second)
  })

  test('is replaced with all others by new ones', async () => {
    const { person, headers, recoveryCodes } = await personWithGenerator()
    const renewed = (await succeed('renewRecoveryCodes', {}, { headers })).recoveryCodes
    expect(renewed).toHaveLength(10)
    expectRefusal(await enter(person, recoveryCodes[0]), 'codeInvalid')
    expectSuccess(await enter(person, renewed?.[0]))
  })
})

describe('resetSecondFactors', () => {
  test('takes everything away from another account, ends its sessions and tells the reason', async () => {
    const admin = await signIn(client, await newPerson(client, 'admin'))
    const { person, headers, recoveryCodes } = await personWithGenerator()
    const input = { id: person.id, reason: 'the phone is lost' }
    const reset = await succeed('resetSecondFactors', input, { headers: admin })
    expect(reset).toMatchObject({ id: person.id, hasSecondFactor: false })
    await withinOneSecond(() => client.call('getSession', {}, { headers }), 10002)
    expect(expectSuccess(await enter(person)).method).toBe('password')
    expectRefusal(await client.call('resetSecondFactors', input, { headers: admin }), 'secondFactorNotFound')
    const { list } = await succeed('pageAudit', { type: 'secondFactor.reset' })
    expect(list[0]?.data).toMatchObject({ operatorId: person.id, reason: input.reason })
    expect(JSON.stringify(list)).not.toContain(recoveryCodes[0])
  })

  test('is refused for one’s own account, for nobody and without a reason', async () => {
    const { person, headers } = await personWithGenerator('admin')
    const own = await client.call('resetSecondFactors', { id: person.id, reason: 'x' }, { headers })
    expectRefusal(own, 'notPermitted')
    expectRefusal(await client.operate('resetSecondFactors', { id: 999_999_999, reason: 'x' }), 'operatorNotFound')
    expectFaults(await client.operate('resetSecondFactors', { id: person.id }), ['reason'])
  })
})

describe('a set-up link', () => {
  test('asks for the code of an account that has a factor', async () => {
    const { person, secret } = await personWithGenerator()
    const { setUpPath } = await succeed('resetOperator', { id: person.id })
    const input = { setUpToken: setUpPath?.split('#')[1], password: newPassword() }
    expectRefusal(await client.call('setUpOperator', input), 'secondFactorRequired')
    expectRefusal(await client.call('setUpOperator', { ...input, code: '000000' }), 'codeInvalid')
    const session = expectSuccess(await client.call('setUpOperator', { ...input, code: codeOf(secret) }))
    expect(session.method).toBe('password+code')
  })
})

describe('confirmSession', () => {
  test('gives a new proof by the password, and the code where there is a generator', async () => {
    const { person, headers, secret } = await personWithGenerator()
    const before = await succeed('getSession', {}, { headers })
    expect(before).toMatchObject({ method: 'password', isLimited: false })
    const confirm = (input: object) => client.call('confirmSession', input, { headers })
    expectFaults(await confirm({}), ['password'])
    expectRefusal(await confirm({ password: 'wrong' }), 'signInFailed')
    expectRefusal(await confirm({ password: person.password }), 'secondFactorRequired')
    expectRefusal(await confirm({ password: person.password, code: '000000' }), 'codeInvalid')
    const confirmed = expectSuccess(await confirm({ password: person.password, code: codeOf(secret) }))
    expect(confirmed.id).toBe(before.id)
    expect((confirmed.confirmedUntil ?? '') >= (before.confirmedUntil ?? '')).toBe(true)
  })

  test('takes the operator key in a session by one, and no session by a bearer key', async () => {
    const headers = { cookie: cookieOf(await client.call('createSession', { operatorKey: client.operatorKey })) }
    expectFaults(await client.call('confirmSession', { password: 'x' }, { headers }), ['operatorKey'])
    expectRefusal(await client.call('confirmSession', { operatorKey: 'fok_x' }, { headers }), 'signInFailed')
    const other = await succeed('createOperatorKey', { name: newPassword(), role: 'viewer' })
    expectRefusal(await client.call('confirmSession', { operatorKey: other.operatorKey }, { headers }), 'signInFailed')
    const confirmed = await succeed('confirmSession', { operatorKey: client.operatorKey }, { headers })
    expect(confirmed.method).toBe('operatorKey')
    expectRefusal(await client.operate('confirmSession', { operatorKey: client.operatorKey }), 'notPermitted')
    const bearer = await succeed('getSession', {})
    expect(bearer).toMatchObject({ method: null, isLimited: false, confirmedUntil: null })
  })

  test('leaves the change of one’s own password as it was', async () => {
    const { person, headers } = await personWithGenerator()
    const input = { password: person.password, newPassword: newPassword() }
    await succeed('changePassword', input, { headers })
  })
})
