import { expect, test } from 'bun:test'
import type { ActRecord } from '../../src/bulk/acts/contract.ts'
import type { CallOptions } from '../kit/client.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { longTest } from '../kit/scale.ts'
import { imported, type Line, ndjson, ndjsonOf, resultOf as resultOfJob, send, untilEnded } from './import-support.ts'
import {
  client,
  createDeviceOf,
  deviceRow,
  expectFaults,
  expectRefusal,
  expectSuccess,
  siteRow,
  succeed,
} from './support.ts'

// Acts on everything that matches (contract §8).

const asOperator = { token: client.operatorKey }
const everything = { all: true }
const updating = { kind: 'devices', act: 'update' }

const begin = (caller: CallOptions, body: object) => client.call('createAct', body, caller)
/** Begins an act that is no dry run, and so has an id. */
const begunBy = async (caller: CallOptions, body: object) => expectSuccess(await begin(caller, body)) as ActRecord

const ended = (id: number) => untilEnded(() => succeed('getAct', { id }))
const resultOf = (id: number, query: object = {}) => resultOfJob(id, query, 'getActResult')

/** Runs an act to its end. Returns it with the lines of its result. */
async function acted(caller: CallOptions, body: object) {
  const { id } = await begunBy(caller, body)
  return { ...(await ended(id)), lines: await resultOf(id) }
}

/** Creates devices of an application, and returns their serial numbers. */
async function devicesOf({ token }: TestApplication, count: number, members: object = {}): Promise<string[]> {
  const devices = Array.from({ length: count }, () => deviceRow({ ...members, deviceNo: newSerial('ACT') }))
  await succeed('createDevices', { devices }, { token })
  return devices.map(({ deviceNo }) => deviceNo)
}

async function sitesOf({ token }: TestApplication, count: number, members: Record<string, unknown> = {}) {
  const sites = Array.from({ length: count }, () => siteRow(members))
  const { results } = await succeed('saveSites', { sites }, { token })
  return results.map((result) => (result.data as { id: number }).id)
}

const eventsOf = async ({ token }: TestApplication, type: string) =>
  await succeed('pageEvents', { type, pageSize: 100 }, { token })
const totalOf = async ({ token }: TestApplication, query: object = {}) =>
  (await succeed('pageDevices', query, { token })).total
const serialsIn = (lines: readonly Line[]) => lines.map(({ deviceNo }) => deviceNo as string).sort()

test('an update changes every device that matches and no other; each writes the event of an update', async () => {
  const [app, other] = [await newApplication(client), await newApplication(client)]
  const matching = await devicesOf(app, 7, { tag: 'old' })
  const [so = ''] = await devicesOf(app, 1, { tag: 'old', deviceName: 'Renamed' })
  await devicesOf(app, 3, { tag: 'kept' })
  await devicesOf(other, 2, { tag: 'old' })
  const asked = { ...updating, filter: { tag: 'old' }, set: { deviceName: 'Renamed' } }
  const begun = await begunBy(app, { ...asked, expectedRows: 8 })
  const none = { targetAppId: null, reason: null }
  expect(begun).toMatchObject({ appId: app.appId, ...asked, ...none, rows: 8, dryRun: false } as object)
  const told = await ended(begun.id)
  expect(told).toMatchObject({ status: 3, rows: 8, done: 7, unchanged: 1, refused: 0, error: null })
  expect(told.finishTime).toBeString()
  const lines = await resultOf(begun.id)
  expect(lines.filter(({ line, code }) => line !== undefined || code !== 0)).toEqual([])
  expect(serialsIn(lines.filter(({ outcome }) => outcome === 'done'))).toEqual(matching.sort())
  expect(serialsIn(await resultOf(begun.id, { outcome: 'unchanged' }))).toEqual([so])
  expect(await resultOf(begun.id, { outcome: 'refused' })).toEqual([])
  const updated = await eventsOf(app, 'device.updated')
  expect(updated.list.map(({ data }) => (data as { deviceNo: string }).deviceNo).sort()).toEqual(matching.sort())
  for (const { data, actor } of updated.list) {
    expect(actor).toBe(`application:${app.appId}`)
    const { deviceNo } = data as { deviceNo: string }
    expect<unknown>(data).toEqual(await succeed('getDevice', { deviceNo }, app))
  }
  expect(await totalOf(app, { deviceName: 'Renamed' })).toBe(8)
  expect((await eventsOf(other, 'device.updated')).total).toBe(0)
})

longTest(
  'more rows than one look finds, and than a page counts, are counted exactly and each done once',
  async () => {
    const app = await newApplication(client)
    const devices = Array.from({ length: 10_100 }, () => deviceRow({ deviceNo: newSerial('ACT') }))
    await imported(app, 'devices', ndjsonOf(...devices), ndjson)
    const body = { ...updating, filter: everything, set: { tag: 'all' } }
    expectFaults(await begin(app, { ...body, expectedRows: 10_000 }), ['expectedRows'], 'rowsChanged')
    const { lines, ...told } = await acted(app, { ...body, expectedRows: 10_100 })
    expect(told).toMatchObject({ status: 3, rows: 10_100, done: 10_100, unchanged: 0, refused: 0 })
    expect(serialsIn(lines)).toEqual(devices.map(({ deviceNo }) => deviceNo).sort())
  },
  600_000,
)

test('unbinding frees what matches with the reason; a device that is bound later is none of its rows', async () => {
  const app = await newApplication(client)
  const [deviceNo = ''] = await devicesOf(app, 4, { districtCode: '360103' })
  await devicesOf(app, 2)
  const filter = { districtCode: '360103', onlineStatus: 2 }
  const body = { kind: 'devices', act: 'unbind', reason: 'closed' }
  const { lines, ...told } = await acted(app, { ...body, filter: { ...filter, deviceName: '', tag: null } })
  expect(told).toMatchObject({ status: 3, done: 4, reason: 'closed', filter })
  expect(lines).toHaveLength(4)
  expect(await totalOf(app)).toBe(2)
  const history = await succeed('getDeviceHistory', { deviceNo }, app)
  expect(history.list[0]).toMatchObject({ reason: 'closed', unboundBy: `application:${app.appId}` })
  expect((await eventsOf(app, 'device.unbound')).total).toBe(4)
  await createDeviceOf(app, { deviceNo })
  expect(await succeed('getAct', { id: told.id })).toMatchObject({ done: 4 })
  expect(await totalOf(app)).toBe(3)
})

test('operators transfer and force an unbinding; both feeds tell it, and only operators see the target', async () => {
  const [from, to] = [await newApplication(client), await newApplication(client)]
  const serials = await devicesOf(from, 5, { tag: 'sold' })
  await devicesOf(from, 1)
  const sold = { targetAppId: to.appId, reason: 'sold' }
  const body = { appId: from.appId, kind: 'devices', act: 'transfer', filter: { tag: 'sold' }, ...sold }
  const { lines, ...told } = await acted(asOperator, body)
  expect(told).toMatchObject({ status: 3, rows: 5, done: 5, ...sold })
  expect(serialsIn(lines)).toEqual(serials.sort())
  expect([await totalOf(from), await totalOf(to)]).toEqual([1, 5])
  for (const app of [from, to]) expect((await eventsOf(app, 'device.transferred')).total).toBe(5)
  const seen = await client.call('getAct', { id: told.id }, from)
  expect(expectSuccess(seen).targetAppId).toBeNull()
  expect(seen.text).not.toContain(to.appId)
  expect((await client.call('pageActs', {}, from)).text).not.toContain(to.appId)
  const forced = { appId: to.appId, kind: 'devices', act: 'forceUnbind', filter: everything, reason: 'lost' }
  expect(await acted(asOperator, forced)).toMatchObject({ status: 3, done: 5 })
  expect(await totalOf(to)).toBe(0)
})

test('what the single act refuses is a refused row with its code; the others are none', async () => {
  const [from, to] = [await newApplication(client), await newApplication(client)]
  await devicesOf(from, 3)
  const body = { appId: from.appId, kind: 'devices', act: 'transfer', filter: everything, reason: 'sold' }
  const own = await acted(asOperator, { ...body, targetAppId: from.appId })
  expect(own).toMatchObject({ status: 3, done: 0, refused: 3 })
  await succeed('takeApplicationOffline', { appId: to.appId })
  const offline = await acted(asOperator, { ...body, targetAppId: to.appId })
  const told = [...own.lines, ...offline.lines].map(({ code, outcome }) => `${code} ${outcome}`)
  expect(told).toEqual([...Array(3).fill('20017 refused'), ...Array(3).fill('10006 refused')])
  const [site] = await sitesOf(from, 1)
  const rule = { kind: 'sites', act: 'update', filter: everything, set: { placeholderBillRuleId: 999_999_999 } }
  const ruled = await acted(from, rule)
  expect(ruled.lines).toMatchObject([{ id: site, code: 40002, errors: [{ field: 'placeholderBillRuleId' }] }])
  expectRefusal(await begin(asOperator, { ...body, targetAppId: 'no-such-application' }), 'applicationNotFound')
})

test('sites that match are updated and deleted, with the events of the single acts', async () => {
  const app = await newApplication(client)
  const ids = await sitesOf(app, 4, { siteName: 'Old name' })
  await sitesOf(app, 2, { siteName: 'Another' })
  const filter = { siteName: 'OLD', cityCode: '360100' }
  const updated = await acted(app, { kind: 'sites', act: 'update', filter, set: { contacts: 'Li Na', ipcIds: null } })
  expect(updated).toMatchObject({ status: 3, rows: 4, refused: 0 })
  expect(updated.lines.map(({ id }) => id as number).sort()).toEqual(ids.sort())
  expect((await eventsOf(app, 'site.updated')).total).toBe(4)
  expect((await succeed('pageSites', { contacts: 'li na' }, app)).total).toBe(4)
  const deleted = await acted(app, { kind: 'sites', act: 'delete', filter: { contacts: 'Li Na' } })
  expect(deleted).toMatchObject({ status: 3, done: 4 })
  const events = await eventsOf(app, 'site.deleted')
  expect(events.list.map(({ data }) => (data as { id: number }).id).sort()).toEqual(ids.sort())
  expect((await succeed('pageSites', {}, app)).total).toBe(2)
  const trail = await succeed('pageAudit', { type: 'act.created', pageSize: 5 })
  expect(JSON.stringify(trail)).not.toContain('Li Na')
})

test('a dry run only counts, and nothing of it is kept', async () => {
  const app = await newApplication(client)
  await devicesOf(app, 3)
  const body = { kind: 'devices', act: 'unbind', filter: everything, dryRun: true }
  const counted = { id: null, status: 3, rows: 3, done: 0, dryRun: true, error: null, failure: null }
  expect(expectSuccess(await begin(app, body))).toMatchObject(counted)
  expectFaults(await begin(app, { ...body, expectedRows: 2 }), ['expectedRows'], 'rowsChanged')
  // Its key stays free for the act itself.
  const keyed = { token: app.token, headers: { 'idempotency-key': newSerial('dry') } }
  for (let time = 0; time < 2; time++) {
    const answer = await begin(keyed, body)
    expect([expectSuccess(answer).rows, answer.headers.get('idempotency-replayed')]).toEqual([3, null])
  }
  const { id } = await begunBy(keyed, { ...updating, filter: { deviceName: 'none' }, set: { tag: 'x' } })
  expect((await succeed('pageActs', {}, app)).list.map((act) => act.id)).toEqual([id])
  const trail = await succeed('pageAudit', { appId: app.appId, type: 'act.*' })
  expect(trail.list.map(({ subject }) => subject)).toEqual([String(id)])
  expect(await totalOf(app)).toBe(3)
})

test('another number of rows than expected is 70004 with the number, and nothing is done', async () => {
  const app = await newApplication(client)
  await devicesOf(app, 3)
  for (const expectedRows of [2, 4]) {
    const refused = await begin(app, { kind: 'devices', act: 'unbind', filter: everything, expectedRows })
    expect(expectFaults(refused, ['expectedRows'], 'rowsChanged').expectedRows).toContain('3')
  }
  expect(await totalOf(app)).toBe(3)
  expect((await succeed('pageActs', {}, app)).total).toBe(0)
})

test('what cannot be asked is refused, each member by its name', async () => {
  const app = await newApplication(client)
  const faulty: [body: object, fields: string[]][] = [
    ...[{}, { tag: '' }, [], undefined].map((filter): [object, string[]] => [{ filter }, ['filter']]),
    [{ filter: { all: false } }, ['filter.all']],
    [{ filter: { all: true, tag: 'x' } }, ['filter.all']],
    [{ filter: { tga: 'x', status: '1' } }, ['filter.tga', 'filter.status']],
    [{ filter: { pageNo: 1 } }, ['filter.pageNo']],
    [{ filter: { all: true, appId: app.appId } }, ['filter.appId']],
    [{ filter: { cursor: 'x', pageSize: 2 } }, ['filter.cursor', 'filter.pageSize']],
    [{ filter: { billingRuleId: 1 } }, ['filter.billingRuleId']],
    [{ filter: { timeFrom: 'yesterday' } }, ['filter.timeFrom']],
    [{ act: 'delete' }, ['act']],
    [{ kind: 'sites' }, ['act']],
    [{ kind: 'inventory', act: 'delete' }, ['kind']],
    [{ act: 'update' }, ['set']],
    [{ act: 'update', set: {} }, ['set']],
    [{ act: 'update', set: { deviceName: null, tag: 1 } }, ['set.deviceName', 'set.tag']],
    [{ set: { tag: 'x' } }, ['set']],
    [{ targetAppId: app.appId }, ['targetAppId']],
    [{ expectedRows: -1, dryRun: 'true' }, ['expectedRows', 'dryRun']],
  ]
  const usual = { kind: 'devices', act: 'unbind', filter: everything }
  for (const [body, fields] of faulty) expectFaults(await begin(app, { ...usual, ...body }), fields)
  for (const [body, fields] of [
    [{ act: 'transfer' }, ['targetAppId', 'reason']],
    [{ act: 'forceUnbind' }, ['reason']],
  ] as [object, string[]][]) {
    expectFaults(await begin(asOperator, { appId: app.appId, ...usual, ...body }), fields)
  }
})

test('only operators force an unbinding or transfer, and cancel it', async () => {
  const app = await newApplication(client)
  await devicesOf(app, 1)
  const developer = { headers: await signIn(client, await newPerson(client, 'developer', [app.appId])) }
  const body = { appId: app.appId, kind: 'devices', filter: everything }
  for (const members of [{ act: 'forceUnbind' }, { act: 'transfer', targetAppId: app.appId }]) {
    for (const caller of [app, developer]) {
      expectRefusal(await begin(caller, { ...body, ...members, reason: 'x' }), 'notPermitted')
    }
  }
  expect(await totalOf(app)).toBe(1)
  const own = { ...body, act: 'update', set: { tag: 'x' } }
  expect(await acted(developer, own)).toMatchObject({ status: 3, done: 1 })
})

test('one import or act of an application is under way at a time; cancelled, what is done stays', async () => {
  const app = await newApplication(client)
  await devicesOf(app, 1_000)
  const act = { ...updating, filter: everything, set: { tag: 'under way' } }
  const importing = () => send(app, 'devices', ndjsonOf(deviceRow()), ndjson)
  const { id } = await begunBy(app, act)
  expectRefusal(await begin(app, act), 'importRunning')
  expectRefusal(await importing(), 'importRunning')
  expectRefusal(await client.call('cancelImport', { id }, app), 'importNotFound')
  expect(await succeed('cancelAct', { id }, app)).toMatchObject({ id, status: 5 })
  expectRefusal(await client.call('cancelAct', { id }, app), 'importRunning')
  const { done } = await ended(id)
  expect(await totalOf(app, { tag: 'under way' })).toBe(done)
  // An import is no act, and an act no import.
  const sent = expectSuccess(await importing())
  for (const operation of ['getAct', 'getActResult'] as const) {
    expectRefusal(await client.call(operation, { id: sent.id }, app), 'importNotFound')
  }
  for (const operation of ['getImport', 'getImportResult'] as const) {
    expectRefusal(await client.call(operation, { id }, app), 'importNotFound')
  }
  expect(sent.id).toBeGreaterThan(id)
  expect((await succeed('pageActs', {}, app)).list.map((one) => one.id)).toEqual([id])
  expect((await succeed('pageImports', {}, app)).list.map((one) => one.id)).toEqual([sent.id])
  expect((await succeed('pageActs', { kind: 'sites' }, app)).total).toBe(0)
})
