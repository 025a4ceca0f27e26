import { expect, test } from 'bun:test'
import type { ActRecord } from '../../src/bulk/acts/contract.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { longTest } from '../kit/scale.ts'
import {
  client,
  createDeviceOf,
  deviceRow,
  expectFaults,
  expectRefusal,
  expectSuccess,
  linesOf,
  siteRow,
  succeed,
} from './support.ts'

// Acts on everything that matches (contract §8).

const ndjson = { 'content-type': 'application/x-ndjson' }

type Caller = Parameters<typeof client.call>[2]
const asOperator = () => ({ token: client.operatorKey })

const begin = (caller: Caller, body: object) => client.call('createAct', body, caller)
/** Begins an act that is no dry run, and so has an id. */
const begunBy = async (caller: Caller, body: object) => expectSuccess(await begin(caller, body)) as ActRecord

/** Waits for an act's end. */
async function ended(id: number): Promise<ActRecord> {
  for (;;) {
    const told = await succeed('getAct', { id })
    if (told.status > 2) return told
    await Bun.sleep(25)
  }
}

interface Line {
  outcome: string
  code: number
  errors: { field: string }[] | null
  deviceNo?: string
  id?: number
}

async function resultOf(id: number, query: object = {}): Promise<Line[]> {
  const { status, text, headers } = await client.operate('getActResult', { id, ...query })
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
  return linesOf(text)
}

/** Runs an act to its end. Returns it with the lines of its result. */
async function acted(caller: Caller, body: object) {
  const { id } = await begunBy(caller, body)
  return { ...(await ended(id)), lines: await resultOf(id) }
}

/** Creates devices of an application, and returns their serial numbers. */
async function devicesOf(
  { token }: TestApplication,
  count: number,
  members: Record<string, unknown> = {},
): Promise<string[]> {
  const serials = Array.from({ length: count }, () => newSerial('ACT'))
  for (let from = 0; from < count; from += 500) {
    const devices = serials.slice(from, from + 500).map((deviceNo) => deviceRow({ ...members, deviceNo }))
    await succeed('createDevices', { devices }, { token })
  }
  return serials
}

async function sitesOf(
  { token }: TestApplication,
  count: number,
  members: Record<string, unknown> = {},
): Promise<number[]> {
  const sites = Array.from({ length: count }, () => siteRow(members))
  const { results } = await succeed('saveSites', { sites }, { token })
  return results.map((result) => (result.data as { id: number }).id)
}

async function eventsOf({ token }: TestApplication, type: string) {
  const { list, total } = await succeed('pageEvents', { type, pageSize: 100 }, { token })
  return { list, total }
}

const totalOf = async ({ token }: TestApplication, query: Record<string, unknown> = {}) =>
  (await succeed('pageDevices', query, { token })).total

test('an update changes every device that matches and no other; each writes the event of an update', async () => {
  const app = await newApplication(client)
  const other = await newApplication(client)
  const matching = await devicesOf(app, 7, { tag: 'old' })
  const [so] = await devicesOf(app, 1, { tag: 'old', deviceName: 'Renamed' })
  await devicesOf(app, 3, { tag: 'kept' })
  await devicesOf(other, 2, { tag: 'old' })
  const body = {
    kind: 'devices',
    act: 'update',
    filter: { tag: 'old' },
    set: { deviceName: 'Renamed' },
    expectedRows: 8,
  }
  const begun = await begunBy(app, body)
  expect(begun).toMatchObject({ appId: app.appId, kind: 'devices', act: 'update', rows: 8, dryRun: false })
  expect(begun).toMatchObject({
    filter: { tag: 'old' },
    set: { deviceName: 'Renamed' },
    targetAppId: null,
    reason: null,
  })
  const told = await ended(begun.id)
  expect(told).toMatchObject({ status: 3, rows: 8, done: 7, unchanged: 1, refused: 0, error: null })
  expect(told.finishTime).toBeString()
  const lines = await resultOf(begun.id)
  expect(lines.every((line) => !('line' in line) && line.code === 0)).toBe(true)
  expect(
    lines
      .filter(({ outcome }) => outcome === 'done')
      .map(({ deviceNo }) => deviceNo as string)
      .sort(),
  ).toEqual(matching.sort())
  expect((await resultOf(begun.id, { outcome: 'unchanged' })).map(({ deviceNo }) => deviceNo)).toEqual([so])
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
    const serials = Array.from({ length: 10_100 }, () => newSerial('ACT'))
    const rows = serials.map((deviceNo) => JSON.stringify({ ...deviceBody(''), appId: undefined, deviceNo }))
    const sent = { kind: 'devices', file: rows.join('\n') }
    const { id } = await succeed('createImport', sent, { token: app.token, headers: ndjson })
    while ((await succeed('getImport', { id }, app)).status < 3) await Bun.sleep(100)
    const body = { kind: 'devices', act: 'update', filter: { all: true }, set: { tag: 'all' } }
    expectFaults(await begin(app, { ...body, expectedRows: 10_000 }), ['expectedRows'], 'rowsChanged')
    const { lines, ...told } = await acted(app, { ...body, expectedRows: 10_100 })
    expect(told).toMatchObject({ status: 3, rows: 10_100, done: 10_100, unchanged: 0, refused: 0 })
    expect(lines.map(({ deviceNo }) => deviceNo as string).sort()).toEqual(serials.sort())
  },
  600_000,
)

test('unbinding frees what matches with the reason; a device that is bound later is none of its rows', async () => {
  const app = await newApplication(client)
  const serials = await devicesOf(app, 4, { districtCode: '360103' })
  await devicesOf(app, 2)
  const filter = { districtCode: '360103', onlineStatus: 2, deviceName: '', tag: null }
  const { lines, ...told } = await acted(app, { kind: 'devices', act: 'unbind', filter, reason: 'closed' })
  expect(told).toMatchObject({
    status: 3,
    done: 4,
    reason: 'closed',
    filter: { districtCode: '360103', onlineStatus: 2 },
  })
  expect(lines).toHaveLength(4)
  expect(await totalOf(app)).toBe(2)
  const [deviceNo = ''] = serials
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
  const { appId } = from
  const body = {
    appId,
    kind: 'devices',
    act: 'transfer',
    filter: { tag: 'sold' },
    targetAppId: to.appId,
    reason: 'sold',
  }
  const { lines, ...told } = await acted(asOperator(), body)
  expect(told).toMatchObject({ status: 3, rows: 5, done: 5, targetAppId: to.appId, reason: 'sold' })
  expect(lines.map(({ deviceNo }) => deviceNo as string).sort()).toEqual(serials.sort())
  expect([await totalOf(from), await totalOf(to)]).toEqual([1, 5])
  expect((await eventsOf(from, 'device.transferred')).total).toBe(5)
  expect((await eventsOf(to, 'device.transferred')).total).toBe(5)
  const seen = await client.call('getAct', { id: told.id }, from)
  expect(expectSuccess(seen).targetAppId).toBeNull()
  expect(seen.text).not.toContain(to.appId)
  expect((await client.call('pageActs', {}, from)).text).not.toContain(to.appId)
  const forced = { appId: to.appId, kind: 'devices', act: 'forceUnbind', filter: { all: true }, reason: 'lost' }
  expect(await acted(asOperator(), forced)).toMatchObject({ status: 3, done: 5 })
  expect(await totalOf(to)).toBe(0)
})

test('what the single act refuses is a refused row with its code; the others are none', async () => {
  const [from, to] = [await newApplication(client), await newApplication(client)]
  await devicesOf(from, 3)
  const body = { appId: from.appId, kind: 'devices', act: 'transfer', filter: { all: true }, reason: 'sold' }
  const own = await acted(asOperator(), { ...body, targetAppId: from.appId })
  expect(own).toMatchObject({ status: 3, done: 0, refused: 3 })
  expect(own.lines.map(({ code }) => code)).toEqual([20017, 20017, 20017])
  await succeed('takeApplicationOffline', { appId: to.appId })
  const offline = await acted(asOperator(), { ...body, targetAppId: to.appId })
  expect(offline.lines.map(({ code, outcome }) => [code, outcome])).toEqual(Array(3).fill([10006, 'refused']))
  const [site] = await sitesOf(from, 1)
  const rule = { kind: 'sites', act: 'update', filter: { all: true }, set: { placeholderBillRuleId: 999_999_999 } }
  const ruled = await acted(from, rule)
  expect(ruled.lines).toMatchObject([{ id: site, code: 40002, errors: [{ field: 'placeholderBillRuleId' }] }])
  expectRefusal(await begin(asOperator(), { ...body, targetAppId: 'no-such-application' }), 'applicationNotFound')
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
  const { list } = await succeed('pageSites', { contacts: 'li na' }, app)
  expect(list).toHaveLength(4)
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
  const body = { kind: 'devices', act: 'unbind', filter: { all: true }, dryRun: true }
  const counted = { id: null, status: 3, rows: 3, done: 0, dryRun: true, error: null, failure: null }
  expect(expectSuccess(await begin(app, body))).toMatchObject(counted)
  expectFaults(await begin(app, { ...body, expectedRows: 2 }), ['expectedRows'], 'rowsChanged')
  // Its key stays free for the act itself.
  const keyed = { token: app.token, headers: { 'idempotency-key': newSerial('dry') } }
  for (let time = 0; time < 2; time++) {
    const answer = await client.call('createAct', body, keyed)
    expect([expectSuccess(answer).rows, answer.headers.get('idempotency-replayed')]).toEqual([3, null])
  }
  const none = { ...body, act: 'update', filter: { deviceName: 'none' }, set: { tag: 'x' }, dryRun: false }
  const { id } = await succeed('createAct', none, keyed)
  expect((await succeed('pageActs', {}, app)).list.map((act) => act.id)).toEqual([id as number])
  const trail = await succeed('pageAudit', { appId: app.appId, type: 'act.*' })
  expect(trail.list.map(({ subject }) => subject)).toEqual([String(id)])
  expect(await totalOf(app)).toBe(3)
})

test('another number of rows than expected is 70004 with the number, and nothing is done', async () => {
  const app = await newApplication(client)
  await devicesOf(app, 3)
  for (const expectedRows of [2, 4]) {
    const refused = await begin(app, { kind: 'devices', act: 'unbind', filter: { all: true }, expectedRows })
    expect(expectFaults(refused, ['expectedRows'], 'rowsChanged').expectedRows).toContain('3')
  }
  expect(await totalOf(app)).toBe(3)
  expect((await succeed('pageActs', {}, app)).total).toBe(0)
})

test('what cannot be asked is refused, each member by its name', async () => {
  const app = await newApplication(client)
  const devices = { kind: 'devices', act: 'unbind' }
  const faults = (body: object, fields: string[]) => async () => expectFaults(await begin(app, body), fields)
  for (const check of [
    faults({ ...devices, filter: {} }, ['filter']),
    faults({ ...devices, filter: { tag: '' } }, ['filter']),
    faults({ ...devices, filter: { all: false } }, ['filter.all']),
    faults({ ...devices, filter: { all: true, tag: 'x' } }, ['filter.all']),
    faults({ ...devices, filter: [] }, ['filter']),
    faults({ ...devices }, ['filter']),
    faults({ ...devices, filter: { tga: 'x', status: '1' } }, ['filter.tga', 'filter.status']),
    faults({ ...devices, filter: { pageNo: 1 } }, ['filter.pageNo']),
    faults({ ...devices, filter: { all: true, appId: app.appId } }, ['filter.appId']),
    faults({ ...devices, filter: { cursor: 'x', pageSize: 2 } }, ['filter.cursor', 'filter.pageSize']),
    faults({ ...devices, filter: { billingRuleId: 1 } }, ['filter.billingRuleId']),
    faults({ ...devices, filter: { timeFrom: 'yesterday' } }, ['filter.timeFrom']),
    faults({ ...devices, act: 'delete', filter: { all: true } }, ['act']),
    faults({ kind: 'sites', act: 'unbind', filter: { all: true } }, ['act']),
    faults({ kind: 'inventory', act: 'delete', filter: { all: true } }, ['kind']),
    faults({ kind: 'devices', act: 'update', filter: { all: true } }, ['set']),
    faults({ kind: 'devices', act: 'update', filter: { all: true }, set: {} }, ['set']),
    faults({ kind: 'devices', act: 'update', filter: { all: true }, set: { deviceName: null, tag: 1 } }, [
      'set.deviceName',
      'set.tag',
    ]),
    faults({ ...devices, filter: { all: true }, set: { tag: 'x' } }, ['set']),
    faults({ ...devices, filter: { all: true }, targetAppId: app.appId }, ['targetAppId']),
    faults({ ...devices, filter: { all: true }, expectedRows: -1, dryRun: 'true' }, ['expectedRows', 'dryRun']),
  ]) {
    await check()
  }
  const ofOperator = async (body: object, fields: string[]) =>
    expectFaults(await begin(asOperator(), { appId: app.appId, filter: { all: true }, ...body }), fields)
  await ofOperator({ kind: 'devices', act: 'transfer' }, ['targetAppId', 'reason'])
  await ofOperator({ kind: 'devices', act: 'forceUnbind' }, ['reason'])
  await ofOperator({ kind: 'devices', act: 'unbind', appId: null }, ['appId'])
})

test('only operators force an unbinding or transfer, and cancel it', async () => {
  const app = await newApplication(client)
  await devicesOf(app, 1)
  const developer = { headers: await signIn(client, await newPerson(client, 'developer', [app.appId])) }
  const bodies = [
    { appId: app.appId, kind: 'devices', act: 'forceUnbind', filter: { all: true }, reason: 'x' },
    { appId: app.appId, kind: 'devices', act: 'transfer', filter: { all: true }, reason: 'x', targetAppId: app.appId },
  ]
  for (const body of bodies) {
    for (const caller of [app, developer]) expectRefusal(await begin(caller, body), 'notPermitted')
  }
  expect(await totalOf(app)).toBe(1)
  const own = { appId: app.appId, kind: 'devices', act: 'update', filter: { all: true }, set: { tag: 'x' } }
  expect(await acted(developer, own)).toMatchObject({ status: 3, done: 1 })
})

test('one import or act of an application is under way at a time; cancelled, what is done stays', async () => {
  const app = await newApplication(client)
  await devicesOf(app, 1_000)
  const act = { kind: 'devices', act: 'update', filter: { all: true }, set: { tag: 'under way' } }
  const importing = () =>
    client.call(
      'createImport',
      { kind: 'devices', file: JSON.stringify(deviceRow()) },
      { token: app.token, headers: ndjson },
    )
  const { id } = await begunBy(app, act)
  expectRefusal(await begin(app, act), 'importRunning')
  expectRefusal(await importing(), 'importRunning')
  expectRefusal(await client.call('cancelImport', { id }, app), 'importNotFound')
  const cancelled = await succeed('cancelAct', { id }, app)
  expect(cancelled).toMatchObject({ id, status: 5 })
  expectRefusal(await client.call('cancelAct', { id }, app), 'importRunning')
  const { done } = await ended(id)
  expect(await totalOf(app, { tag: 'under way' })).toBe(done)
  const sent = expectSuccess(await importing())
  expectRefusal(await client.call('getAct', { id: sent.id }, app), 'importNotFound')
  expectRefusal(await client.call('getActResult', { id: sent.id }, app), 'importNotFound')
  expectRefusal(await client.call('getImport', { id }, app), 'importNotFound')
  expectRefusal(await client.call('getImportResult', { id }, app), 'importNotFound')
  const stranger = await newApplication(client)
  expectRefusal(await client.call('getAct', { id }, stranger), 'importNotFound')
  expectRefusal(await client.call('getActResult', { id }, stranger), 'importNotFound')
  expectRefusal(await client.call('cancelAct', { id }, stranger), 'importNotFound')
  expect(sent.id).toBeGreaterThan(id)
  expect((await succeed('pageActs', {}, app)).list.map((one) => one.id)).toEqual([id])
  expect((await succeed('pageImports', {}, app)).list.map((one) => one.id)).toEqual([sent.id])
  expect((await succeed('pageActs', { kind: 'sites' }, app)).total).toBe(0)
})
