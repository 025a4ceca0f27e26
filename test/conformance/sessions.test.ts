import { describe, expect, test } from 'bun:test'
import { cookieOf, newPassword, newPerson, signIn } from '../kit/people.ts'
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
    expect(expectSuccess(await sessionOf({ cookie: cookieOf(answer) })).id).toBe(session.id)
  })

  test('marks the cookie for https where the page came by it', async () => {
    const person = await newPerson(client, 'viewer')
    const signIn = (headers: Record<string, string>) =>
      client.call('createSession', { name: person.name, password: person.password }, { headers })
    expect((await signIn({ origin: 'https://forecourt.example' })).headers.get('set-cookie')).toEndWith('; Secure')
    // The header has no effect, because the client is not a trusted proxy.
    expect((await signIn({ 'x-forwarded-proto': 'https' })).headers.get('set-cookie')).not.toContain('Secure')
  })

  test('signs in by the operator key', async () => {
    const answer = await client.call('createSession', { operatorKey: client.operatorKey })
    expect(expectSuccess(answer)).toMatchObject({ operatorId: null, role: 'admin' })
    const made = await client.call(
      'createApplication',
      { appName: 'by session' },
      { headers: { cookie: cookieOf(answer) } },
    )
    expectSuccess(made)
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
    const guess = (_: unknown, index: number) =>
      client.call(
        'createSession',
        { name: names[index % 2], password: newPassword() },
        { headers: { 'x-forwarded-for': `203.0.113.${index}` } },
      )
    const answers = await Promise.all(Array.from({ length: 14 }, guess))
    const limited = answers.filter(({ code }) => code === 10007)
    expect(limited).toHaveLength(4)
    for (const answer of limited) {
      expectRefusal(answer, 'tooManyRequests')
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(800)
    }
    // Even the right password is refused now; otherwise guessing could go on.
    expectRefusal(
      await client.call('createSession', { name: person.name, password: person.password }),
      'tooManyRequests',
    )
    await signIn(client, other)
  })

  test('forgets wrong guesses once the password was right', async () => {
    const person = await newPerson(client, 'viewer')
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < 6; index++) {
        expectRefusal(
          await client.call('createSession', { name: person.name, password: 'wrong again' }),
          'signInFailed',
        )
      }
      await signIn(client, person)
    }
  })

  test('lets a disabled person in no more, and ends their sessions within 1 second', async () => {
    const person = await newPerson(client, 'operator')
    const headers = await signIn(client, person)
    expectSuccess(await sessionOf(headers))
    await succeed('updateOperator', { id: person.id, status: 2 })
    await withinOneSecond(() => sessionOf(headers), 10002)
    expectRefusal(await client.call('createSession', { name: person.name, password: person.password }), 'signInFailed')
  })
})

describe('a session', () => {
  test('is refused where another site’s page sends it, and accepted where our own does', async () => {
    const headers = await signIn(client, await newPerson(client, 'admin'))
    const create = (extra: Record<string, string>) =>
      client.call('createApplication', { appName: 'x' }, { headers: { ...headers, ...extra } })
    const elsewhere: Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
    ]
    for (const extra of elsewhere) expectRefusal(await create(extra), 'tokenInvalid')
    expectSuccess(await create({ 'sec-fetch-site': 'same-origin' }))
    expectSuccess(await create({ origin: client.url }))
  })

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
    const again = await client.call('createSession', { name: other.name, password: other.password }, { headers })
    expectSuccess(again)
    await withinOneSecond(() => sessionOf(headers), 10002)
    expectSuccess(await sessionOf(elsewhere))
    expect(expectSuccess(await sessionOf({ cookie: cookieOf(again) })).name).toBe(other.name)
    const left = (await succeed('pageSessions', { operatorId: person.id })).list
    expect(left).toHaveLength(1)
    expect(left.map(({ id }) => id)).not.toContain(former)
    // A refused sign-in ends no session.
    expectRefusal(
      await client.call('createSession', { name: person.name, password: 'wrong' }, { headers: elsewhere }),
      'signInFailed',
    )
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

  test('is refused once it is changed or made up', async () => {
    const { cookie } = await signIn(client, await newPerson(client, 'viewer'))
    for (const made of [
      `${cookie}x`,
      cookie.slice(0, -1),
      'forecourt_session=',
      `x${cookie}`,
      `forecourt_session=${'A'.repeat(43)}`,
    ]) {
      expectRefusal(await sessionOf({ cookie: made }), 'tokenInvalid')
    }
    expectSuccess(await sessionOf({ cookie: `theme=dark; ${cookie}; lang=zh` }))
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
    expectRefusal(await client.call('createSession', { name: person.name, password: person.password }), 'signInFailed')
    await signIn(client, { ...person, password: newer })
  })

  test('refuses one that is too short', async () => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    const answer = await client.call(
      'changePassword',
      { password: person.password, newPassword: 'elevenchars' },
      { headers },
    )
    expectFaults(answer, ['newPassword'])
  })

  test('refuses the old one, a common one and the name', async () => {
    const person = await newPerson(client, 'viewer')
    const headers = await signIn(client, person)
    for (const wished of [person.password, 'password1234', person.name]) {
      const body = { password: person.password, newPassword: wished }
      const answer = await client.call('changePassword', body, { headers: { ...headers, 'accept-language': 'zh' } })
      expectFaults(answer, ['newPassword'])
      expect(answer.text).toMatch(/不能|容易/)
    }
    await signIn(client, person)
  })

  test('is not for those who have no account', async () => {
    const body = { password: 'x', newPassword: newPassword() }
    expectRefusal(await client.operate('changePassword', body), 'operatorNotFound')
  })
})
