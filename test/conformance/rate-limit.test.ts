import { expect, test } from 'bun:test'
import type { Answer } from '../kit/client.ts'
import { deviceBody, newApplication, type TestApplication } from '../kit/records.ts'
import { client, createDeviceOf, expectRefusal, expectSuccess, succeed, withinOneSecond } from './support.ts'

/** Sends many requests at once that create no device. */
function burst({ token }: Pick<TestApplication, 'token'>, requests: number): Promise<Answer<unknown>[]> {
  return Promise.all(Array.from({ length: requests }, () => client.call('createDevice', {}, { token })))
}

function refusedOf(answers: Answer<unknown>[]): Answer<unknown>[] {
  return answers.filter((answer) => answer.code === 10007)
}

test.concurrent('an application over its limit is told tooManyRequests, and when it is admitted again', async () => {
  const application = await newApplication(client, { rateLimitPerSecond: 3 })
  const answers = refusedOf(await burst(application, 60))
  expect(answers.length).toBeWithin(1, 60)
  for (const answer of answers) {
    expectRefusal(answer, 'tooManyRequests')
    expect(answer.data).toBeNull()
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }
  const [refused] = answers
  await Bun.sleep(Number(refused?.headers.get('retry-after')) * 1000)
  expectSuccess(await createDeviceOf(application))
})

test('an application is told its limit and what it has left, also when it is over it', async () => {
  const { token } = await newApplication(client, { rateLimitPerSecond: 4 })
  const first = await client.call('getRegion', { code: '360000' }, { token })
  expect(first.headers.get('ratelimit-policy')).toBe('"default";q=4;w=1')
  expect(first.headers.get('ratelimit')).toMatch(/^"default";r=[0-3];t=1$/)
  const answers = await burst({ token }, 60)
  expect(refusedOf(answers).length).toBeGreaterThan(0)
  for (const answer of answers) {
    expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=4;w=1')
    expect(answer.headers.get('ratelimit')).toMatch(answer.code === 10007 ? /^"default";r=0;t=1$/ : /;r=[0-3];/)
  }
  const unlimited = await newApplication(client)
  for (const answer of [
    await createDeviceOf(unlimited),
    await client.operate('getRegion', { code: '360000' }),
    await client.operate('updateApplication', { appId: 'none' }),
  ]) {
    expect([answer.headers.get('ratelimit-policy'), answer.headers.get('ratelimit')]).toEqual([null, null])
  }
})

test('what an application leaves unused is not saved up', async () => {
  const limit = 20
  const application = await newApplication(client, { rateLimitPerSecond: limit })
  expect(refusedOf(await burst(application, 1))).toEqual([])
  await Bun.sleep(1500)
  const beganAt = performance.now()
  const answers = await burst(application, 200)
  const seconds = (performance.now() - beganAt) / 1000
  const taken = answers.length - refusedOf(answers).length
  expect(taken).toBeGreaterThanOrEqual(limit)
  // Meanwhile the limit goes on.
  expect(taken).toBeLessThanOrEqual(Math.ceil(limit * (1 + seconds)))
})

test('one application’s limit does not touch another, nor operators', async () => {
  const [limited, other] = await Promise.all([
    newApplication(client, { rateLimitPerSecond: 1 }),
    newApplication(client, { rateLimitPerSecond: 1000 }),
  ])
  expect(refusedOf(await burst(limited, 40)).length).toBeGreaterThan(0)
  expectSuccess(await createDeviceOf(other))
  await succeed('createDevice', deviceBody(limited.appId))
})

test.each([
  [50, 40],
  [null, 300],
])('an application with the limit %p may send %d at once', async (rateLimitPerSecond, requests) => {
  const application = await newApplication(client, { rateLimitPerSecond })
  expect(refusedOf(await burst(application, requests as number))).toEqual([])
})

test('a new limit holds within 1 s', async () => {
  const application = await newApplication(client, { rateLimitPerSecond: null })
  const { appId, token } = application
  await succeed('updateApplication', { appId, rateLimitPerSecond: 1 })
  await withinOneSecond(() => client.call('createDevice', {}, { token }), 10007)
  await succeed('updateApplication', { appId, rateLimitPerSecond: null })
  await withinOneSecond(() => client.call('createDevice', {}, { token }), 10001)
  expect(refusedOf(await burst(application, 50))).toEqual([])
})
