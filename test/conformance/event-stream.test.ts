import { afterEach, describe, expect, test } from 'bun:test'
import { streamEvents } from '../../src/events/contract.ts'
import { EventReader } from '../kit/event-reader.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newToken } from '../kit/records.ts'
import { becomes, becomesTrue } from '../kit/waits.ts'
import {
  bearer,
  client,
  createDeviceOf,
  expectFaults,
  expectRefusal,
  expectSuccess,
  feedOf,
  saveSiteOf,
  siteRow,
  succeed,
} from './support.ts'

const open = new Set<EventReader>()
afterEach(() => {
  for (const reader of open) reader.close()
  open.clear()
})

async function read(
  { token }: { token?: string },
  query: Record<string, string | number> = {},
  headers: Record<string, string> = {},
): Promise<EventReader> {
  const reader = await EventReader.open(client.url, { ...(token !== undefined && { token }), query, headers })
  open.add(reader)
  return reader
}

const refused = (application: { token?: string }, query: object = {}, headers: Record<string, string> = {}) =>
  client.call('streamEvents', query, { ...(application.token && { token: application.token }), headers })

/** What a stream sent, as the feed lists it. */
const sent = (reader: EventReader) => reader.events.map(({ data }) => JSON.parse(data ?? ''))

/** What a stream sends that has nothing to tell for 15 s; it waits while the other tests run. */
const silent = (async () => {
  const application = await newApplication(client)
  const reader = await EventReader.open(client.url, { token: application.token, query: { type: 'site.*' } })
  expectSuccess(await createDeviceOf(application))
  const newest = (await feedOf(application, { order: 'desc' }))[0]?.id
  await reader.until(() => reader.blocks.length >= 4, 18_000)
  reader.close()
  return { blocks: reader.blocks, newest }
})()

describe('the form of a stream', () => {
  test('begins with retry and the position; then one block an event, as the feed lists it', async () => {
    const application = await newApplication(client)
    expectSuccess(await saveSiteOf(application, { siteName: 'a\u2028b 充电站 "q"' }))
    const reader = await read(application, { afterId: 0 })
    const { status, headers } = reader.response
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(headers.get('cache-control')).toBe('no-store, no-transform')
    expect(headers.get('x-accel-buffering')).toBe('no')
    await reader.untilEvents(2)
    const [retry, position, ...events] = reader.blocks
    expect(Object.keys(retry ?? {}).sort()).toEqual(['at', 'retry'])
    expect(Number(retry?.retry)).toBeWithin(1_000, 15_001)
    expect(Object.keys(position ?? {}).sort()).toEqual(['at', 'id'])
    expect(position?.id).toBe('0')
    const listed = await feedOf(application)
    expect(sent(reader)).toEqual(listed)
    for (const [index, { id, event, data }] of events.entries()) {
      expect([id, event, data]).toEqual([`${listed[index]?.id}`, listed[index]?.type, JSON.stringify(listed[index])])
    }
  })

  test('is never compressed, and names the application’s rate', async () => {
    const reader = await read(await newApplication(client), {}, { 'accept-encoding': 'gzip, br' })
    expect(reader.response.headers.get('content-encoding')).toBeNull()
    expect(reader.response.headers.get('vary')).toBeNull()
    expect(reader.response.headers.get('x-request-id')).toMatch(/^\S+$/)
  })
})

describe('the position', () => {
  test('is behind the newest event by default', async () => {
    const application = await newApplication(client)
    expectSuccess(await saveSiteOf(application))
    const reader = await read(application)
    const site = expectSuccess(await saveSiteOf(application))
    await reader.untilEvents(1)
    expect(sent(reader).map(({ data }) => data.id)).toEqual([site.id])
  })

  test('is that of Last-Event-ID, else of afterId; an empty Last-Event-ID is none', async () => {
    const application = await newApplication(client)
    for (let count = 0; count < 3; count++) expectSuccess(await saveSiteOf(application))
    const ids = (await feedOf(application)).map(({ id }) => id)
    const [, second = 0, third = 0] = ids
    const cases = [
      [{ afterId: second }, {}, second],
      [{ afterId: 0 }, { 'last-event-id': `${third}` }, third],
      [{ afterId: second }, { 'last-event-id': '' }, second],
      // It need not be the id of an event.
      [{ afterId: second + 1 }, {}, second + 1],
    ] as const
    for (const [query, headers, position] of cases) {
      const reader = await read(application, query, headers)
      const expected = ids.filter((id) => id > position)
      await reader.untilEvents(expected.length)
      expect([reader.blocks[1]?.id, reader.ids]).toEqual([`${position}`, expected])
    }
  })

  test('ahead of the log waits for ids above it', async () => {
    const application = await newApplication(client)
    // Ids are microseconds, unless many events come at once.
    const ahead = (Date.now() + 2_000) * 1000
    const reader = await read(application, { afterId: ahead })
    const isAbove = (id: number) => id > ahead
    while (!(await feedOf(application)).some(({ id }) => isAbove(id))) {
      expectSuccess(await saveSiteOf(application))
      await Bun.sleep(400)
    }
    await reader.untilEvents(1)
    expect(reader.blocks[1]?.id).toBe(String(ahead))
    expect(reader.ids).toEqual((await feedOf(application)).map(({ id }) => id).filter(isAbove))
  })

  test.each(['x', '-1', '1.5', '1e3', '9007199254740992', '1 2', '07'])('is refused as %p', async (id) => {
    const application = await newApplication(client)
    expectFaults(await refused(application, {}, { 'last-event-id': id }), ['Last-Event-ID'])
    expectFaults(await refused(application, { afterId: id }), ['afterId'])
    const all = await refused(application, { afterId: id, deviceno: 'x' }, { 'last-event-id': id })
    expectFaults(all, ['Last-Event-ID', 'afterId', 'deviceno'])
  })
})

test('filters are those of the feed', async () => {
  const application = await newApplication(client)
  const site = expectSuccess(await saveSiteOf(application))
  const device = expectSuccess(await createDeviceOf(application))
  expectSuccess(await createDeviceOf(application))
  const queries = [
    { type: 'device.*' },
    { type: 'site.created,thirdPartyConfig.saved' },
    { deviceNo: device.deviceNo },
    { siteId: site.id },
    { siteId: site.id, type: 'site.updated' },
    { siteId: site.id, deviceNo: device.deviceNo },
  ]
  const readers = await Promise.all(
    // Half of them from the log, half as the events come.
    queries.flatMap((query) => [read(application, { ...query, afterId: 0 }), read(application, query)]),
  )
  const before = (await feedOf(application)).length
  expectSuccess(await saveSiteOf(application))
  expectSuccess(await createDeviceOf(application))
  const all = await feedOf(application)
  const fresh = all.slice(before).map(({ id }) => id)
  const expected = await Promise.all(
    queries.map(async (query) => (await feedOf(application, query)).map(({ id }) => id)),
  )
  const wanted = expected.flatMap((ids) => [ids, ids.filter((id) => fresh.includes(id))])
  // Another process finds events within a second.
  await becomes(wanted, () => readers.map(({ ids }) => ids), 5_000)
  await Bun.sleep(300)
  expect(readers.map(({ ids }) => ids)).toEqual(wanted)
})

test('a query that is misspelt and another method are refused', async () => {
  const application = await newApplication(client)
  expectFaults(await refused(application, { afterid: 1 }), ['afterid'])
  expectFaults(await refused(application, { type: 'site.made' }), ['type'])
  // There is no token in the query.
  expectRefusal(await refused({}, { access_token: application.token }), 'tokenInvalid')
  const { path } = streamEvents
  for (const method of ['POST', 'OPTIONS', 'DELETE']) {
    const answer = await client.send<unknown>(path, { method, headers: bearer(application.token) })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  }
})

describe('limits', () => {
  const status = async (caller: { token?: string }, query: Record<string, string> = {}, headers = {}) =>
    (await read(caller, query, headers)).response.status

  test('an application has 20 streams, also over several tokens; operators’ are not among them', async () => {
    const application = await newApplication(client)
    const second = { token: await newToken(client, application.appId, application.appSecret) }
    const opened = Array.from({ length: 20 }, (_, index) => status(index % 2 ? second : application))
    expect(new Set(await Promise.all(opened))).toEqual(new Set([200]))
    const beyond = await refused(application)
    expectRefusal(beyond, 'tooManyRequests')
    expect(beyond.headers.get('retry-after')).toMatch(/^\d+$/)
    const head = await fetch(client.url + streamEvents.path, { method: 'HEAD', headers: bearer(application.token) })
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(await status({ token: client.operatorKey }, { appId: application.appId })).toBe(200)
    const [one] = open
    one?.close()
    expect(await becomesTrue(async () => (await status(application)) === 200)).toBe(true)
  })

  test('a session has 4 streams, an operator key 20', async () => {
    const { appId } = await newApplication(client)
    const session = await signIn(client, await newPerson(client, 'viewer'))
    for (let count = 0; count < 4; count++) expect(await status({}, { appId }, session)).toBe(200)
    expectRefusal(await refused({}, { appId }, session), 'tooManyRequests')
    const key = await succeed('createOperatorKey', { name: `streams-${appId}`, role: 'viewer' })
    const token = key.operatorKey as string
    for (let count = 0; count < 20; count++) expect(await status({ token }, { appId })).toBe(200)
    expectRefusal(await refused({ token }, { appId }), 'tooManyRequests')
  })

  test('opening one counts as a request, its events do not', async () => {
    const application = await newApplication(client, { rateLimitPerSecond: 5 })
    const results = await Promise.all(Array.from({ length: 8 }, () => status(application)))
    // Each of several processes may hold a part of one request that the others lack.
    expect(results.filter((each) => each === 200).length).toBeWithin(3, 7)
    const reader = [...open].find(({ response }) => response.status === 200)
    await Bun.sleep(1_000)
    await succeed('saveSites', { appId: application.appId, sites: Array(50).fill(siteRow()) })
    await reader?.untilEvents(50)
    const requests = await Promise.all(Array.from({ length: 4 }, () => client.call('pageEvents', {}, application)))
    expect(requests.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  })
})

describe('a stream ends within a second when its caller', () => {
  async function ends(reader: EventReader, code: number, cause: () => Promise<unknown>): Promise<void> {
    await reader.until(() => reader.blocks.length >= 2)
    await cause()
    const from = performance.now()
    await Promise.race([reader.ended, Bun.sleep(5_000)])
    expect(reader.closed?.code).toBe(code)
    expect(performance.now() - from).toBeLessThan(1_000)
    const last = reader.blocks.at(-1)
    expect([last?.event, last?.id]).toEqual(['closed', undefined])
  }

  test('has its token revoked, or its secret rotated', async () => {
    const application = await newApplication(client)
    const { appId, appSecret, token } = application
    const revoked = { token, client_id: appId, client_secret: appSecret }
    await ends(await read(application), 10002, () => client.call('revokeToken', revoked))
    const again = { token: await newToken(client, appId, appSecret) }
    const reader = await read(again, {}, { 'accept-language': 'zh-CN' })
    await ends(reader, 10002, () => client.operate('rotateApplicationSecret', { appId }))
    expect(reader.closed?.msg).toMatch(/\p{Script=Han}/u)
  })

  test('has a token that expires', async () => {
    const reader = await read(await newApplication(client, { tokenLifetimeSeconds: 1 }))
    await expect(Promise.race([reader.ended, Bun.sleep(2_500)])).resolves.toBeUndefined()
    expect([reader.isOver, reader.closed?.code]).toEqual([true, 10002])
  })

  test('is an application that is frozen; an operator’s goes on', async () => {
    const application = await newApplication(client)
    const { appId } = application
    const operators = await read({ token: client.operatorKey }, { appId })
    await ends(await read(application), 10005, () => client.operate('freezeApplication', { appId, reason: 'test' }))
    await succeed('unfreezeApplication', { appId })
    await operators.untilEvents(2)
    expect(operators.events.map(({ event }) => event)).toEqual(['application.frozen', 'application.unfrozen'])
  })

  test('is a session that ends, a key that is deleted, an account that is disabled or a developer who is no member now', async () => {
    const { appId } = await newApplication(client)
    const person = await newPerson(client, 'operator')
    const [first, second] = [await signIn(client, person), await signIn(client, person)]
    const headers = { ...first, origin: client.url }
    await ends(await read({}, { appId }, first), 10002, () => client.call('deleteSession', {}, { headers }))
    const disable = () => client.operate('updateOperator', { id: person.id, status: 2 })
    await ends(await read({}, { appId }, second), 10002, disable)
    const key = await succeed('createOperatorKey', { name: `ends-${appId}`, role: 'viewer' })
    const byKey = await read({ token: key.operatorKey as string }, { appId })
    await ends(byKey, 10002, () => client.operate('deleteOperatorKey', { id: key.id }))
    const developer = await newPerson(client, 'developer', [appId])
    const leave = () => client.operate('updateOperator', { id: developer.id, appIds: [] })
    await ends(await read({}, { appId }, await signIn(client, developer)), 10003, leave)
  })
})

test('events that this process writes are sent within 200 ms', async () => {
  const application = await newApplication(client)
  const reader = await read(application)
  await reader.until(() => reader.blocks.length >= 2)
  const tookMs: number[] = []
  for (let count = 1; count <= 20; count++) {
    expectSuccess(await saveSiteOf(application))
    const at = performance.now()
    await reader.untilEvents(count)
    tookMs.push(performance.now() - at)
  }
  // With several processes another one may have written it.
  const withinMs = process.env.FORECOURT_TEST_WORKERS === undefined ? 200 : 1_200
  expect(tookMs.sort((a, b) => a - b)[18]).toBeLessThan(withinMs)
})

test('a stream sends a comment and the position after 15 s without a block, also past what filters leave out', async () => {
  const { blocks, newest } = await silent
  const [, first, comment, position] = blocks
  expect(Object.keys(comment ?? {}).sort()).toEqual(['at', 'comment'])
  expect(Object.keys(position ?? {}).sort()).toEqual(['at', 'id'])
  expect(position?.id).toBe(`${newest}`)
  expect((position?.at ?? 0) - (first?.at ?? 0)).toBeWithin(14_500, 17_500)
}, 30_000)
