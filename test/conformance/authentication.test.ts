import { expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { pageOwnOperatorKeys } from '../../src/people/operators/contract.ts'
import {
  deleteTotp,
  getSecondFactors,
  renewRecoveryCodes,
  startPasskey,
  startTotp,
} from '../../src/people/second-factor/contract.ts'
import { confirmSession } from '../../src/people/sessions/contract.ts'
import { completeSignOn, unlinkSignOn } from '../../src/people/sign-on/contract.ts'
import { pageViews } from '../../src/people/views/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import type { Answer } from '../kit/client.ts'
import { deviceBody, newApplication, siteBody, takeOffline } from '../kit/records.ts'
import { untyped } from '../kit/untyped.ts'
import { bearer, client, expectRefusal, expectSuccess, jsonHeaders, newBareApplication, post } from './support.ts'

const documented = [
  { operation: createDevice, body: deviceBody },
  { operation: saveSite, body: siteBody },
]

function expectChallenge(answer: Answer<unknown>, error: string | undefined): void {
  expectRefusal(answer, 'tokenInvalid')
  expect(answer.data).toBeNull()
  const challenge = answer.headers.get('www-authenticate') ?? ''
  expect(challenge).toMatch(/^Bearer( |$)/)
  if (error === undefined) expect(challenge).not.toContain('error')
  else expect(challenge).toContain(`error="${error}"`)
}

for (const { operation, body } of documented) {
  test(`${operation.id} takes the word Bearer, one space and the access token`, async () => {
    const { appId, token } = await newApplication(client)
    expectSuccess(await post(operation.path, JSON.stringify(body(appId)), bearer(token)))
  })

  test(`${operation.id} without an Authorization header is 401 with a Bearer challenge that names no error`, async () => {
    const { appId } = await newApplication(client)
    expectChallenge(await post(operation.path, JSON.stringify(body(appId)), jsonHeaders), undefined)
  })

  test(`${operation.id} with a token that is unknown or malformed is 401 with the error invalid_token`, async () => {
    const { appId, token } = await newApplication(client)
    const text = JSON.stringify(body(appId))
    const flipped = token.slice(0, -2) + (token.at(-2) === 'A' ? 'B' : 'A') + token.at(-1)
    for (const wrong of [
      flipped,
      token.slice(0, -1),
      `${token}A`,
      `${token} ${token}`,
      ` ${token}`,
      'x',
      appId,
      'undefined',
      '<ACCESS_TOKEN>',
      `"${token}"`,
      'A'.repeat(43),
      'A'.repeat(8000),
    ]) {
      expectChallenge(await post(operation.path, text, bearer(wrong)), 'invalid_token')
    }
  })

  test(`${operation.id} with another scheme than Bearer is 401`, async () => {
    const { appId, token } = await newApplication(client)
    const text = JSON.stringify(body(appId))
    for (const authorization of [
      '',
      token,
      'Bearer',
      'Bearer ',
      `Bearer${token}`,
      `Bearer:${token}`,
      `Bearer=${token}`,
      `Token ${token}`,
      `Basic ${token}`,
      `Basic ${btoa(`${appId}:${token}`)}`,
      `Bear ${token}`,
    ]) {
      const answer = await post(operation.path, text, { authorization, ...jsonHeaders })
      expectRefusal(answer, 'tokenInvalid')
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer( |$)/)
    }
  })

  test(`${operation.id} takes the token from the Authorization header only`, async () => {
    const { appId, token } = await newApplication(client)
    const text = JSON.stringify({ ...body(appId), access_token: token, token, Authorization: `Bearer ${token}` })
    const path = `${operation.path}?access_token=${token}&token=${token}`
    expectChallenge(await post(path, text, { ...jsonHeaders, cookie: `token=${token}`, 'x-token': token }), undefined)
  })

  test(`${operation.id} for another application is notPermitted, the same whether that application exists or not`, async () => {
    const [caller, other, offline, bare] = await Promise.all([
      newApplication(client),
      newApplication(client),
      newApplication(client),
      newBareApplication(),
    ])
    await takeOffline(client, offline.appId)
    const ids = [
      other.appId,
      offline.appId,
      bare.appId,
      'no-such-application',
      caller.appId.toUpperCase(),
      ` ${caller.appId}`,
    ]
    const answers = await Promise.all(
      ids.map((appId) => post(operation.path, JSON.stringify(body(appId)), bearer(caller.token))),
    )
    for (const answer of answers) {
      expectRefusal(answer, 'notPermitted')
      expect(answer.data).toBeNull()
      expect(answer.text).toBe(answers[0]?.text as string)
    }
  })
}

/** Operations on the caller's own account or session, which a key does not have. */
const ofAccounts = [
  ...[confirmSession, completeSignOn, unlinkSignOn, getSecondFactors, startTotp, deleteTotp, startPasskey],
  ...[renewRecoveryCodes, pageViews, pageOwnOperatorKeys],
].map(untyped)

test('operations on one’s own account do not admit keys', async () => {
  for (const operation of ofAccounts) expectRefusal(await client.operate(operation, {}), 'notPermitted')
})

test('an application’s secret is not a token', async () => {
  const { appId, appSecret } = await newApplication(client)
  expectChallenge(await client.call('createDevice', deviceBody(appId), { token: appSecret }), 'invalid_token')
})
