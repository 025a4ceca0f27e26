import { expect, test } from 'bun:test'
import { issueToken } from '../../src/applications/tokens/contract.ts'
import { operations } from '../../src/reference/operations.ts'
import { pageSites } from '../../src/sites/contract.ts'
import { newApplication } from '../kit/records.ts'
import { client, expectFaults, oauthMembers, post } from './support.ts'

const createPath = '/api/device/entrance/guard/create'

test.each([
  ...['/nowhere', '/api', '/api/device/entrance/guard', `${createPath}/`, `${createPath}x`, `/x${createPath}`],
  ...['/api/device/entrance/guard/Create', '/API/device/entrance/guard/create', '/__proto__', '/constructor'],
  ...['/api/v1/device/entrance/guard/create', '/api/charging/siteManageThird/save', '/%00', '/%ff'],
  ...['/api/device/entrance/guard/%63reate', '/api//device/entrance/guard/create', `/${'x'.repeat(4000)}`],
])('the path %s is not known: 404 with the envelope, whatever the method', async (path) => {
  expectFaults(await client.send(path, { method: 'GET' }), ['path'], 'invalidRequest', { status: 404 })
  expectFaults(await post(path, '{}', {}), ['path'], 'invalidRequest', { status: 404 })
})

const paths = [...new Set(operations.map((operation) => operation.path))]

for (const path of paths) {
  const served = operations.filter((operation) => operation.path === path).map((operation) => operation.method)

  test(`${path} answers 405 with Allow to methods that it does not serve`, async () => {
    const unserved = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(
      (method) => !served.includes(method as 'GET'),
    )
    for (const method of unserved) {
      const answer = await client.send(path, { method })
      expectFaults(answer, ['method'], 'invalidRequest', { status: 405 })
      const allowed = answer.headers.get('allow')?.split(/\s*,\s*/) ?? []
      for (const method of served) expect(allowed).toContain(method)
      expect(allowed).not.toContain(method)
    }
  })
}

test('HEAD answers as GET does, without the body', async () => {
  for (const [path, status, allowed] of [
    [createPath, 405, 'POST'],
    ['/healthz', 200, null],
  ] as const) {
    const { headers, ...response } = await fetch(client.url + path, { method: 'HEAD' }).then(async (answer) => ({
      headers: answer.headers,
      status: answer.status,
      text: await answer.text(),
    }))
    expect(response).toEqual({ status, text: '' })
    expect([headers.get('allow'), headers.get('content-type')]).toEqual([
      allowed,
      expect.stringMatching(/^application\/json/),
    ])
  }
})

test('404 and 405 are told in Chinese too', async () => {
  const headers = { 'accept-language': 'zh-CN' }
  for (const answer of [await client.send('/nowhere', { headers }), await client.send(createPath, { headers })]) {
    expect(answer.msg).toMatch(/\p{Script=Han}/u)
  }
})

test('a query beside a write is refused, each member by its name', async () => {
  const { token } = await newApplication(client)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await post(`${createPath}?appId=x&deviceNo=y`, '{}', headers)
  expectFaults(answer, ['appId', 'deviceNo'])
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const asked = await post(`${issueToken.path}?client_id=x`, 'grant_type=client_credentials', form)
  expectFaults(asked, ['client_id'], 'invalidRequest', oauthMembers)
})

test('a query that an operation doesn’t know is refused by every one under /api/, and by no probe', async () => {
  // A provider of single sign-on adds members of its own.
  const strict = operations.filter(({ takesAnyQuery }) => takesAnyQuery !== true)
  for (const { method, path, callers } of strict) {
    const headers = callers.length === 0 ? {} : { authorization: `Bearer ${client.operatorKey}` }
    const url = `${path}?coluor=red&__proto__=x`
    const answer = await client.send<{ errors: { field: string }[] } | null>(url, {
      method,
      headers: method === 'POST' ? { ...headers, 'content-type': 'application/json' } : headers,
      ...(method === 'POST' && { body: '{}' }),
    })
    if (path.startsWith('/api/')) {
      const callable = callers.length === 0 || callers.includes('operator')
      const told = answer.data?.errors.map(({ field }) => field)
      expect([path, answer.code, told?.slice(0, 2)]).toEqual(
        callable ? [path, 10001, ['coluor', '__proto__']] : [path, 10003, undefined],
      )
    } else expect([path, answer.status]).toEqual([path, 200])
  }
})

test('every faulty member of a query is told at once', async () => {
  const { token } = await newApplication(client)
  const query = 'appld=1&pageSize=x&pageNo=1&pageNo=2&siteName=a'
  const answer = await client.send(`${pageSites.path}?${query}`, { headers: { authorization: `Bearer ${token}` } })
  expectFaults(answer, ['appld', 'pageSize', 'pageNo'])
})
