import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { Client, target } from '../kit/client.ts'
import { type Service, startService } from '../kit/service.ts'

// How the service determines the public address by which its clients reach it. Skipped for a deployment given by
// address, because its settings cannot be chosen.

const metadataPath = '/.well-known/oauth-authorization-server'
const https = { 'x-forwarded-proto': 'https' }

async function issuerOf(service: Service, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await fetch(service.url + metadataPath, { headers })
  const { issuer, token_endpoint, revocation_endpoint } = (await answer.json()) as Record<string, string>
  for (const url of [token_endpoint, revocation_endpoint]) expect(new URL(String(url)).origin).toBe(String(issuer))
  return issuer
}

const signIn = (service: Service, headers: Record<string, string>) =>
  new Client(service).call('createSession', { operatorKey: service.operatorKey }, { headers })

/** How often a service has told that it does not trust a proxy, of which it hears twice. */
async function distrustOf(service: Service): Promise<number> {
  for (const source of ['203.0.113.1', '203.0.113.2']) await signIn(service, { 'x-forwarded-for': source })
  return service.stderr().split('X-Forwarded-For from an untrusted address').length - 1
}

describe.skipIf(process.env.FORECOURT_BASE_URL !== undefined)('a service', () => {
  let told: Service
  let behind: Service
  beforeAll(async () => {
    const env = {
      FORECOURT_PUBLIC_URL: 'https://Forecourt.example/',
      FORECOURT_CALLBACK: 'paused',
      FORECOURT_SECURITY_CONTACT: 'mailto:security@forecourt.example',
      FORECOURT_TRUSTED_PROXIES: '10.0.0.1',
    }
    ;[told, behind] = await Promise.all([
      startService({ env }),
      startService({ env: { FORECOURT_TRUSTED_PROXIES: '127.0.0.1' } }),
    ])
  })
  afterAll(async () => {
    await Promise.all([told?.stop(), behind?.stop()])
  })

  test('that is told its public address names it as the issuer, whatever a request says of its host', async () => {
    for (const headers of [{}, { host: 'evil.example' }, https]) {
      expect(await issuerOf(told, headers)).toBe('https://forecourt.example')
    }
  })

  test('tells where to report a vulnerability, if it is told so', async () => {
    const path = '/.well-known/security.txt'
    const answer = await fetch(told.url + path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    const lines = (await answer.text()).trimEnd().split('\n')
    const fields = Object.fromEntries(lines.map((line) => line.split(/: (.*)/)))
    expect(fields).toMatchObject({
      Contact: 'mailto:security@forecourt.example',
      Canonical: `https://forecourt.example${path}`,
    })
    expect((Date.parse(fields.Expires) - Date.now()) / 86_400_000).toBeWithin(30, 365)
    expect((await fetch(told.url + path, { method: 'POST' })).status).toBe(405)
    expect((await (await target()).send(path, {})).status).toBe(404)
  })

  test('tells of a misspelt setting in one line at the start, with the nearest name', () => {
    const lines = told
      .stderr()
      .split('\n')
      .filter((line) => line.includes('FORECOURT_CALLBACK'))
    const msg = 'unknown setting FORECOURT_CALLBACK; did you mean FORECOURT_CALLBACKS?'
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([msg])
  })

  test('takes a trusted proxy’s word that the caller came by https', async () => {
    expect(await issuerOf(behind)).toBe(behind.url)
    expect((await signIn(behind, https)).headers.get('set-cookie')).toMatch(/^__Host-forecourt_session=.*; Secure$/)
    expect((await signIn(behind, {})).headers.get('set-cookie')).not.toContain('Secure')
  })

  test('takes the first scheme of a chain of proxies, which is the client’s', async () => {
    const secure = ['https', 'https, http', 'https,http', 'https, https', 'https,https,http', 'HTTPS']
    const others = ['http, https', 'http', '', ', https', 'ws']
    for (const chain of [...secure, ...others]) {
      const isSecure = secure.includes(chain)
      const headers = { 'x-forwarded-proto': chain }
      const issuer = isSecure ? behind.url.replace('http:', 'https:') : behind.url
      expect([chain, await issuerOf(behind, headers)]).toEqual([chain, issuer])
      const answer = await fetch(behind.url, { redirect: 'manual', headers })
      expect([chain, answer.headers.has('strict-transport-security')]).toEqual([chain, isSecure])
    }
  })

  test('keeps browsers to https behind a trusted proxy, and otherwise not', async () => {
    for (const path of ['/', '/console', '/docs', '/healthz', '/openapi.json', '/nowhere', createDevice.path]) {
      const secure = await fetch(behind.url + path, { redirect: 'manual', headers: https })
      expect([path, secure.headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000'])
      const plain = await fetch(behind.url + path, { redirect: 'manual' })
      expect([path, plain.headers.get('strict-transport-security')]).toEqual([path, null])
    }
  })

  test('tells once of a proxy that is not trusted, and never of one that is', async () => {
    expect([await distrustOf(told), await distrustOf(behind)]).toEqual([1, 0])
  })
})
