import { expect, test } from 'bun:test'
import { newApplication, newSerial, type TestApplication, takeOffline } from '../kit/records.ts'
import {
  columns,
  csvOf,
  fieldsOf,
  imported,
  ndjson,
  ndjsonOf,
  outcomesOf,
  resultOf,
  rowOf,
  send,
  upserted,
} from './import-support.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectSuccess,
  exported,
  feedOf,
  newDevice,
  newRule,
  newSite,
  saveSiteOf,
  succeed,
  typesOf,
} from './support.ts'

// Imports with mode=upsert, and exports that are edited and sent back (contract §8).

const sendUpsert = (app: TestApplication, kind: string, file: string, more: object = {}) =>
  send(app, kind, file, undefined, { mode: 'upsert', ...more })

const deviceOf = async (app: TestApplication, deviceNo: string) => await succeed('getDevice', { deviceNo }, app)
const siteOf = async (app: TestApplication, id: number) => await succeed('getSite', { id }, app)
const storyOf = async (app: TestApplication, query: object) => typesOf(await feedOf(app, query))
const sitesOf = async (app: TestApplication) => (await succeed('pageSites', { pageSize: '100' }, app)).list
const devicesOf = async (app: TestApplication) => (await succeed('pageDevices', { pageSize: '100' }, app)).list
const newDevices = (app: TestApplication, length: number, members: object) =>
  Promise.all(Array.from({ length }, () => newDevice(app, { ...members })))
/** Without effect, and with it: both tell the same. */
const twice = [{ dryRun: 'true' }, {}]

test('a device that is there with other content is updated, one with the same exists, and others are created', async () => {
  const app = await newApplication(client)
  const changed = await newDevice(app, { tag: 'lane=1', deviceName: 'Old' })
  const same = await newDevice(app, { deviceName: 'Gate' })
  const [fresh, elsewhere] = [newSerial('U'), await newDevice(await newApplication(client))]
  const file = csvOf(columns, ...[changed, same, fresh, elsewhere].map((serial) => rowOf(serial)))
  const told = await upserted(app, 'devices', file)
  expect(told).toMatchObject({ status: 3, mode: 'upsert', rows: 4, created: 1, existing: 1, refused: 1, updated: 1 })
  expect(told.ignoredColumns).toEqual([])
  expect(outcomesOf(told.lines)).toEqual(['updated', 'existing', 'created', 20013])
  expect(await deviceOf(app, changed)).toMatchObject({ deviceName: 'Gate', tag: 'lane=1' })
  expect(await storyOf(app, { deviceNo: same })).toEqual(['device.bound'])
  expect(await storyOf(app, { deviceNo: fresh })).toEqual(['device.bound'])
  // The event is that of a single update, with who sent the file.
  const [bound, updated, ...others] = await feedOf(app, { deviceNo: changed })
  expect([bound?.type, updated?.type, others]).toEqual(['device.bound', 'device.updated', []])
  expect(updated).toMatchObject({ actor: `application:${app.appId}`, data: await deviceOf(app, changed) })
  expect(await resultOf(told.id, { outcome: 'updated' })).toHaveLength(1)
  const again = await upserted(app, 'devices', file)
  expect(again).toMatchObject({ created: 0, updated: 0, existing: 3, refused: 1 })
})

test('a column that the file has not stays, an empty cell clears an optional one, and is faulty in a required one', async () => {
  const app = await newApplication(client)
  const members = { tag: 'x', detailAddress: 'No. 1', provinceCode: '110000', deviceName: 'Old' }
  const [one = '', two = '', three = ''] = await newDevices(app, 3, members)
  const rows = [`${one},,Renamed,`, `${two},y,,110000`, `${three},x,Old,110000`]
  const told = await upserted(app, 'devices', csvOf('deviceNo,tag,deviceName,provinceCode', ...rows))
  expect(outcomesOf(told.lines)).toEqual(['updated', 10001, 'existing'])
  expect(told.lines[1]).toMatchObject({ deviceNo: two, errors: [{ field: 'deviceName' }] })
  const cleared = await deviceOf(app, one)
  expect(cleared).toMatchObject({ tag: null, deviceName: 'Renamed' })
  expect(cleared.deviceBattery).toMatchObject({ detailAddress: 'No. 1', provinceCode: '360000' })
  expect(await deviceOf(app, two)).toMatchObject({ tag: 'x', deviceName: 'Old' })
})

test('in NDJSON an absent member stays, null and an empty text clear an optional one, and null in a required one is faulty', async () => {
  const app = await newApplication(client)
  const members = { tag: 'x', detailAddress: 'No. 1' }
  const [one = '', two = '', three = ''] = await newDevices(app, 3, members)
  const file = ndjsonOf(
    { deviceNo: one, tag: null, detailAddress: '' },
    { deviceNo: two, deviceName: null },
    { deviceNo: three },
    { deviceNo: three, coordinates: '28.6,115.9', districtCode: '' },
    { tag: 'no serial' },
    ['no row'],
  )
  const told = await upserted(app, 'devices', file, ndjson)
  expect(outcomesOf(told.lines)).toEqual(['updated', 10001, 'existing', 10001, 10001, 10001])
  expect(fieldsOf(told.lines[3])).toEqual(['coordinates', 'districtCode'])
  const device = await deviceOf(app, one)
  expect([device.tag, device.deviceBattery.detailAddress]).toEqual([null, null])
})

test('a new row needs all that a create needs, and says what it lacks', async () => {
  const app = await newApplication(client)
  const fresh = newSerial('U')
  const told = await upserted(app, 'devices', csvOf('deviceNo,tag', `${fresh},x`))
  expect(fieldsOf(told.lines[0])).toEqual(['coordinates', 'deviceName', 'districtCode'])
  expect(await storyOf(app, { deviceNo: fresh })).toEqual([])
  const second = await upserted(app, 'devices', csvOf(columns, rowOf(fresh, 'Gate', ''), rowOf(fresh)))
  expect(outcomesOf(second.lines)).toEqual([10001, 'created'])
})

test('rows about one device count in their order, also of one that the file creates', async () => {
  const app = await newApplication(client)
  const [fresh, there] = [newSerial('U'), await newDevice(app, { tag: 'a' })]
  const row = (serial: string, tag: string) => `${rowOf(serial)},${tag}`
  const rows = [row(fresh, 'a'), row(there, 'b'), row(fresh, 'b'), row(fresh, 'b'), row(there, 'c'), row(fresh, 'c')]
  for (const more of twice) {
    const told = await upserted(app, 'devices', csvOf(`${columns},tag`, ...rows), undefined, more)
    expect(outcomesOf(told.lines)).toEqual(['created', 'updated', 'updated', 'existing', 'updated', 'updated'])
    expect(told).toMatchObject({ created: 1, updated: 4, existing: 1, refused: 0 })
  }
  expect((await deviceOf(app, fresh)).tag).toBe('c')
  expect(await storyOf(app, { deviceNo: fresh })).toEqual(['device.bound', 'device.updated', 'device.updated'])
})

test('an offline application updates, and creates nothing', async () => {
  const app = await newApplication(client)
  const there = await newDevice(app, { deviceName: 'Old' })
  await takeOffline(client, app.appId)
  const file = csvOf(columns, rowOf(there), rowOf(newSerial('U')))
  for (const more of twice) {
    expect(outcomesOf((await upserted(app, 'devices', file, undefined, more)).lines)).toEqual(['updated', 10006])
  }
})

test('a file that an offline application sends again finds what is there, in either mode, and creates nothing', async () => {
  const app = await newApplication(client)
  const [there, other, fresh] = [newSerial('U'), newSerial('U'), newSerial('U')]
  await imported(app, 'devices', csvOf(columns, rowOf(there), rowOf(other, 'Other')))
  await takeOffline(client, app.appId)
  const file = csvOf(columns, ...[there, other, fresh, fresh, there].map((serial) => rowOf(serial)))
  for (const dryRun of ['true', 'false']) {
    const told = await imported(app, 'devices', file, undefined, { dryRun })
    expect(outcomesOf(told.lines)).toEqual(['existing', 10006, 10006, 10006, 'existing'])
  }
  expect(outcomesOf((await upserted(app, 'devices', csvOf(columns, rowOf(there)))).lines)).toEqual(['existing'])
})

const cells = {
  ...{ contacts: 'Wang Fang', contactsPhone: '13800000000', customerServicePhone: '4000000000' },
  ...{ businessWeekDay: 'Monday', businessStartTime: '08:00:00', businessClosingTime: '22:00:00' },
  ...{ provinceCode: '360000', provinceName: 'A', cityCode: '360100', cityName: 'B' },
  ...{ districtCode: '360102', districtName: 'C' },
}
const siteColumns = ['siteName', ...Object.keys(cells)].join()
const siteCells = (siteName: string) => [siteName, ...Object.values(cells)].join()

test('a site is updated by the column id, one without is new, and another application’s is not found', async () => {
  const [app, other] = [await newApplication(client), await newApplication(client)]
  const [mine, same] = [expectSuccess(await saveSiteOf(app)), expectSuccess(await saveSiteOf(app))]
  const theirs = await newSite(other)
  const unknown = theirs + 1_000_000
  const rows = [
    ...[`${mine.id},${siteCells('Renamed')}`, `,${siteCells('New')}`, `${theirs},${siteCells('Taken over')}`],
    ...[`${unknown},${siteCells('Unknown')}`, `x,${siteCells('No id')}`, `,${siteCells('')}`],
  ]
  const file = csvOf(`id,${siteColumns}`, ...rows)
  const outcomes = ['updated', 'created', 30002, 30002, 10001, 10001]
  const dry = await upserted(app, 'sites', file, undefined, { dryRun: 'true' })
  expect(outcomesOf(dry.lines)).toEqual(outcomes)
  expect((await siteOf(app, mine.id)).siteName).toBe(mine.siteName)
  const told = await upserted(app, 'sites', file)
  expect(told).toMatchObject({ updated: 1, created: 1, existing: 0, refused: 4 })
  expect(outcomesOf(told.lines)).toEqual(outcomes)
  expect(told.lines.map(({ id }) => id).slice(0, 4)).toEqual([mine.id, expect.any(Number), theirs, unknown])
  expect(fieldsOf(told.lines[4])).toEqual(['id'])
  expect(await siteOf(app, mine.id)).toEqual({ ...mine, ...cells, siteName: 'Renamed' })
  expect(await siteOf(app, told.lines[1]?.id as number)).toMatchObject({ siteName: 'New', appId: app.appId })
  expect(await siteOf(app, same.id)).toEqual(same)
  expect(await storyOf(app, { siteId: String(mine.id) })).toEqual(['site.created', 'site.updated'])
  expect((await siteOf(other, theirs)).siteName).not.toBe('Taken over')
})

test('a site’s rules are checked as an update checks them, and only those that the file names', async () => {
  const app = await newApplication(client)
  const [fast, slow] = [await newRule(app, 1), await newRule(app, 2)]
  const named = { fastChargeBillRuleId: fast }
  const [one, two, three] = [await newSite(app, named), await newSite(app, named), await newSite(app, named)]
  const rows = [`${one},${slow},x`, `${two},,`, `${three},${slow + 1_000_000},x`]
  const file = csvOf('id,fastChargeBillRuleId,detailAddress', ...rows)
  for (const more of twice) {
    expect(outcomesOf((await upserted(app, 'sites', file, undefined, more)).lines)).toEqual([40003, 'updated', 40002])
  }
  expect((await siteOf(app, two)).fastChargeBillRuleId).toBeNull()
  expect((await siteOf(app, one)).fastChargeBillRuleId).toBe(fast)
})

test('what the columns lack and what is unknown is told, and mode is create or upsert', async () => {
  const app = await newApplication(client)
  for (const [kind, head, faulty, more] of [
    ['devices', 'deviceName,tag', 'deviceNo', {}],
    ['devices', 'deviceNo,colour', 'colour', {}],
    ['devices', 'deviceNo,status,status', 'status', {}],
    ['devices', 'deviceNo', 'mode', { mode: 'replace' }],
    // Without the column id all rows are new.
    ['sites', siteColumns.replace('siteName,', ''), 'siteName', {}],
  ] as const) {
    expectFaults(await sendUpsert(app, kind, `${head}\n`, more), [faulty])
  }
  expectSuccess(await sendUpsert(app, 'sites', 'id,siteName\n', { dryRun: 'true' }))
})

/** Texts that a spreadsheet would change, or take for a formula. */
const hostile = ['=1+1', '+1', "'=x", "''@x", '-SUM(A1)', '@now', ' lead', 'trail ', 'a,"b"', '＝全角', "'plain", '007']
const derived = [
  ...['appId', 'modelName', 'productPictureUrl', 'deviceType', 'deviceTypeName', 'status', 'onlineStatus'],
  ...['statusRemark', 'runStatus', 'version', 'deviceNumber', 'cityName', 'districtName', 'provinceName'],
  ...['batteryStatus', 'batteryEnergy', 'createTime', 'lastReportTime'],
]

const formats = [
  ['csv', 'text/csv'],
  ['ndjson', ndjson],
] as const

test.each(formats)(
  'an export of devices in %s is sent back, whole or edited, but only the edits are written',
  async (format, type) => {
    const app = await newApplication(client)
    for (const [index, text] of hostile.entries()) {
      const [tag, detailAddress] = [index % 2 === 0 ? text : null, index % 3 === 0 ? null : text]
      await newDevice(app, { deviceNo: `=${newSerial('U')}`, deviceName: text, tag, detailAddress })
    }
    const file = await exported(app, 'devices', format)
    const before = await devicesOf(app)
    const told = await upserted(app, 'devices', file, type)
    expect(told).toMatchObject({ rows: hostile.length, existing: hostile.length, updated: 0, created: 0, refused: 0 })
    expect(told.ignoredColumns.toSorted()).toEqual(derived.toSorted())
    expect(await devicesOf(app)).toEqual(before)
    const edited = file.replaceAll('trail ', 'edited').replaceAll('360102', '360103')
    const second = await upserted(app, 'devices', edited, type)
    expect(second).toMatchObject({ updated: hostile.length, refused: 0 })
    const after = await devicesOf(app)
    const names = before.map(({ deviceName }) => deviceName.replace('trail ', 'edited'))
    expect(after.map(({ deviceName }) => deviceName)).toEqual(names)
    expect(after.every(({ deviceBattery }) => deviceBattery.districtCode === '360103')).toBe(true)
  },
)

test.each(formats)('an export of sites in %s is sent back, and says what it ignored', async (format, type) => {
  const app = await newApplication(client)
  const fast = await newRule(app, 1)
  for (const siteName of hostile) {
    await newSite(app, { siteName, fastChargeBillRuleId: fast, coordinates: '115.9, 28.7' })
  }
  await newSite(app, { siteName: 'bare', detailAddress: null })
  const file = await exported(app, 'sites', format)
  const before = await sitesOf(app)
  const told = await upserted(app, 'sites', file, type)
  expect(told).toMatchObject({ rows: hostile.length + 1, existing: hostile.length + 1, updated: 0, created: 0 })
  expect(told.ignoredColumns.toSorted()).toEqual(['appId', 'createTime', 'latitude', 'longitude'])
  expect(await sitesOf(app)).toEqual(before)
  const second = await upserted(app, 'sites', file.replace('bare', 'renamed'), type)
  expect(second).toMatchObject({ updated: 1, existing: hostile.length, created: 0 })
})

test('without mode a device with other content is refused as ever, and a quote before a formula stays', async () => {
  const app = await newApplication(client)
  const { deviceNo, deviceName } = expectSuccess(await createDeviceOf(app))
  const fresh = newSerial('U')
  const file = csvOf(columns, rowOf(deviceNo, 'Other'), rowOf(fresh, "'=1+1"))
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
