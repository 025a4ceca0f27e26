import { describe, expect, test } from 'bun:test'
import { codeOf, cookieOf, earlyInStep, enter, newGenerator, newPassword, newPerson, signIn } from '../kit/people.ts'
import { newSerial } from '../kit/records.ts'
import { client, expectFaults, expectRefusal, expectSuccess, succeed, withinOneSecond } from './support.ts'

const sessionOf = (headers: Record<string, string>) => client.call('getSession', {}, { headers })

describe('createSession', () => {
  test('signs a person in by name and password, and a cookie that scripts cannot read is the session', async () => {
    const person = await newPerson(client, 'operator')
    const answer = await client.call('createSession', { name: person.name.toUpperCase(), password: person.password })
    const session = expectSuccess(answer)
    expect(session).toMatchObject({ operatorId: person.id, name: person.name, role: 'operator', appIds: null })
    const [pair, ...attributes] = (answer.headers.get('set-cookie') ?? '').split('; ')
    expect(pair).toMatch(/^forecourt_session=[A-Za-z0-9_-]{43}$/)
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=1209600', 'Path=/', 'SameSite=Strict'])
    expect(answer.text).not.toContain(String(pair?.split('=')[1]))
    const cookie = `theme=dark; ${cookieOf(answer)}; lang=zh`
    expect(expectSuccess(await sessionOf({ cookie })).id).toBe(session.id)
  })

  test('marks the cookie for https where the page came by it', async () => {
    const person = await newPerson(client, 'viewer')
    const signIn = (headers: object) => enter(client, person, undefined, headers)
    expect((await signIn({ origin: 'https://forecourt.example' })).headers.get('set-cookie')).toEndWith('; Secure')
    // The header has no effect, because the client is not a trusted proxy.
    expect((await signIn({ 'x-forwarded-proto': 'https' })).headers.get('set-cookie')).not.toContain('Secure')
  })

  test('signs in by the operator key', async () => {
    const answer = await client.call('createSession', { operatorKey: client.operatorKey })
    expect(expectSuccess(answer)).toMatchObject({ operatorId: null, role: 'admin' })
    await succeed('createApplication', { appName: 'by session' }, { headers: { cookie: cookieOf(answer) } })
  })

  test('tells neither a name from a password that is wrong, nor a key', async () => {
    const person = await newPerson(client, 'admin')
    const wrong = [
      { name: person.name, password: 'not the password' },
      { name: `nobody-${person.name}`, password: person.password },
      { operatorKey: `${client.operatorKey}x` },
      { operatorKey: 'x' },
    ]
    for (const body of wrong) {
      const answer = await client.call('createSession', body)
      expectRefusal(answer, 'signInFailed')
      expect(answer.headers.get('set-cookie')).toBeNull()
    }
  })

  test('names what is missing', async () => {
    expectFaults(await client.call('createSession', {}), ['name', 'password'])
    expectFaults(await client.call('createSession', { name: 'someone' }), ['password'])
  })

  test('limits guessing by name, side by side too, whatever its case and the caller’s own word for its address', async () => {
    const [person, other] = await Promise.all([newPerson(client, 'viewer'), newPerson(client, 'viewer')])
    const names = [person.name, person.name.toUpperCase()]
    const guess = (_: unknown, index: number) => {
      const headers = { 'x-forwarded-for': `203.0.113.${index}` }
      return client.call('createSession', { name: names[index % 2], password: newPassword() }, { headers })
    }
    const answers = await Promise.all(Array.from({ length: 14 }, guess))
    // Even the right password is refused now; otherwise guessing could go on.
    const limited = [...answers.filter(({ code }) => code === 10007), await enter(client, person)]
    expect(limited).toHaveLength(5)
    for (const answer of limited) {
      expectRefusal(answer, 'tooManyRequests')
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(800)
    }
    await signIn(client, other)
  })

  test('forgets wrong guesses once the password was right', async () => {
    const person = await newPerson(client, 'viewer')
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < 6; index++) {
        expectRefusal(await enter(client, { ...person, password: 'wrong again' }), 'signInFailed')
      }
      await signIn(client, person)
    }
  })
})

// That pages of other sites write with no session is in test/hostile/requests.test.ts.
describe('a session', () => {
  test('gives way to a bearer token', async () => {
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    const answer = await client.call('getSession', {}, { headers, token: client.operatorKey })
    expect(expectSuccess(answer).role).toBe('admin')
    expectRefusal(await client.call('getSession', {}, { headers, token: 'A'.repeat(43) }), 'tokenInvalid')
  })

  test('ends with signing out, and its cookie with it', async () => {
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    const answer = await client.call('deleteSession', {}, { headers })
    expectSuccess(answer)
    expect(answer.headers.get('set-cookie')).toContain('Max-Age=0')
    await withinOneSecond(() => sessionOf(headers), 10002)
  })

  test('ends when its browser signs in anew, and no other session with it', async () => {
    const [person, other] = await Promise.all([newPerson(client, 'viewer'), newPerson(client, 'viewer')])
    const [headers, elsewhere] = [await signIn(client, person), await signIn(client, person)]
    const former = expectSuccess(await sessionOf(headers)).id
    // A sign-in ends the session that the browser had, also when it was another person's.
    const again = await enter(client, other, undefined, headers)
    expectSuccess(again)
    await withinOneSecond(() => sessionOf(headers), 10002)
    expectSuccess(await sessionOf(elsewhere))
    expect(expectSuccess(await sessionOf({ cookie: cookieOf(again) })).name).toBe(other.name)
    const left = (await succeed('pageSessions', { operatorId: person.id })).list
    expect(left).toHaveLength(1)
    expect(left.map(({ id }) => id)).not.toContain(former)
    // A refused sign-in ends no session.
    expectRefusal(await enter(client, { ...person, password: 'wrong' }, undefined, elsewhere), 'signInFailed')
    expectSuccess(await sessionOf(elsewhere))
  })

  test('is one of at most 20 of its account, of which the oldest ends', async () => {
    const person = await newPerson(client, 'viewer')
    const first = await signIn(client, person)
    const second = await signIn(client, person)
    for (let count = 0; count < 18; count++) await signIn(client, person)
    expectSuccess(await sessionOf(first))
    await signIn(client, person)
    await withinOneSecond(() => sessionOf(first), 10002)
    expectSuccess(await sessionOf(second))
    const { list } = await succeed('pageSessions', { operatorId: person.id, pageSize: 100 })
    expect(list).toHaveLength(20)
  })

  test('is listed to its own person, and to an admin', async () => {
    const [person, other] = await Promise.all([newPerson(client, 'viewer'), newPerson(client, 'viewer')])
    const headers = await signIn(client, person)
    await signIn(client, person)
    const others = await signIn(client, other)
    const own = await succeed('pageSessions', {}, { headers })
    expect(own.list.map(({ name }) => name)).toEqual([person.name, person.name])
    const [newest] = own.list
    // A person cannot end another person's session by its id.
    expectRefusal(await client.call('deleteSession', { id: newest?.id }, { headers: others }), 'sessionNotFound')
    const seen = await succeed('pageSessions', { operatorId: person.id })
    expect(seen.list.map(({ id }) => id)).toEqual(own.list.map(({ id }) => id))
    await succeed('deleteSession', { id: own.list[1]?.id })
    await withinOneSecond(() => sessionOf(headers), 10002)
  })
})

describe('changePassword', () => {
  test('wants the old one, takes the new one, and ends the other sessions', async () => {
    const person = await newPerson(client, 'developer')
    const [headers, elsewhere] = [await signIn(client, person), await signIn(client, person)]
    const newer = newPassword()
    const change = (password: string) => client.call('changePassword', { password, newPassword: newer }, { headers })
    expectRefusal(await change('not the password'), 'signInFailed')
    expectSuccess(await change(person.password))
    await withinOneSecond(() => sessionOf(elsewhere), 10002)
    expectSuccess(await sessionOf(headers))
    expectRefusal(await enter(client, person), 'signInFailed')
    await signIn(client, { ...person, password: newer })
  })

  test('refuses one that is too short, the old one, a common one and the name', async () => {
    const person = await newPerson(client, 'viewer')
    const headers = { ...(await signIn(client, person)), 'accept-language': 'zh' }
    for (const wished of ['elevenchars', person.password, 'password1234', person.name, fullWidth(person.password)]) {
      const body = { password: person.password, newPassword: wished }
      const refused = await client.call('changePassword', body, { headers })
      const { newPassword: reason } = expectFaults(refused, ['newPassword'])
      if (wished !== 'elevenchars') expect(reason).toMatch(/不能|容易/)
    }
    await signIn(client, person)
  })

  test('is not for those who have no account', async () => {
    const body = { password: 'x', newPassword: newPassword() }
    expectRefusal(await client.operate('changePassword', body), 'operatorNotFound')
  })
})

// As keyboards and input methods write them.
const fullWidth = (text: string) =>
  [...text].map((letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) + 0xfee0)).join('')

describe('what is typed', () => {
  test('is one password composed, decomposed and full width, and has twelve characters as people count them', async () => {
    const name = newSerial('typed')
    const password = 'Żółwie-Grünspecht-9k'
    const create = (password: string) => client.operate('createOperator', { name, role: 'viewer', password })
    expectFaults(await create('ąćęłńó'.normalize('NFD')), ['password'])
    expectSuccess(await create(password.normalize('NFD')))
    const typed = (password: string) => client.call('createSession', { name, password })
    expectSuccess(await typed(password.normalize('NFC')))
    expectSuccess(await typed(password.replace('9k', fullWidth('9k'))))
    expectRefusal(await typed(password.replace('ó', 'o')), 'signInFailed')
  })

  test('is a code also in the full-width digits of an input method', async () => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    await earlyInStep()
    const { secret } = await newGenerator(client, headers)
    const shown = { password: person.password, code: fullWidth(codeOf(secret)) }
    await succeed('confirmSession', shown, { headers })
  })
})
