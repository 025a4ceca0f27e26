import { describe, expect, test } from 'bun:test'
import { client, expectFaults } from './support.ts'

const get = (path: string, headers: Record<string, string> = {}) => fetch(client.url + path, { headers })

describe('the console', () => {
  test.each(['/console', '/console/', '/console/sites', '/console/devices/x/y', '/console/sign-in'])(
    'answers its page at %s, under a policy that lets no other script in',
    async (path) => {
      const answer = await get(path)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(await answer.text()).toContain('<div id="root">')
      const policy = answer.headers.get('content-security-policy') ?? ''
      expect(policy).toContain("default-src 'none'")
      expect(policy).toMatch(/script-src 'self';/)
      expect(policy).toContain("frame-ancestors 'none'")
      expect(answer.headers.get('cache-control')).toBe('no-cache')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    },
  )

  test.each(['/', '/docs', '/docs/en/errors', '/console', '/console/sites'])('can only be read at %s', async (path) => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await client.send(path, { method })
      expectFaults(answer, ['method'], 'invalidRequest', { status: 405 })
      expect([answer.headers.get('allow'), answer.headers.get('cache-control')]).toEqual(['GET, HEAD', 'no-store'])
    }
  })

  test('sends its scripts compressed, to be kept for ever, and only those that it has', async () => {
    const page = await (await get('/console')).text()
    expect(page).not.toMatch(/<script(?![^>]*\bsrc=)/)
    const [script = ''] = /\/console\/assets\/frame-[\w-]+\.js/.exec(page) ?? []
    for (const encoding of ['br', 'gzip']) {
      const answer = await get(script, { 'accept-encoding': encoding })
      expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, encoding])
      expect(answer.headers.get('cache-control')).toContain('immutable')
      expect((await answer.text()).length).toBeGreaterThan(1000)
    }
    const plain = await get(script, { 'accept-encoding': 'identity' })
    expect(plain.headers.get('content-encoding')).toBeNull()
    const known = { 'if-none-match': String(plain.headers.get('etag')), 'accept-encoding': 'identity' }
    expect((await get(script, known)).status).toBe(304)
    expectFaults(await client.send('/console/assets/none.js', {}), ['path'], 'invalidRequest', { status: 404 })
  })

  test('is where the bare address leads', async () => {
    const answer = await fetch(client.url, { redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console'])
  })
})
