import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Client } from '../kit/client.ts'
import type { OwnDatabase } from '../kit/database.ts'
import { newApplication, siteBody } from '../kit/records.ts'
import { Workplace } from '../kit/workplace.ts'
import { failed, forecourt, told } from './support.ts'

// `erase` removes personal data from events while the service runs.

const place = new Workplace()
let database: OwnDatabase
let client: Client
beforeAll(async () => {
  database = await place.findDatabase()
  client = new Client(await place.startService({ env: { DATABASE_URL: database.url() } }))
}, 60_000)
afterAll(() => place.clear(), 60_000)

const people = { contacts: 'Zhang Wei', contactsPhone: '13800138000', customerServicePhone: '400-800-8000' }
const erase = (...args: string[]) =>
  forecourt(['erase', ...args], { DATABASE_URL: database.url(), FORECOURT_LOG_LEVEL: 'warn' })

test('erase takes the people of deleted sites out of the log, and leaves those of sites that are there', async () => {
  const { appId, token } = await newApplication(client)
  const headers = { 'idempotency-key': 'erase-1' }
  const body = siteBody(appId, people)
  const { data: gone } = await client.call('saveSite', body, { token, headers })
  const { data: kept } = await client.call('saveSite', siteBody(appId, people), { token })
  await client.call('updateSite', { appId, id: gone.id, contacts: 'Li Na' }, { token })
  const batch = { appId, sites: [{ id: gone.id, contacts: 'Wang Fang' }] }
  await client.call('updateSites', batch, { token, headers })
  const one = ['--app', appId, '--site', String(gone.id)]

  // Nothing is erased for a site that still exists.
  expect(await erase(...one)).toEqual(failed(1, 'Delete the site first'))
  await client.call('deleteSite', { appId, id: gone.id }, { token })
  const eventsOf = async (siteId: number) => (await client.call('pageEvents', { appId, siteId }, { token })).data.list
  const before = await eventsOf(gone.id)
  expect(before.map(({ type }) => type)).toEqual(['site.created', 'site.updated', 'site.updated', 'site.deleted'])

  const dry = await erase(...one, '--dry-run', '--json')
  expect(told(dry)).toEqual({ code: 0, sites: 1, events: 4 })
  expect(await eventsOf(gone.id)).toEqual(before)

  const done = await erase(...one, '--json')
  expect(told(done)).toEqual({ code: 0, sites: 1, events: 4 })
  expect(done.stderr).toContain('backups still contain this data')
  const after = await eventsOf(gone.id)
  const nobody = { contacts: '***', contactsPhone: '***', customerServicePhone: '***' }
  expect(after).toEqual(before.map((event) => ({ ...event, data: { ...(event.data as object), ...nobody } })))
  const { data: event } = await client.call('getEvent', { appId, id: after[0]?.id ?? 0 }, { token })
  expect(event.data).toMatchObject(nobody)
  expect((await eventsOf(kept.id))[0]?.data).toMatchObject(people)
  const replayed = await client.call('saveSite', body, { token, headers })
  expect(replayed.headers.get('idempotency-replayed')).toBe('true')
  expect(replayed.data).toMatchObject({ id: gone.id, ...nobody })

  const replayedBatch = await client.call('updateSites', batch, { token, headers })
  expect(replayedBatch.headers.get('idempotency-replayed')).toBe('true')
  expect(replayedBatch.data.results[0]?.data).toMatchObject({ id: gone.id, ...nobody })

  const { data: audit } = await client.operate('pageAudit', { appId, type: 'site.erased' })
  expect(audit.list).toMatchObject([{ appId, actor: 'operator:command line', data: { siteIds: [gone.id], events: 4 } }])
  // Repeated, the command finds nothing to erase.
  expect(JSON.parse((await erase(...one, '--json')).stdout)).toEqual({ sites: 0, events: 0 })
  expect((await client.operate('pageAudit', { appId, type: 'site.erased' })).data.list).toHaveLength(1)
})

test('erase by days takes those that were deleted long enough ago, of one application or of all', async () => {
  const first = await newApplication(client)
  const second = await newApplication(client)
  for (const { appId, token } of [first, second]) {
    const { data } = await client.call('saveSite', siteBody(appId, people), { token })
    await client.call('deleteSite', { appId, id: data.id }, { token })
  }
  expect(JSON.parse((await erase('--days', '1', '--json')).stdout)).toEqual({ sites: 0, events: 0 })
  const ofFirst = await erase('--days', '0', '--app', first.appId, '--json')
  expect(JSON.parse(ofFirst.stdout)).toEqual({ sites: 1, events: 2 })
  const { code, stdout } = await erase('--days', '0')
  expect([code, stdout]).toEqual([0, 'Erased the contacts of 1 site in 2 events.\n'])
})

test('erase says what it wants', async () => {
  for (const args of [[], ['--site', '1'], ['--days', 'x'], ['--site', '1', '--days', '1', '--app', 'a']]) {
    expect(await erase(...args)).toMatchObject({ code: 2, stdout: '' })
  }
})
