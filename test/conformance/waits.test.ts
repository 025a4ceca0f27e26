import { expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { newApplication, newToken } from '../kit/records.ts'
import { RawConnection } from './raw-connection.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newIdleApplication,
  succeed,
} from './support.ts'

// Tests of all features that wait for time to pass; they are in one file so that they wait at the same time.

/** Sends an invalid body: code 10001 means that the token was accepted, and nothing is created. */
function tryToken(token: string) {
  return client.call('createDevice', {}, { token })
}

const tokenWorks = 10001

test.concurrent('a token that is used all the time ends with its lifetime too', async () => {
  const { appId, appSecret } = await newIdleApplication({ tokenLifetimeSeconds: 1 })
  const token = await newToken(client, appId, appSecret)
  const issuedAt = performance.now()
  let answer = await tryToken(token)
  expect(answer.code).toBe(tokenWorks)
  while (answer.code === tokenWorks && performance.now() - issuedAt < 1500) {
    await Bun.sleep(20)
    answer = await tryToken(token)
  }
  expectRefusal(answer, 'tokenInvalid')
})

test.concurrent('a new lifetime holds for tokens issued from then on; those that exist keep theirs', async () => {
  const { appId, appSecret } = await newIdleApplication({ tokenLifetimeSeconds: 1 })
  const short = await newToken(client, appId, appSecret)
  await succeed('updateApplication', { appId, tokenLifetimeSeconds: 100 })
  const long = await newToken(client, appId, appSecret)
  await Bun.sleep(1300)
  expectRefusal(await tryToken(short), 'tokenInvalid')
  expect((await tryToken(long)).code).toBe(tokenWorks)
})

test.concurrent('a body that never arrives is refused in the end, and others are answered meanwhile', async () => {
  const application = await newApplication(client)
  const silent = new RawConnection()
  const headers = { authorization: `Bearer ${application.token}`, 'content-type': 'application/json' }
  silent.writeHead(createDevice.path, { ...headers, 'content-length': '100' })
  silent.write('{"appId":')
  const refused = silent.answer()
  for (let round = 0; round < 20; round++) expectSuccess(await createDeviceOf(application))
  expectFaults(await refused, ['body'], 'invalidRequest', { status: 408 })
  silent.close()
})

test.concurrent('after Retry-After the application is admitted again', async () => {
  const application = await newApplication(client, { rateLimitPerSecond: 2 })
  const burst = Array.from({ length: 40 }, () => client.call('createDevice', {}, application))
  const refused = (await Promise.all(burst)).find((answer) => answer.code === 10007)
  expect(refused).toBeDefined()
  await Bun.sleep(Number(refused?.headers.get('retry-after')) * 1000)
  expectSuccess(await createDeviceOf(application))
})
