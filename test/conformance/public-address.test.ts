import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { createSession } from '../../src/people/sessions/contract.ts'
import { atScale } from '../faults/support.ts'
import { Client, runServiceToItsEnd, type Service, startService, target } from '../harness.ts'

// How the service determines the public address by which its clients reach it.

const metadataPath = '/.well-known/oauth-authorization-server'

async function issuerOf(service: Service, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await fetch(service.url + metadataPath, { headers })
  const { issuer, token_endpoint, revocation_endpoint } = (await answer.json()) as Record<string, string>
  expect([token_endpoint, revocation_endpoint].map((url) => new URL(String(url)).origin)).toEqual([
    String(issuer),
    String(issuer),
  ])
  return issuer
}

describe.skipIf(process.env.FORECOURT_BASE_URL !== undefined)('a service that is told its public address', () => {
  let service: Service

  beforeAll(async () => {
    service = await startService({
      env: {
        FORECOURT_PUBLIC_URL: 'https://Forecourt.example/',
        FORECOURT_CALLBACK: 'paused',
        FORECOURT_SECURITY_CONTACT: 'mailto:security@forecourt.example',
      },
    })
  })

  afterAll(async () => {
    await service?.stop()
  })

  test('names it as the issuer, whatever a request says of its host and scheme', async () => {
    for (const headers of [{}, { host: 'evil.example' }, { 'x-forwarded-proto': 'https' }]) {
      expect(await issuerOf(service, headers)).toBe('https://forecourt.example')
    }
  })

  test('tells where to report a vulnerability, if it is told so', async () => {
    const path = '/.well-known/security.txt'
    const answer = await fetch(service.url + path)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
    const lines = (await answer.text()).trimEnd().split('\n')
    const fields = Object.fromEntries(lines.map((line) => line.split(/: (.*)/)))
    expect(fields).toMatchObject({
      Contact: 'mailto:security@forecourt.example',
      Canonical: `https://forecourt.example${path}`,
    })
    const days = (Date.parse(fields.Expires) - Date.now()) / 86_400_000
    expect(days).toBeWithin(30, 365)
    expect((await fetch(service.url + path, { method: 'POST' })).status).toBe(405)
    const other = await target()
    expect((await other.send(path, {})).status).toBe(404)
  })

  test('tells of a misspelt setting in one line at the start, with the nearest name', () => {
    const lines = service.stderr().split('\n')
    const told = lines.filter((line) => line.includes('FORECOURT_CALLBACK'))
    expect(told.map((line) => JSON.parse(line).msg)).toEqual([
      'unknown setting FORECOURT_CALLBACK; did you mean FORECOURT_CALLBACKS?',
    ])
  })
})

describe.skipIf(process.env.FORECOURT_BASE_URL !== undefined)('a service behind a trusted proxy', () => {
  let service: Service

  beforeAll(async () => {
    service = await startService({ env: { FORECOURT_TRUSTED_PROXIES: '127.0.0.1' } })
  })

  afterAll(async () => {
    await service?.stop()
  })

  const https = { 'x-forwarded-proto': 'https' }

  test('takes its word that the caller came by https', async () => {
    expect(await issuerOf(service, https)).toBe(service.url.replace('http:', 'https:'))
    expect(await issuerOf(service)).toBe(service.url)
    const body = { operatorKey: service.operatorKey }
    const signIn = (headers: Record<string, string>) => new Client(service).call(createSession, body, { headers })
    expect((await signIn(https)).headers.get('set-cookie')).toMatch(/^__Host-forecourt_session=.*; Secure$/)
    expect((await signIn({})).headers.get('set-cookie')).not.toContain('Secure')
  })

  test('takes the first scheme of a chain of proxies, which is the client’s', async () => {
    const chains = {
      'https, http': true,
      'https,http': true,
      'https, https': true,
      'https,https,http': true,
      HTTPS: true,
    }
    const others = { 'http, https': false, http: false, '': false, ', https': false, ws: false }
    for (const [chain, isSecure] of Object.entries({ ...chains, ...others })) {
      const headers = { 'x-forwarded-proto': chain }
      const issuer = isSecure ? service.url.replace('http:', 'https:') : service.url
      expect([chain, await issuerOf(service, headers)]).toEqual([chain, issuer])
      const answer = await fetch(service.url, { redirect: 'manual', headers })
      expect([chain, answer.headers.has('strict-transport-security')]).toEqual([chain, isSecure])
    }
  })

  test('keeps browsers to https behind it, and otherwise not', async () => {
    for (const path of ['/', '/console', '/docs', '/healthz', '/openapi.json', '/nowhere', createDevice.path]) {
      const secure = await fetch(service.url + path, { redirect: 'manual', headers: https })
      expect([path, secure.headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000'])
      const plain = await fetch(service.url + path, { redirect: 'manual' })
      expect([path, plain.headers.get('strict-transport-security')]).toEqual([path, null])
    }
  })
})

test('a proxy that is not trusted is told once, and one that is never', async () => {
  for (const [trusted, times] of [
    ['', 1],
    ['10.0.0.1', 1],
    ['127.0.0.1', 0],
  ] as const) {
    const service = await startService({ env: { FORECOURT_TRUSTED_PROXIES: trusted } })
    const body = { operatorKey: service.operatorKey }
    for (const source of ['203.0.113.1', '203.0.113.2']) {
      await new Client(service).call(createSession, body, { headers: { 'x-forwarded-for': source } })
    }
    await service.stop()
    expect([trusted, service.stderr().split('X-Forwarded-For from an untrusted address').length - 1]).toEqual([
      trusted,
      times,
    ])
  }
})

const unfit = ['https://forecourt.example/base', 'http://forecourt.example', 'ftp://localhost', 'forecourt.example']

test.each(atScale(unfit.slice(0, 2), unfit))('a public address %p is one clear sentence, and no start', async (url) => {
  const { code, stdout, stderr } = await runServiceToItsEnd({ env: { FORECOURT_PUBLIC_URL: url } })
  expect([code, stdout, stderr.trim()]).toEqual([
    1,
    '',
    `FORECOURT_PUBLIC_URL must be https://HOST without a path (http only for localhost), but it is "${url}".`,
  ])
})
