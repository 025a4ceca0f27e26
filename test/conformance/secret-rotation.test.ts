import { expect, test } from 'bun:test'
import { momentFormat } from '../../src/vocabulary/moments.ts'
import { newApplication, newToken, shownSecret } from '../kit/records.ts'
import { becomes } from '../kit/waits.ts'
import {
  client,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newIdleApplication,
  succeed,
  withinOneSecond,
} from './support.ts'

const tryToken = (token: string) => client.call('createDevice', {}, { token })
/** Code 10001 means that the token was accepted: the request's body is invalid, so nothing is created. */
const tokenWorks = 10001

const issue = (appId: string, appSecret: string) =>
  client.call('issueToken', { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret })

async function rotate(appId: string, members: Record<string, unknown> = {}): Promise<string> {
  return shownSecret((await succeed('rotateApplicationSecret', { appId, ...members })).appSecret)
}

async function expectNoToken(appId: string, appSecret: string): Promise<void> {
  expectRefusal(await issue(appId, appSecret), 'clientInvalid', { beside: ['error', 'error_description'] })
}

test.concurrent('with an overlap the old secret and the tokens that it obtains go on beside the new one', async () => {
  const { appId, appSecret, token } = await newApplication(client)
  const fresh = await rotate(appId, { overlapSeconds: 600 })
  const [byOld, byNew] = [await newToken(client, appId, appSecret), await newToken(client, appId, fresh)]
  for (const one of [token, byOld, byNew]) expect((await tryToken(one)).code).toBe(tokenWorks)
  await Bun.sleep(1000)
  for (const one of [token, byOld, byNew]) expect((await tryToken(one)).code).toBe(tokenWorks)
})

test('a token that the old secret obtains is told to last no longer than that secret', async () => {
  const { appId, appSecret } = await newIdleApplication()
  const fresh = await rotate(appId, { overlapSeconds: 600 })
  const byOld = await issue(appId, appSecret)
  expect(byOld.data.expiresIn).toBeLessThanOrEqual(600)
  expect(byOld.data.expiresIn).toBeGreaterThan(540)
  expect((await issue(appId, fresh)).data.expiresIn).toBe(7200)
})

test.concurrent('when the overlap ends, the old secret and its tokens end, and the new one goes on', async () => {
  const { appId, appSecret, token } = await newApplication(client)
  const fresh = await rotate(appId, { overlapSeconds: 2 })
  const endsAt = performance.now() + 2000
  const [byOld, byNew] = [await newToken(client, appId, appSecret), await newToken(client, appId, fresh)]
  expect((await tryToken(token)).code).toBe(tokenWorks)
  expect((await tryToken(byOld)).code).toBe(tokenWorks)
  await Bun.sleep(endsAt - performance.now())
  for (const one of [token, byOld]) expectRefusal(await withinOneSecond(() => tryToken(one), 10002), 'tokenInvalid')
  await expectNoToken(appId, appSecret)
  expect((await tryToken(byNew)).code).toBe(tokenWorks)
})

test.concurrent('only the newest of the old secrets goes on: a rotation ends at once what is older', async () => {
  const { appId, appSecret, token } = await newApplication(client)
  const second = await rotate(appId, { overlapSeconds: 604_800 })
  const bySecond = await newToken(client, appId, second)
  const third = await rotate(appId, { overlapSeconds: 600 })
  expectRefusal(await withinOneSecond(() => tryToken(token), 10002), 'tokenInvalid')
  await expectNoToken(appId, appSecret)
  expect((await tryToken(bySecond)).code).toBe(tokenWorks)
  expectSuccess(await client.call('revokeToken', { client_id: appId, client_secret: second, token: bySecond }))
  expect((await tryToken(await newToken(client, appId, third))).code).toBe(tokenWorks)
})

test.concurrent('a rotation without an overlap ends everything before it, also what had one', async () => {
  const { appId, appSecret } = await newIdleApplication()
  const second = await rotate(appId, { overlapSeconds: 600 })
  const [byFirst, bySecond] = [await newToken(client, appId, appSecret), await newToken(client, appId, second)]
  const third = await rotate(appId, { overlapSeconds: 0 })
  for (const one of [byFirst, bySecond]) {
    expectRefusal(await withinOneSecond(() => tryToken(one), 10002), 'tokenInvalid')
  }
  for (const old of [appSecret, second]) await expectNoToken(appId, old)
  expect((await tryToken(await newToken(client, appId, third))).code).toBe(tokenWorks)
})

test('an overlap is 0 to 604800 seconds; null and an empty text are none', async () => {
  const { appId, appSecret } = await newIdleApplication()
  for (const overlapSeconds of [-1, 604_801, 1.5, '60', true, [], {}]) {
    expectFaults(await client.operate('rotateApplicationSecret', { appId, overlapSeconds }), ['overlapSeconds'])
  }
  await newToken(client, appId, appSecret)
  const second = await rotate(appId, { overlapSeconds: null })
  await expectNoToken(appId, appSecret)
  await rotate(appId, { overlapSeconds: '' })
  await expectNoToken(appId, second)
})

test.concurrent('of 1,001 living tokens the oldest has ended, and the others live; those that were revoked do not count', async () => {
  const { appId, appSecret, token: oldest } = await newApplication(client)
  const issued = async (count: number) => {
    const tokens: string[] = []
    for (let left = count; left > 0; left -= 50) {
      const some = Array.from({ length: Math.min(50, left) }, () => newToken(client, appId, appSecret))
      tokens.push(...(await Promise.all(some)))
    }
    return tokens
  }
  const credentials = { client_id: appId, client_secret: appSecret }
  for (const token of await issued(30)) expectSuccess(await client.call('revokeToken', { ...credentials, token }))
  const second = await newToken(client, appId, appSecret)
  const rest = await issued(998)
  await Bun.sleep(1000)
  expect((await tryToken(oldest)).code).toBe(tokenWorks)
  const newest = await newToken(client, appId, appSecret)
  expectRefusal(await withinOneSecond(() => tryToken(oldest), 10002), 'tokenInvalid')
  for (const token of [second, rest[0], rest[500], rest.at(-1), newest] as string[]) {
    expect((await tryToken(token)).code).toBe(tokenWorks)
  }
})

test.concurrent('an application rotates its own secret, and may not rotate another’s', async () => {
  const app = await newApplication(client)
  const other = await newApplication(client)
  const own = { token: app.token }
  const rotated = await client.call('rotateApplicationSecret', { overlapSeconds: 600 }, own)
  const fresh = shownSecret(expectSuccess(rotated).appSecret)
  expect(rotated.data.appId).toBe(app.appId)
  expect((await tryToken(await newToken(client, app.appId, fresh))).code).toBe(tokenWorks)
  expect((await tryToken(app.token)).code).toBe(tokenWorks)
  expectRefusal(await client.call('rotateApplicationSecret', { appId: other.appId }, own), 'notPermitted')
  expect((await tryToken(other.token)).code).toBe(tokenWorks)
  expectFaults(await client.operate('rotateApplicationSecret', {}), ['appId'])
  const trail = await client.operate('pageAudit', { subject: app.appId, type: 'application.secretRotated' })
  expect(expectSuccess(trail).list.map(({ actor }) => actor)).toEqual([`application:${app.appId}`])

  // Without an overlap, the token that called the rotation becomes invalid too.
  const token = await newToken(client, app.appId, fresh)
  const last = shownSecret((await succeed('rotateApplicationSecret', {}, { token })).appSecret)
  expectRefusal(await withinOneSecond(() => tryToken(token), 10002), 'tokenInvalid')
  expectRefusal(await client.call('rotateApplicationSecret', {}, { token }), 'tokenInvalid')
  await expectNoToken(app.appId, fresh)
  expect((await tryToken(await newToken(client, app.appId, last))).code).toBe(tokenWorks)
})

const end = (members: Record<string, unknown>, options = {}) =>
  client.operate('endPreviousApplicationSecret', members, options)
const detail = async (appId: string) => await succeed('getApplication', { appId })
const endsOf = async (subject: string) =>
  (await succeed('pageAudit', { subject, type: 'application.previousSecretEnded' })).list

test.concurrent('the record tells until when the previous secret works, and null once none does', async () => {
  const { appId } = await newIdleApplication()
  expect((await detail(appId)).overlapUntil).toBeNull()
  const { timeZone } = await succeed('getSettings', {})
  const show = momentFormat(timeZone)
  const [earliest, rotated, latest] = [
    show(new Date(Date.now() + 599_000)),
    await succeed('rotateApplicationSecret', { appId, overlapSeconds: 600 }),
    show(new Date(Date.now() + 601_000)),
  ]
  const until = rotated.overlapUntil as string
  expect(until >= earliest && until <= latest, until).toBe(true)
  // Every operation that answers the record tells it, and so does the audit trail.
  expect(await detail(appId)).toMatchObject({ overlapUntil: until })
  const { list } = await succeed('pageApplications', { appName: rotated.appName })
  expect(list.find((row) => row.appId === appId)?.overlapUntil).toBe(until)
  for (const answer of [
    await client.operate('updateApplication', { appId, appName: 'other' }),
    await client.operate('takeApplicationOffline', { appId }),
  ]) {
    expect(expectSuccess(answer).overlapUntil).toBe(until)
  }
  const trail = await client.operate('pageAudit', { subject: appId, type: 'application.secretRotated' })
  expect(expectSuccess(trail).list[0]?.data).toMatchObject({ overlapUntil: until })
  await rotate(appId, { overlapSeconds: 1 })
  expect(await becomes(null, async () => (await detail(appId)).overlapUntil, 3000)).toBeNull()
  await rotate(appId, { overlapSeconds: 600 })
  await rotate(appId)
  expect((await detail(appId)).overlapUntil).toBeNull()
})

test.concurrent('endPreviousSecret ends the previous secret and its tokens at once, and leaves the present one and its tokens', async () => {
  const { appId, appSecret, token } = await newApplication(client)
  const fresh = await rotate(appId, { overlapSeconds: 600 })
  const [byOld, byNew] = [await newToken(client, appId, appSecret), await newToken(client, appId, fresh)]
  const ended = expectSuccess(await end({ appId }))
  expect(ended).toEqual(await detail(appId))
  expect(ended.overlapUntil).toBeNull()
  for (const one of [token, byOld]) expectRefusal(await withinOneSecond(() => tryToken(one), 10002), 'tokenInvalid')
  await expectNoToken(appId, appSecret)
  expect((await tryToken(byNew)).code).toBe(tokenWorks)
  expect((await tryToken(await newToken(client, appId, fresh))).code).toBe(tokenWorks)
  // What has ended does not come back with the next overlap.
  const third = await rotate(appId, { overlapSeconds: 600 })
  expectRefusal(await tryToken(byOld), 'tokenInvalid')
  expect((await tryToken(byNew)).code).toBe(tokenWorks)
  await newToken(client, appId, third)
  await expectNoToken(appId, appSecret)
})

test.concurrent('endPreviousSecret writes one event, and changes nothing where no previous secret works', async () => {
  const { appId } = await newIdleApplication()
  const before = await detail(appId)
  expect(expectSuccess(await end({ appId }))).toEqual(before)
  await rotate(appId, { overlapSeconds: 1 })
  expect(await becomes(null, async () => (await detail(appId)).overlapUntil, 3000)).toBeNull()
  expectSuccess(await end({ appId }))
  expect(await endsOf(appId)).toEqual([])
  await rotate(appId, { overlapSeconds: 600 })
  for (const _ of [1, 2]) expect(expectSuccess(await end({ appId })).overlapUntil).toBeNull()
  const [event, ...more] = await endsOf(appId)
  expect(more).toEqual([])
  expect(event).toMatchObject({ subject: appId, data: await detail(appId) })
  expect(event?.address).toBeString()
})

test.concurrent('the end of an overlap by time is no change that an edit runs into', async () => {
  const { appId } = await newIdleApplication()
  await rotate(appId, { overlapSeconds: 1 })
  const opened = (await client.operate('getApplication', { appId })).headers.get('etag') ?? ''
  expect(await becomes(null, async () => (await detail(appId)).overlapUntil, 3000)).toBeNull()
  const headers = { 'if-match': opened }
  expectSuccess(await client.operate('updateApplication', { appId, appName: 'edited' }, { headers }))
})

test.concurrent('an application ends its own previous secret, and not another’s; operators also that of a frozen one', async () => {
  const app = await newApplication(client)
  const other = await newApplication(client)
  await rotate(other.appId, { overlapSeconds: 600 })
  const fresh = await rotate(app.appId, { overlapSeconds: 600 })
  const token = await newToken(client, app.appId, fresh)
  expectRefusal(await client.call('endPreviousApplicationSecret', { appId: other.appId }, { token }), 'notPermitted')
  expect((await tryToken(other.token)).code).toBe(tokenWorks)
  const ended = await client.call('endPreviousApplicationSecret', {}, { token })
  expect(expectSuccess(ended)).toMatchObject({ appId: app.appId, overlapUntil: null })
  expectRefusal(await withinOneSecond(() => tryToken(app.token), 10002), 'tokenInvalid')
  expect((await tryToken(token)).code).toBe(tokenWorks)
  expect((await endsOf(app.appId)).map(({ actor }) => actor)).toEqual([`application:${app.appId}`])
  expectFaults(await end({}), ['appId'])
  await rotate(app.appId, { overlapSeconds: 600 })
  await succeed('freezeApplication', { appId: app.appId, reason: 'leak' })
  expectRefusal(await client.call('endPreviousApplicationSecret', {}, { token }), 'applicationFrozen')
  expect(expectSuccess(await end({ appId: app.appId }))).toMatchObject({ status: 2, overlapUntil: null })
})

test.concurrent('a token by which an application ends the secret that obtained it ends too', async () => {
  const { appId, token } = await newApplication(client)
  await rotate(appId, { overlapSeconds: 600 })
  await succeed('endPreviousApplicationSecret', {}, { token })
  expectRefusal(await withinOneSecond(() => tryToken(token), 10002), 'tokenInvalid')
})
