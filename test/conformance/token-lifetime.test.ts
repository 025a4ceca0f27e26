import { expect, test } from 'bun:test'
import * as oauth from 'oauth4webapi'
import { issueToken, revokeToken } from '../../src/applications/tokens/contract.ts'
import { deviceBody, newApplication, newToken, type TestApplication } from '../kit/records.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectRefusal,
  expectSuccess,
  succeed,
  withinOneSecond,
} from './support.ts'

/** Sends an invalid body: code 10001 means that the token was accepted, and nothing is created. */
function tryToken(token: string) {
  return client.call('createDevice', {}, { token })
}

const tokenWorks = 10001

function revoke({ appId, appSecret }: { appId: string; appSecret: string }, members: Record<string, unknown>) {
  return client.call('revokeToken', { client_id: appId, client_secret: appSecret, ...members })
}

test('a revoked token stops within 1 s, and the client’s other tokens go on', async () => {
  const application = await newApplication(client)
  const second = await newToken(client, application.appId, application.appSecret)
  expect((await tryToken(application.token)).code).toBe(tokenWorks)
  expect((await tryToken(second)).code).toBe(tokenWorks)
  expectSuccess(await revoke(application, { token: application.token }))
  expectRefusal(await withinOneSecond(() => tryToken(application.token), 10002), 'tokenInvalid')
  await succeed('createDevice', deviceBody(application.appId), { token: second })
})

test('revoking a token that is unknown, revoked already or no token at all is a success (RFC 7009 §2.2)', async () => {
  const application = await newApplication(client)
  expectSuccess(await revoke(application, { token: application.token }))
  for (const token of [application.token, 'A'.repeat(43), 'x', 'x'.repeat(10_000), '\0']) {
    expectSuccess(await revoke(application, { token }))
  }
})

test('revoking asks for the client’s credentials', async () => {
  const { appId, token } = await newApplication(client)
  expectRefusal(await revoke({ appId, appSecret: 'wrong' }, { token }), 'clientInvalid', {
    beside: ['error', 'error_description'],
  })
  expectFaults(await client.call('revokeToken', { token }), ['client_id', 'client_secret'], 'invalidRequest', {
    beside: ['error', 'error_description'],
  })
  expect((await tryToken(token)).code).toBe(tokenWorks)
})

test('revoking asks for the token', async () => {
  const application = await newApplication(client)
  for (const token of [undefined, null, '', 5, {}]) {
    const answer = await revoke(application, { token })
    expectFaults(answer, ['token'], 'invalidRequest', { beside: ['error', 'error_description'] })
    expect(JSON.parse(answer.text).error).toBe('invalid_request')
  }
  const nothing = await client.call('revokeToken', {})
  expectFaults(nothing, ['client_id', 'client_secret', 'token'], 'invalidRequest', {
    beside: ['error', 'error_description'],
  })
})

const insecure = { [oauth.allowInsecureRequests]: true }

function authorizationServer(): oauth.AuthorizationServer {
  return {
    issuer: client.url,
    token_endpoint: `${client.url}${issueToken.path}`,
    revocation_endpoint: `${client.url}${revokeToken.path}`,
  }
}

const methods = [
  { name: 'client_secret_post', authentication: oauth.ClientSecretPost },
  { name: 'client_secret_basic', authentication: oauth.ClientSecretBasic },
]

for (const { name, authentication } of methods) {
  async function request(application: TestApplication, secret: string) {
    const stock = { client_id: application.appId }
    const server = authorizationServer()
    const response = await oauth.clientCredentialsGrantRequest(server, stock, authentication(secret), {}, insecure)
    return oauth.processClientCredentialsResponse(server, stock, response)
  }

  test(`a stock OAuth client gets a token with ${name} and revokes it`, async () => {
    const application = await newApplication(client)
    const issued = await request(application, application.appSecret)
    expect(issued.token_type).toBe('bearer')
    expect(issued.expires_in).toBe(7200)
    expectSuccess(await createDeviceOf({ ...application, token: issued.access_token }))

    const stock = { client_id: application.appId }
    const server = authorizationServer()
    const secret = authentication(application.appSecret)
    const response = await oauth.revocationRequest(server, stock, secret, issued.access_token, insecure)
    await oauth.processRevocationResponse(response)
    expectRefusal(await withinOneSecond(() => tryToken(issued.access_token), 10002), 'tokenInvalid')
  })

  test(`a stock OAuth client understands the refusal of a wrong secret with ${name}`, async () => {
    const application = await newApplication(client)
    const refused = await request(application, 'wrong').then(
      () => undefined,
      (error: unknown) => error,
    )
    if (refused instanceof oauth.WWWAuthenticateChallengeError) {
      expect(refused.status).toBe(401)
      expect(refused.cause[0]?.scheme).toBe('basic')
    } else {
      expect(refused).toBeInstanceOf(oauth.ResponseBodyError)
      expect((refused as oauth.ResponseBodyError).error).toBe('invalid_client')
    }
  })
}
