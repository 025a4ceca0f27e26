import { expect, test } from 'bun:test'
import type { DeviceRecord } from '../../src/devices/contract.ts'
import type { SiteRecord } from '../../src/sites/contract.ts'
import { newApplication, newSerial, type TestApplication, takeOffline } from '../kit/records.ts'
import { csvOf, ndjson, outcomesOf, resultOf, send, upserted } from './import-support.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectSuccess,
  exported,
  newRule,
  saveSiteOf,
  succeed,
} from './support.ts'

// Imports with mode=upsert, and exports that are edited and sent back (contract §8).

const sendUpsert = (app: TestApplication, kind: string, file: string, type?: string, more: object = {}) =>
  send(app, kind, file, type, { mode: 'upsert', ...more })
const place = '"115.899918,28.676493"'

const deviceOf = async ({ token }: TestApplication, deviceNo: string): Promise<DeviceRecord> =>
  await succeed('getDevice', { deviceNo }, { token })
const siteOf = async ({ token }: TestApplication, id: number): Promise<SiteRecord> =>
  await succeed('getSite', { id }, { token })
const typesOf = async ({ token }: TestApplication, query: object): Promise<string[]> =>
  (await succeed('pageEvents', { ...query, pageSize: '100' }, { token })).list.map(({ type }) => type)

test('a device that is there with other content is updated, one with the same exists, and others are created', async () => {
  const app = await newApplication(client)
  const [changed, same, fresh, elsewhere] = [newSerial('U'), newSerial('U'), newSerial('U'), newSerial('U')]
  expectSuccess(await createDeviceOf(app, { deviceNo: changed, tag: 'lane=1', deviceName: 'Old' }))
  expectSuccess(await createDeviceOf(app, { deviceNo: same, deviceName: 'Gate' }))
  await createDeviceOf(await newApplication(client), { deviceNo: elsewhere })
  const columns = 'deviceNo,deviceName,districtCode,coordinates'
  const rows = [changed, same, fresh, elsewhere].map((serial) => `${serial},Gate,360102,${place}`)
  const told = await upserted(app, 'devices', csvOf(columns, ...rows))
  expect(told).toMatchObject({ status: 3, mode: 'upsert', rows: 4, created: 1, existing: 1, refused: 1, updated: 1 })
  expect(told.ignoredColumns).toEqual([])
  expect(outcomesOf(told.lines)).toEqual(['updated', 'existing', 'created', 20013])
  expect(await deviceOf(app, changed)).toMatchObject({ deviceName: 'Gate', tag: 'lane=1' })
  expect(await typesOf(app, { deviceNo: changed })).toEqual(['device.bound', 'device.updated'])
  expect(await typesOf(app, { deviceNo: same })).toEqual(['device.bound'])
  expect(await typesOf(app, { deviceNo: fresh })).toEqual(['device.bound'])
  expect(await resultOf(told.id, { outcome: 'updated' })).toHaveLength(1)
  const again = await upserted(app, 'devices', csvOf(columns, ...rows))
  expect(again).toMatchObject({ created: 0, updated: 0, existing: 3, refused: 1 })
})

test('an event of an upsert is that of a single update, with who sent the file', async () => {
  const app = await newApplication(client)
  const { deviceNo } = expectSuccess(await createDeviceOf(app))
  await upserted(app, 'devices', csvOf('deviceNo,tag', `${deviceNo},new`))
  const query = { deviceNo, type: 'device.updated' }
  const { list } = await succeed('pageEvents', query, app)
  expect(list).toHaveLength(1)
  expect(list[0]).toMatchObject({ actor: `application:${app.appId}`, data: await deviceOf(app, deviceNo) })
})

test('a column that the file has not stays, an empty cell clears an optional one, and is faulty in a required one', async () => {
  const app = await newApplication(client)
  const [one, two, three] = [newSerial('U'), newSerial('U'), newSerial('U')]
  for (const deviceNo of [one, two, three]) {
    expectSuccess(
      await createDeviceOf(app, {
        deviceNo,
        tag: 'x',
        detailAddress: 'No. 1',
        provinceCode: '110000',
        deviceName: 'Old',
      }),
    )
  }
  const told = await upserted(
    app,
    'devices',
    csvOf('deviceNo,tag,deviceName,provinceCode', `${one},,Renamed,`, `${two},y,,110000`, `${three},x,Old,110000`),
  )
  expect(outcomesOf(told.lines)).toEqual(['updated', 10001, 'existing'])
  expect(told.lines[1]).toMatchObject({ deviceNo: two, errors: [{ field: 'deviceName' }] })
  const cleared = await deviceOf(app, one)
  expect(cleared).toMatchObject({ tag: null, deviceName: 'Renamed' })
  expect(cleared.deviceBattery).toMatchObject({ detailAddress: 'No. 1', provinceCode: '360000' })
  expect(await deviceOf(app, two)).toMatchObject({ tag: 'x', deviceName: 'Old' })
})

test('in NDJSON an absent member stays, null and an empty text clear an optional one, and null in a required one is faulty', async () => {
  const app = await newApplication(client)
  const [one, two, three] = [newSerial('U'), newSerial('U'), newSerial('U')]
  for (const deviceNo of [one, two, three]) {
    expectSuccess(await createDeviceOf(app, { deviceNo, tag: 'x', detailAddress: 'No. 1' }))
  }
  const rows = [
    { deviceNo: one, tag: null, detailAddress: '' },
    { deviceNo: two, deviceName: null },
    { deviceNo: three },
    { deviceNo: three, coordinates: '28.6,115.9', districtCode: '' },
    { tag: 'no serial' },
    ['no row'],
  ]
  const told = await upserted(app, 'devices', rows.map((row) => JSON.stringify(row)).join('\n'), ndjson)
  expect(outcomesOf(told.lines)).toEqual(['updated', 10001, 'existing', 10001, 10001, 10001])
  expect(told.lines[3]?.errors?.map(({ field }) => field).sort()).toEqual(['coordinates', 'districtCode'])
  const device = await deviceOf(app, one)
  expect([device.tag, device.deviceBattery.detailAddress]).toEqual([null, null])
})

test('a new row needs all that a create needs, and says what it lacks', async () => {
  const app = await newApplication(client)
  const fresh = newSerial('U')
  const file = csvOf(
    'deviceNo,deviceName,districtCode,coordinates',
    `${fresh},Gate,360102,`,
    `${fresh},Gate,360102,${place}`,
  )
  const told = await upserted(app, 'devices', csvOf('deviceNo,tag', `${fresh},x`))
  expect(told.lines[0]?.errors?.map(({ field }) => field).sort()).toEqual(['coordinates', 'deviceName', 'districtCode'])
  expect(await typesOf(app, { deviceNo: fresh })).toEqual([])
  const second = await upserted(app, 'devices', file)
  expect(outcomesOf(second.lines)).toEqual([10001, 'created'])
})

test('rows about one device count in their order, also of one that the file creates', async () => {
  const app = await newApplication(client)
  const [fresh, there] = [newSerial('U'), newSerial('U')]
  expectSuccess(await createDeviceOf(app, { deviceNo: there, tag: 'a' }))
  const row = (serial: string, tag: string) => `${serial},Gate,360102,${place},${tag}`
  const columns = 'deviceNo,deviceName,districtCode,coordinates,tag'
  const rows = [row(fresh, 'a'), row(there, 'b'), row(fresh, 'b'), row(fresh, 'b'), row(there, 'c'), row(fresh, 'c')]
  for (const more of [{ dryRun: 'true' }, {}]) {
    const told = await upserted(app, 'devices', csvOf(columns, ...rows), undefined, more)
    expect(outcomesOf(told.lines)).toEqual(['created', 'updated', 'updated', 'existing', 'updated', 'updated'])
    expect(told).toMatchObject({ created: 1, updated: 4, existing: 1, refused: 0 })
  }
  expect((await deviceOf(app, fresh)).tag).toBe('c')
  const types = await typesOf(app, { deviceNo: fresh })
  expect(types).toEqual(['device.bound', 'device.updated', 'device.updated'])
})

test('an offline application updates, and creates nothing', async () => {
  const app = await newApplication(client)
  const [there, fresh] = [newSerial('U'), newSerial('U')]
  expectSuccess(await createDeviceOf(app, { deviceNo: there, deviceName: 'Old' }))
  await takeOffline(client, app.appId)
  const rows = [there, fresh].map((serial) => `${serial},Gate,360102,${place}`)
  const file = csvOf('deviceNo,deviceName,districtCode,coordinates', ...rows)
  for (const more of [{ dryRun: 'true' }, {}]) {
    expect(outcomesOf((await upserted(app, 'devices', file, undefined, more)).lines)).toEqual(['updated', 10006])
  }
})

const siteColumns = [
  ...['siteName', 'contacts', 'contactsPhone', 'customerServicePhone', 'businessWeekDay', 'businessStartTime'],
  ...['businessClosingTime', 'provinceCode', 'provinceName', 'cityCode', 'cityName', 'districtCode', 'districtName'],
].join(',')
const siteCells = (siteName: string) =>
  `${siteName},Wang Fang,13800000000,4000000000,Monday,08:00:00,22:00:00,360000,A,360100,B,360102,C`

test('a site is updated by the column id, one without is new, and another application’s is not found', async () => {
  const app = await newApplication(client)
  const other = await newApplication(client)
  const [mine, same] = [expectSuccess(await saveSiteOf(app)), expectSuccess(await saveSiteOf(app))]
  const theirs = expectSuccess(await saveSiteOf(other)).id
  const rows = [
    `${mine.id},${siteCells('Renamed')}`,
    `,${siteCells('New')}`,
    `${theirs},${siteCells('Taken over')}`,
    `${theirs + 1_000_000},${siteCells('Unknown')}`,
    `x,${siteCells('No id')}`,
    `,${siteCells('')}`,
  ]
  const file = csvOf(`id,${siteColumns}`, ...rows)
  const dry = await upserted(app, 'sites', file, undefined, { dryRun: 'true' })
  expect(outcomesOf(dry.lines)).toEqual(['updated', 'created', 30002, 30002, 10001, 10001])
  expect((await siteOf(app, mine.id)).siteName).toBe(mine.siteName)
  const told = await upserted(app, 'sites', file)
  expect(told).toMatchObject({ updated: 1, created: 1, existing: 0, refused: 4 })
  expect(outcomesOf(told.lines)).toEqual(['updated', 'created', 30002, 30002, 10001, 10001])
  expect(told.lines.map(({ id }) => id).slice(0, 4)).toEqual([mine.id, expect.any(Number), theirs, theirs + 1_000_000])
  expect(told.lines[4]?.errors?.map(({ field }) => field)).toEqual(['id'])
  expect(await siteOf(app, mine.id)).toEqual({
    ...mine,
    ...{ siteName: 'Renamed', contacts: 'Wang Fang', contactsPhone: '13800000000', customerServicePhone: '4000000000' },
    ...{ businessWeekDay: 'Monday', businessStartTime: '08:00:00', businessClosingTime: '22:00:00' },
    ...{ provinceCode: '360000', provinceName: 'A', cityCode: '360100', cityName: 'B' },
    ...{ districtCode: '360102', districtName: 'C' },
  })
  expect(await siteOf(app, told.lines[1]?.id as number)).toMatchObject({ siteName: 'New', appId: app.appId })
  expect(await siteOf(app, same.id)).toEqual(same)
  expect(await typesOf(app, { siteId: String(mine.id) })).toEqual(['site.created', 'site.updated'])
  expect((await siteOf(other, theirs)).siteName).not.toBe('Taken over')
})

test('a site’s rules are checked as an update checks them, and only those that the file names', async () => {
  const app = await newApplication(client)
  const [fast, slow] = [await newRule(app, 1), await newRule(app, 2)]
  const [one, two, three] = await Promise.all(
    [0, 1, 2].map(async () => expectSuccess(await saveSiteOf(app, { fastChargeBillRuleId: fast })).id),
  )
  const file = csvOf(
    'id,fastChargeBillRuleId,detailAddress',
    `${one},${slow},x`,
    `${two},,`,
    `${three},${slow + 1_000_000},x`,
  )
  for (const more of [{ dryRun: 'true' }, {}]) {
    expect(outcomesOf((await upserted(app, 'sites', file, undefined, more)).lines)).toEqual([40003, 'updated', 40002])
  }
  expect((await siteOf(app, two as number)).fastChargeBillRuleId).toBeNull()
  expect((await siteOf(app, one as number)).fastChargeBillRuleId).toBe(fast)
})

test('what the columns lack and what is unknown is told, and mode is create or upsert', async () => {
  const app = await newApplication(client)
  expectFaults(await sendUpsert(app, 'devices', 'deviceName,tag\n'), ['deviceNo'])
  expectFaults(await sendUpsert(app, 'devices', 'deviceNo,colour\n'), ['colour'])
  expectFaults(await sendUpsert(app, 'devices', 'deviceNo,status,status\n'), ['status'])
  // Without the column id all rows are new.
  expectFaults(await sendUpsert(app, 'sites', `${siteColumns.replace('siteName,', '')}\n`), ['siteName'])
  expectSuccess(await sendUpsert(app, 'sites', 'id,siteName\n', undefined, { dryRun: 'true' }))
  expectFaults(await sendUpsert(app, 'devices', 'deviceNo\n', undefined, { mode: 'replace' }), ['mode'])
})

/** Texts that a spreadsheet would change, or take for a formula. */
const hostile = ['=1+1', '+1', "'=x", "''@x", '-SUM(A1)', '@now', ' lead', 'trail ', 'a,"b"', '＝全角', "'plain", '007']

test.each(['csv', 'ndjson'])(
  'an export of devices in %s is sent back, whole or edited, but only the edits are written',
  async (format) => {
    const app = await newApplication(client)
    for (const [index, text] of hostile.entries()) {
      const members = {
        deviceName: text,
        tag: index % 2 === 0 ? text : null,
        detailAddress: index % 3 === 0 ? null : text,
      }
      expectSuccess(await createDeviceOf(app, { deviceNo: `=${newSerial('U')}`, ...members }))
    }
    const type = format === 'csv' ? 'text/csv' : ndjson
    const file = await exported(app, 'devices', format)
    const before = (await succeed('pageDevices', { pageSize: '100' }, app)).list
    const told = await upserted(app, 'devices', file, type)
    expect(told).toMatchObject({ rows: hostile.length, existing: hostile.length, updated: 0, created: 0, refused: 0 })
    expect(told.ignoredColumns.toSorted()).toEqual(
      [
        ...['appId', 'modelName', 'productPictureUrl', 'deviceType', 'deviceTypeName', 'status', 'onlineStatus'],
        ...['statusRemark', 'runStatus', 'version', 'deviceNumber', 'cityName', 'districtName', 'provinceName'],
        ...['batteryStatus', 'batteryEnergy', 'createTime', 'lastReportTime'],
      ].toSorted(),
    )
    expect((await succeed('pageDevices', { pageSize: '100' }, app)).list).toEqual(before)
    const edited = file.replaceAll('trail ', 'edited').replaceAll('360102', '360103')
    const second = await upserted(app, 'devices', edited, type)
    expect(second).toMatchObject({ updated: hostile.length, refused: 0 })
    const after = (await succeed('pageDevices', { pageSize: '100' }, app)).list
    expect(after.map(({ deviceName }) => deviceName)).toEqual(
      before.map(({ deviceName }) => deviceName.replace('trail ', 'edited')),
    )
    expect(after.every(({ deviceBattery }) => deviceBattery.districtCode === '360103')).toBe(true)
  },
)

test.each(['csv', 'ndjson'])('an export of sites in %s is sent back, and says what it ignored', async (format) => {
  const app = await newApplication(client)
  const fast = await newRule(app, 1)
  for (const text of hostile) {
    expectSuccess(await saveSiteOf(app, { siteName: text, fastChargeBillRuleId: fast, coordinates: '115.9, 28.7' }))
  }
  expectSuccess(await saveSiteOf(app, { siteName: 'bare', detailAddress: null }))
  const file = await exported(app, 'sites', format)
  const type = format === 'csv' ? 'text/csv' : ndjson
  const before = (await succeed('pageSites', { pageSize: '100' }, app)).list
  const told = await upserted(app, 'sites', file, type)
  expect(told).toMatchObject({ rows: hostile.length + 1, existing: hostile.length + 1, updated: 0, created: 0 })
  expect(told.ignoredColumns.toSorted()).toEqual(['appId', 'createTime', 'latitude', 'longitude'])
  expect((await succeed('pageSites', { pageSize: '100' }, app)).list).toEqual(before)
  const second = await upserted(app, 'sites', file.replace('bare', 'renamed'), type)
  expect(second).toMatchObject({ updated: 1, existing: hostile.length, created: 0 })
})

test.each(['csv', 'ndjson'])(
  'without mode an export in %s creates: what cannot be set is ignored and named',
  async (format) => {
    const [from, to] = [await newApplication(client), await newApplication(client)]
    expectSuccess(await saveSiteOf(from, { siteName: 'Moved' }))
    const type = format === 'csv' ? 'text/csv' : ndjson
    const file = (await exported(from, 'sites', format)).replaceAll(from.appId, '')
    const told = await upserted(to, 'sites', file, type, { mode: 'create' })
    expect(told).toMatchObject({ mode: 'create', created: 1, updated: 0 })
    expect(told.ignoredColumns.toSorted()).toEqual(['appId', 'createTime', 'id', 'latitude', 'longitude'])
    const [made] = (await succeed('pageSites', {}, to)).list
    expect(made).toMatchObject({ siteName: 'Moved', appId: to.appId })
  },
)

test('without mode a device with other content is refused as ever, and a quote before a formula stays', async () => {
  const app = await newApplication(client)
  const { deviceNo, deviceName } = expectSuccess(await createDeviceOf(app))
  const fresh = newSerial('U')
  const rows = [`${deviceNo},Other,360102,${place}`, `${fresh},'=1+1,360102,${place}`]
  const file = csvOf('deviceNo,deviceName,districtCode,coordinates', ...rows)
  const told = await upserted(app, 'devices', file, undefined, { mode: 'create' })
  expect(outcomesOf(told.lines)).toEqual([20017, 'created'])
  expect((await deviceOf(app, deviceNo)).deviceName).toBe(deviceName)
  expect((await deviceOf(app, fresh)).deviceName).toBe("'=1+1")
})

test('an upsert of the inventory counts entries with another model as updated', async () => {
  const [one, two] = [newSerial('M'), newSerial('M')]
  for (const serialPrefix of [one, two]) {
    await succeed('saveDeviceModel', { serialPrefix, modelName: serialPrefix })
  }
  const [known, fresh] = [newSerial('I'), newSerial('I')]
  await succeed('importDeviceInventory', { entries: [{ deviceNo: known, modelName: one }] })
  const file = csvOf('deviceNo,modelName', `${known},${two}`, `${fresh},${two}`, `${fresh},${two}`)
  const told = await upserted({ token: client.operatorKey }, 'inventory', file)
  expect(told).toMatchObject({ updated: 1, created: 1, existing: 1 })
  const { list } = await succeed('pageDeviceInventory', { deviceNo: known })
  expect(list[0]).toMatchObject({ modelName: two })
})
