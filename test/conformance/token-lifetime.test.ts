import { expect, test } from 'bun:test'
import * as oauth from 'oauth4webapi'
import { issueToken } from '../../src/applications/tokens/contract.ts'
import { newApplication, newToken } from '../kit/records.ts'
import {
  client,
  createDeviceOf,
  expectEnded,
  expectFaults,
  expectOAuthFaults,
  expectRefusal,
  expectSuccess,
  expectWorking,
  newIdleApplication,
  oauthMembers,
  succeed,
  tryToken,
} from './support.ts'

function revoke({ appId, appSecret }: { appId: string; appSecret: string }, members: Record<string, unknown>) {
  return client.call('revokeToken', { client_id: appId, client_secret: appSecret, ...members })
}

test('revoking a token that is unknown, revoked already or no token at all is a success (RFC 7009 §2.2)', async () => {
  const application = await newApplication(client)
  expectSuccess(await revoke(application, { token: application.token }))
  for (const token of [application.token, 'A'.repeat(43), 'x', 'x'.repeat(10_000), '\0']) {
    expectSuccess(await revoke(application, { token }))
  }
})

test('revoking asks for the client’s credentials and for the token', async () => {
  const application = await newApplication(client)
  const { appId, token } = application
  expectRefusal(await revoke({ appId, appSecret: 'wrong' }, { token }), 'clientInvalid', oauthMembers)
  const credentials = ['client_id', 'client_secret']
  expectFaults(await client.call('revokeToken', { token }), credentials, 'invalidRequest', oauthMembers)
  for (const none of [undefined, null, '', 5, {}]) {
    expectOAuthFaults(await revoke(application, { token: none }), ['token'], 'invalid_request')
  }
  expectFaults(await client.call('revokeToken', {}), [...credentials, 'token'], 'invalidRequest', oauthMembers)
  await expectWorking(token)
})

const insecure = { algorithm: 'oauth2', [oauth.allowInsecureRequests]: true } as const

test.each([
  ['client_secret_post', oauth.ClientSecretPost],
  ['client_secret_basic', oauth.ClientSecretBasic],
])(
  'a stock OAuth client finds the operations by their metadata (RFC 8414), gets a token with %s, whatever the scope, and revokes it',
  async (_, authentication) => {
    const application = await newApplication(client)
    const stock = { client_id: application.appId }
    const issuer = new URL(client.url)
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure))
    expect(server.token_endpoint).toBe(client.url + issueToken.path)
    const request = async (secret: string) => {
      const by = authentication(secret)
      const scope = { scope: 'anything' }
      const response = await oauth.clientCredentialsGrantRequest(server, stock, by, scope, insecure)
      return oauth.processClientCredentialsResponse(server, stock, response)
    }
    const { access_token: token, token_type, expires_in } = await request(application.appSecret)
    expect([token_type, expires_in]).toEqual(['bearer', 7200])
    expectSuccess(await createDeviceOf({ ...application, token }))

    const by = authentication(application.appSecret)
    await oauth.processRevocationResponse(await oauth.revocationRequest(server, stock, by, token, insecure))
    await expectEnded(token)
    // The client's other tokens go on.
    await expectWorking(application.token)

    const refused: unknown = await request('wrong').catch((error) => error)
    if (refused instanceof oauth.WWWAuthenticateChallengeError) {
      expect([refused.status, refused.cause[0]?.scheme]).toEqual([401, 'basic'])
    } else {
      expect(refused).toBeInstanceOf(oauth.ResponseBodyError)
      expect((refused as oauth.ResponseBodyError).error).toBe('invalid_client')
    }
  },
)

test('the issuer of the metadata does not go by a header that any client can send', async () => {
  const headers = { 'x-forwarded-proto': 'https' }
  const { text } = await client.send('/.well-known/oauth-authorization-server', { headers })
  expect(JSON.parse(text).issuer).toBe(client.url)
})

test('a token ends with its lifetime, also one that is used; a new lifetime holds for tokens issued from then on', async () => {
  const { appId, appSecret } = await newIdleApplication({ tokenLifetimeSeconds: 1 })
  const short = await newToken(client, appId, appSecret)
  await expectWorking(short)
  await succeed('updateApplication', { appId, tokenLifetimeSeconds: 100 })
  const long = await newToken(client, appId, appSecret)
  await Bun.sleep(1300)
  expectRefusal(await tryToken(short), 'tokenInvalid')
  await expectWorking(long)
})
