import { expect, test } from 'bun:test'
import { prune } from '../../src/database/prune.ts'
import { ownerOf } from '../../src/database/usage.ts'
import { cancelledPriceChanges } from '../../src/sites/price-changes/store.ts'
import { limits } from '../../src/vocabulary/limits.ts'
import { newPriceChange, newRule, newSite } from '../costs/world.ts'
import type { Answer, Client, Faults } from '../kit/client.ts'
import { deviceBody, newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { newSignedIn } from '../kit/sessions.ts'
import { twoServices } from '../kit/two-services.ts'
import { becomesTrue, waitUntil } from '../kit/waits.ts'

// What an application or account may leave behind in a day, over all kinds, and what of price changes is kept.

const {
  database,
  clients: [client, beside],
} = await twoServices()

/** Pretends that an owner has left so much behind in this hour. */
const leave = (owner: string, kind: string, rows: number, bytes = 0) =>
  database.sql`
      insert into usage_hour (owner, hour, kind, rows, bytes)
      values (${owner}, date_trunc('hour', now(), 'UTC'), ${kind}, ${rows}, ${bytes})
      on conflict (owner, hour, kind) do update set rows = excluded.rows, bytes = excluded.bytes`
const forget = (owner: string) => database.sql`delete from usage_hour where owner = ${owner}`

async function usedOf(owner: string, kind: string): Promise<{ rows: number; bytes: number }> {
  const [row] = await database.sql`
        select coalesce(sum(rows), 0)::int as rows, coalesce(sum(bytes), 0)::int as bytes from usage_hour
        where owner = ${owner} and kind = ${kind}`
  return row as { rows: number; bytes: number }
}

function expectFull(answer: Answer<unknown>, words: string | RegExp): void {
  expect([answer.status, answer.code], answer.text).toEqual([429, 10007])
  expect(Number(answer.headers.get('retry-after'))).toBeWithin(1, 3601)
  expect((answer.data as Faults).errors[0]?.reason).toMatch(words)
}

const none = (appId: string) => ({
  appId,
  kind: 'devices',
  act: 'update',
  filter: { deviceName: 'none' },
  set: { tag: 'x' },
})
const ndjson = { 'content-type': 'application/x-ndjson' }

test('the owner of a use is the application or the account, and nobody for the key of the settings', () => {
  expect(ownerOf('application:ab12')).toBe('ab12')
  expect(ownerOf('operator:Wang #1 Fang#27')).toBe('operator 27')
  expect(ownerOf('operatorKey:night\nly#3')).toBe('operator 3')
  expect(['operatorKey', 'operatorKey:settings', 'anyone', 'platform:prices'].map(ownerOf)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test.concurrent('the events of an application in the platform’s log are limited; others, cancels and rotations are not held up', async () => {
  const [app, other] = [await newApplication(client), await newApplication(client)]
  const act = (by: TestApplication, more: object = {}) => client.call('createAct', { ...none(by.appId), ...more }, by)
  const settled = () => becomesTrue(async () => (await act(app, { dryRun: true })).code === 0)
  expect((await act(app)).code).toBe(0)
  expect((await usedOf(app.appId, 'event')).rows).toBe(1)
  await settled()
  await leave(app.appId, 'event', limits.platformEventsOfOne)
  expectFull(await act(app), /2000 events in the platform’s log/)
  expectFull(await beside.call('createAct', none(app.appId), app), 'events')
  const file = '{}\n'
  expectFull(
    await client.call('createImport', { kind: 'devices', file }, { token: app.token, headers: ndjson }),
    'events',
  )
  // A dry run leaves nothing, so it is not refused.
  expect((await act(app, { dryRun: true })).code).toBe(0)
  expect((await act(other)).code).toBe(0)
  // An operator acts for the application in its own name.
  expect((await client.operate('createAct', none(app.appId))).code).toBe(0)
  // A secret that leaked can be renewed, twice as often.
  expect((await client.call('rotateCallbackSecret', { appId: app.appId }, app)).code).toBe(0)
  await leave(app.appId, 'event', 2 * limits.platformEventsOfOne)
  expectFull(await client.call('rotateCallbackSecret', { appId: app.appId }, app), 'events')
  expect((await client.operate('rotateApplicationSecret', { appId: app.appId, overlapSeconds: 600 })).code).toBe(0)
  await forget(app.appId)
  await settled()
  expect((await act(app)).code).toBe(0)
})

test.concurrent('the events of an account are limited; it can still sign out, and the key of the settings is not limited', async () => {
  const { headers, ...person } = await newSignedIn(client, 'admin')
  await leave(`operator ${person.id}`, 'event', limits.platformEventsOfAccount)
  const { name, password } = person
  expectFull(await client.call('createSession', { name, password }), 'sign-ins')
  expectFull(await client.call('createOperatorKey', { name: newSerial('k'), role: 'viewer' }, { headers }), 'events')
  expect((await client.call('deleteSession', {}, { headers })).code).toBe(0)
  expect((await client.call('createSession', { operatorKey: client.operatorKey })).code).toBe(0)
})

test.concurrent('idempotency keys are counted, and past the limit of all kinds refused; writes without a key are not', async () => {
  const app = await newApplication(client)
  const { appId, token } = app
  const keyed = (by: Client, key = newSerial('key')) =>
    by.call('createDevice', deviceBody(appId), { token, headers: { 'idempotency-key': key } })
  const first = newSerial('key')
  const body = deviceBody(appId)
  for (let time = 0; time < 3; time++) {
    const repeated = { token, headers: { 'idempotency-key': first } }
    expect((await client.call('createDevice', body, repeated)).code).toBe(0)
  }
  const devices = Array.from({ length: 10 }, () => ({ ...deviceBody(appId), appId: undefined }))
  await beside.call('createDevices', { devices }, { token, headers: { 'idempotency-key': newSerial('key') } })
  // Repetitions keep nothing; a batch keeps a key for each row and one for itself.
  await waitUntil(async () => (await usedOf(appId, 'key')).rows === 12, 15_000)
  const stored = await database.sql`
        select count(*)::int as rows, sum(octet_length(answer))::int as bytes from idempotency_key where app_id = ${appId}`
  expect(stored[0]?.rows).toBe(12)
  expect((await usedOf(appId, 'key')).bytes).toBeGreaterThan(stored[0]?.bytes as number)
  await leave(appId, 'key', limits.usageRows)
  const isFull = (by: Client) => becomesTrue(async () => (await keyed(by)).code === 10007, 15_000)
  expect(await Promise.all([isFull(client), isFull(beside)])).toEqual([true, true])
  for (const by of [client, beside]) expectFull(await keyed(by), /rows of the last 24 hours \(idempotency keys/)
  expect((await client.call('createDevice', deviceBody(appId), app)).code).toBe(0)
  const again = await client.call('createDevice', body, { token, headers: { 'idempotency-key': first } })
  expect([again.code, again.headers.get('idempotency-replayed')]).toEqual([0, 'true'])
  expectFull(await client.call('createAct', none(appId), app), 'rows of the last 24 hours')
  // A dry run keeps nothing for its key.
  const fresh = { token, headers: { 'idempotency-key': newSerial('key') } }
  const before = await usedOf(appId, 'key')
  expect((await client.call('createAct', { ...none(appId), dryRun: true }, fresh)).code).toBe(0)
  expect((await client.call('createDevice', { ...deviceBody(appId), dryRun: true } as never, fresh)).code).toBe(10007)
  expect(await usedOf(appId, 'key')).toEqual(before)
  expect((await client.call('rotateCallbackSecret', { appId }, app)).code).toBe(0)
})

test.concurrent('a batch of reports keeps one key, and a retry of an operator for an application is no new one', async () => {
  const app = await newApplication(client)
  const { appId } = app
  const { deviceNo } = (await client.call('createDevice', deviceBody(appId), app)).data
  const reports = Array.from({ length: 20 }, () => ({ deviceNo, onlineStatus: 1 }))
  const headers = { 'idempotency-key': newSerial('key') }
  expect((await client.call('reportDeviceStates', { reports }, { ...app, headers })).code).toBe(0)
  await waitUntil(async () => (await usedOf(appId, 'key')).rows > 0, 15_000)
  expect((await usedOf(appId, 'key')).rows).toBe(1)

  const person = await newSignedIn(client, 'operator')
  const keyed = { ...person.headers, 'idempotency-key': newSerial('key') }
  const body = deviceBody(appId)
  expect((await client.call('createDevice', body, { headers: keyed })).code).toBe(0)
  await waitUntil(async () => (await usedOf(`operator ${person.id}`, 'key')).rows === 1, 15_000)
  await leave(`operator ${person.id}`, 'key', limits.usageRows)
  const other = () =>
    client.call('createDevice', deviceBody(appId), { headers: { ...keyed, 'idempotency-key': newSerial('key') } })
  expect(await becomesTrue(async () => (await other()).code === 10007, 15_000)).toBe(true)
  expect((await client.call('createDevice', body, { headers: keyed })).headers.get('idempotency-replayed')).toBe('true')
})

test.concurrent('bytes count over all kinds together', async () => {
  const app = await newApplication(client)
  await leave(app.appId, 'key', 1, limits.usageBytes + 2 * 1024 ** 3)
  expectFull(await client.call('createAct', none(app.appId), app), /take \d+ bytes/)
})

test.concurrent('price changes of a day are limited by number and by their sites, cancelled ones too', async () => {
  const app = await newApplication(client)
  const world = { client, owner: app }
  const rule = await newRule(world)
  await newSite(world)
  const sites = { sites: { all: true }, rules: { placeholderBillRuleId: rule } }
  const schedule = (more: object = {}) => {
    const effectiveTime = new Date(Math.ceil(Date.now() / 1000) * 1000 + 86_400_000).toISOString()
    return client.call('schedulePriceChange', { appId: app.appId, effectiveTime, ...sites, ...more }, app)
  }
  const id = (await schedule()).data.id as number
  expect((await client.call('cancelPriceChange', { appId: app.appId, id, reason: 'x' }, app)).code).toBe(0)
  expect([(await usedOf(app.appId, 'priceChange')).rows, (await usedOf(app.appId, 'priceChangeSite')).rows]).toEqual([
    1, 1,
  ])
  await leave(app.appId, 'priceChangeSite', limits.priceChangeSitesADay)
  expectFull(await schedule(), '2000000 sites')
  await leave(app.appId, 'priceChange', limits.priceChangesADay)
  expectFull(await schedule(), '2000 price changes')
  // Dry runs leave nothing, and what waits can be cancelled.
  expect((await schedule({ dryRun: true })).code).toBe(0)
  await forget(app.appId)
  const waiting = (await schedule()).data.id as number
  await leave(app.appId, 'priceChange', limits.priceChangesADay)
  expect((await client.call('cancelPriceChange', { appId: app.appId, id: waiting, reason: 'x' }, app)).code).toBe(0)
})

test.concurrent('a cancelled price change keeps the number of its sites and not the sites, and goes with its days', async () => {
  const app = await newApplication(client)
  const world = { client, owner: app }
  const rule = await newRule(world)
  for (let site = 0; site < 3; site++) await newSite(world)
  const effectiveTime = new Date(Math.ceil(Date.now() / 1000) * 1000 + 86_400_000).toISOString()
  const asked = { appId: app.appId, effectiveTime, sites: { all: true }, rules: { placeholderBillRuleId: rule } }
  const id = (await client.call('schedulePriceChange', asked, app)).data.id as number
  const siteRows = async () =>
    (await database.sql`select 1 from site_rule where app_id = ${app.appId} and change_id > 0`).length
  expect(await siteRows()).toBe(3)
  const cancelled = await client.call('cancelPriceChange', { appId: app.appId, id, reason: 'x' }, app)
  expect(cancelled.data).toMatchObject({ status: 3, siteCount: 3 })
  expect(await siteRows()).toBe(0)
  expect((await client.call('getPriceChange', { appId: app.appId, id }, app)).data).toEqual(cancelled.data)
  const waiting = await newPriceChange(world, rule)
  const pruneAll = () => database.run((sql) => prune(sql, cancelledPriceChanges(400), 1_000))
  await database.sql`update price_change set created_at = now() - interval '500 days' where app_id = ${app.appId}`
  const listed = async () =>
    (await client.call('pagePriceChanges', { appId: app.appId }, app)).data.list.map((change) => change.id)
  await pruneAll()
  expect((await listed()).toSorted()).toEqual([id, waiting].toSorted())
  await database.sql`update price_change set cancelled_at = now() - interval '401 days' where id = ${id}`
  expect(await pruneAll()).toBe(1)
  expect(await listed()).toEqual([waiting])
})
