import { expect, test } from 'bun:test'
import { rotateApplicationSecret } from '../../src/applications/contract.ts'
import { issueToken, revokeToken } from '../../src/applications/tokens/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { pageAudit } from '../../src/events/contract.ts'
import { newApplication, newToken, shownSecret } from '../harness.ts'
import { client, expectFaults, expectRefusal, expectSuccess, newIdleApplication, withinOneSecond } from './support.ts'

const tryToken = (token: string) => client.call(createDevice, {}, { token })
/** Code 10001 means that the token was accepted: the request's body is invalid, so nothing is created. */
const tokenWorks = 10001

const issue = (appId: string, appSecret: string) =>
  client.call(issueToken, { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret })

async function rotate(appId: string, members: Record<string, unknown> = {}): Promise<string> {
  return shownSecret(expectSuccess(await client.operate(rotateApplicationSecret, { appId, ...members })).appSecret)
}

async function expectNoToken(appId: string, appSecret: string): Promise<void> {
  expectRefusal(await issue(appId, appSecret), 'clientInvalid', { beside: ['error', 'error_description'] })
}

test('with an overlap the old secret and the tokens that it obtains go on beside the new one', async () => {
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

test('when the overlap ends, the old secret and its tokens end, and the new one goes on', async () => {
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

test('only the newest of the old secrets goes on: a rotation ends at once what is older', async () => {
  const { appId, appSecret, token } = await newApplication(client)
  const second = await rotate(appId, { overlapSeconds: 604_800 })
  const bySecond = await newToken(client, appId, second)
  const third = await rotate(appId, { overlapSeconds: 600 })
  expectRefusal(await withinOneSecond(() => tryToken(token), 10002), 'tokenInvalid')
  await expectNoToken(appId, appSecret)
  expect((await tryToken(bySecond)).code).toBe(tokenWorks)
  expectSuccess(await client.call(revokeToken, { client_id: appId, client_secret: second, token: bySecond }))
  expect((await tryToken(await newToken(client, appId, third))).code).toBe(tokenWorks)
})

test('a rotation without an overlap ends everything before it, also what had one', async () => {
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
    expectFaults(await client.operate(rotateApplicationSecret, { appId, overlapSeconds }), ['overlapSeconds'])
  }
  await newToken(client, appId, appSecret)
  const second = await rotate(appId, { overlapSeconds: null })
  await expectNoToken(appId, appSecret)
  await rotate(appId, { overlapSeconds: '' })
  await expectNoToken(appId, second)
})

test('a rotation that is retried with its key rotates once, and shows the secret once', async () => {
  const { appId, appSecret } = await newIdleApplication()
  const options = { token: client.operatorKey, headers: { 'idempotency-key': 'rotate' } }
  const first = expectSuccess(await client.call(rotateApplicationSecret, { appId }, options))
  const again = expectSuccess(await client.call(rotateApplicationSecret, { appId }, options))
  expect(again).toEqual({ ...first, appSecret: null })
  await newToken(client, appId, shownSecret(first.appSecret))
  await expectNoToken(appId, appSecret)
  const other = await client.call(rotateApplicationSecret, { appId, overlapSeconds: 60 }, options)
  expectRefusal(other, 'idempotencyKeyReused')
})

test('of 1,001 tokens the oldest has ended, and the others live', async () => {
  const { appId, appSecret, token: oldest } = await newApplication(client)
  const second = await newToken(client, appId, appSecret)
  const rest: string[] = []
  for (let left = 998; left > 0; left -= 50) {
    const some = Array.from({ length: Math.min(50, left) }, () => newToken(client, appId, appSecret))
    rest.push(...(await Promise.all(some)))
  }
  expect((await tryToken(oldest)).code).toBe(tokenWorks)
  const newest = await newToken(client, appId, appSecret)
  expectRefusal(await withinOneSecond(() => tryToken(oldest), 10002), 'tokenInvalid')
  for (const token of [second, rest[0], rest[500], rest.at(-1), newest] as string[]) {
    expect((await tryToken(token)).code).toBe(tokenWorks)
  }
}, 60_000)

test('tokens that were revoked do not count among the 1,000', async () => {
  const { appId, appSecret, token: oldest } = await newApplication(client)
  for (let left = 1000; left > 0; left -= 50) {
    const tokens = await Promise.all(Array.from({ length: 50 }, () => newToken(client, appId, appSecret)))
    const credentials = { client_id: appId, client_secret: appSecret }
    await Promise.all(tokens.map((token) => client.call(revokeToken, { ...credentials, token })))
  }
  await Bun.sleep(1000)
  expect((await tryToken(oldest)).code).toBe(tokenWorks)
}, 60_000)

test('an application rotates its own secret, and may not rotate another’s', async () => {
  const app = await newApplication(client)
  const other = await newApplication(client)
  const own = { token: app.token }
  const rotated = await client.call(rotateApplicationSecret, { overlapSeconds: 600 }, own)
  const fresh = shownSecret(expectSuccess(rotated).appSecret)
  expect(rotated.data.appId).toBe(app.appId)
  expect((await tryToken(await newToken(client, app.appId, fresh))).code).toBe(tokenWorks)
  expect((await tryToken(app.token)).code).toBe(tokenWorks)
  expectRefusal(await client.call(rotateApplicationSecret, { appId: other.appId }, own), 'notPermitted')
  expect((await tryToken(other.token)).code).toBe(tokenWorks)
  expectFaults(await client.operate(rotateApplicationSecret, {}), ['appId'])
  const trail = await client.operate(pageAudit, { subject: app.appId, type: 'application.secretRotated' })
  expect(expectSuccess(trail).list.map(({ actor }) => actor)).toEqual([`application:${app.appId}`])

  // Without an overlap, the token that called the rotation becomes invalid too.
  const token = await newToken(client, app.appId, fresh)
  const last = shownSecret(expectSuccess(await client.call(rotateApplicationSecret, {}, { token })).appSecret)
  expectRefusal(await withinOneSecond(() => tryToken(token), 10002), 'tokenInvalid')
  expectRefusal(await client.call(rotateApplicationSecret, {}, { token }), 'tokenInvalid')
  await expectNoToken(app.appId, fresh)
  expect((await tryToken(await newToken(client, app.appId, last))).code).toBe(tokenWorks)
})
