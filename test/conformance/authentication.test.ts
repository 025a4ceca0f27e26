import { expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import type { Answer } from '../kit/client.ts'
import { deviceBody, newApplication, siteBody, takeOffline } from '../kit/records.ts'
import { bearer, client, expectRefusal, expectSuccess, jsonHeaders, newBareApplication, post } from './support.ts'

// What a caller sends as its token. Who may call which operation is in isolation.test.ts.

function expectChallenge(answer: Answer<unknown>, error: string | undefined): void {
  expectRefusal(answer, 'tokenInvalid')
  expect(answer.data).toBeNull()
  const challenge = answer.headers.get('www-authenticate') ?? ''
  expect(challenge).toMatch(/^Bearer( |$)/)
  if (error === undefined) expect(challenge).not.toContain('error')
  else expect(challenge).toContain(`error="${error}"`)
}

const ask = (appId: string, headers: Record<string, string>, query = '') =>
  post(createDevice.path + query, JSON.stringify(deviceBody(appId)), { ...jsonHeaders, ...headers })

test('without an Authorization header a request is 401 with a Bearer challenge that names no error', async () => {
  const { appId, token } = await newApplication(client)
  expectChallenge(await ask(appId, {}), undefined)
  // Nowhere else is a token looked for.
  const elsewhere = { cookie: `token=${token}`, 'x-token': token }
  expectChallenge(await ask(appId, elsewhere, `?access_token=${token}&token=${token}`), undefined)
  const body = JSON.stringify({ ...deviceBody(appId), access_token: token, Authorization: `Bearer ${token}` })
  expectChallenge(await post(createDevice.path, body, jsonHeaders), undefined)
})

test('a token that is unknown or malformed is 401 with the error invalid_token', async () => {
  const { appId, appSecret, token } = await newApplication(client)
  const flipped = token.slice(0, -2) + (token.at(-2) === 'A' ? 'B' : 'A') + token.at(-1)
  for (const wrong of [
    ...[flipped, token.slice(0, -1), `${token}A`, `${token} ${token}`, ` ${token}`, `"${token}"`, appId, appSecret],
    ...['x', 'undefined', '<ACCESS_TOKEN>', 'A'.repeat(43), 'A'.repeat(8000)],
  ]) {
    expectChallenge(await ask(appId, bearer(wrong)), 'invalid_token')
  }
  expectSuccess(await ask(appId, bearer(token)))
})

test('another scheme than Bearer, and Bearer without one space and a token, is 401', async () => {
  const { appId, token } = await newApplication(client)
  for (const authorization of [
    ...['', token, 'Bearer', 'Bearer ', `Bearer${token}`, `Bearer:${token}`, `Bearer=${token}`, `Token ${token}`],
    ...[`Basic ${token}`, `Basic ${btoa(`${appId}:${token}`)}`, `Bear ${token}`],
  ]) {
    const answer = await ask(appId, { authorization })
    expectRefusal(answer, 'tokenInvalid')
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer( |$)/)
  }
})

test.each([
  { id: createDevice.id, operation: createDevice, body: deviceBody },
  { id: saveSite.id, operation: saveSite, body: siteBody },
])('$id for another application is notPermitted, the same whatever state that is in', async ({ operation, body }) => {
  const newOne = () => newApplication(client)
  const [caller, other, offline, bare] = await Promise.all([newOne(), newOne(), newOne(), newBareApplication()])
  await takeOffline(client, offline.appId)
  const ids = [other.appId, offline.appId, bare.appId, 'no-such-application', caller.appId.toUpperCase()]
  const send = (appId: string) => post(operation.path, JSON.stringify(body(appId)), bearer(caller.token))
  const answers = await Promise.all([...ids, ` ${caller.appId}`].map(send))
  for (const answer of answers) expectRefusal(answer, 'notPermitted')
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
})

/** Operations on the caller's own account or session, which a key does not have. */
const ofAccounts = [
  ...(['confirmSession', 'completeSignOn', 'unlinkSignOn', 'getSecondFactors', 'startTotp', 'deleteTotp'] as const),
  ...(['startPasskey', 'renewRecoveryCodes', 'pageViews', 'pageOwnOperatorKeys'] as const),
]

test('operations on one’s own account do not admit keys', async () => {
  for (const operation of ofAccounts) expectRefusal(await client.operate(operation, {}), 'notPermitted')
})
