import { describe, expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { createExport, type ExportKind } from '../../src/bulk/contract.ts'
import type { CallOptions } from '../kit/client.ts'
import type { OperationId } from '../kit/contracts.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'
import { newPlaced } from './placement-support.ts'
import { ahead, at, day, scheduled } from './price-support.ts'
import {
  bearer,
  client,
  createDeviceOf,
  deviceRow,
  expectFaults,
  expectRefusal,
  expectSuccess,
  exported,
  linesOf,
  newDevice,
  newRule,
  newSite,
  occupancyTerms,
  saveSiteOf,
  succeed,
  walk,
} from './support.ts'

// Exports (contract §8): all rows of a page operation, as a file.

const application = await newApplication(client)
const { appId, token } = application
const formula = '=HYPERLINK("x")'
await saveSiteOf(application, { siteName: formula, coordinates: '116.397451,39.908722', contactsPhone: '+86 10' })
await saveSiteOf(application, { siteName: 'Two "quotes", one comma', coordinates: null })
const serials = Array.from({ length: 620 }, () => newSerial('EXP'))
const devices = serials.map((deviceNo, index) => deviceRow({ deviceNo, tag: index % 2 === 0 ? 'even' : '-odd' }))
await succeed('createDevices', { appId, devices }, { token })
await newRule(application, 1)
await succeed('saveBillingRule', { appId, ruleName: '-x', ruleType: 3, ...occupancyTerms }, { token })

interface Listed {
  list: unknown[]
  nextCursor: string | null
}

/** Expects that an export has the rows of its page operation. */
async function expectListed(kind: ExportKind, page: OperationId, as: CallOptions, filters: object) {
  const listed = await walk(
    async (next) => expectSuccess(await client.call(page, { ...filters, pageSize: 100, ...next }, as)) as Listed,
  )
  // An export of devices also has the time of the last report: null here, because these devices never reported.
  const also = kind === 'devices' ? { lastReportTime: null } : {}
  const rows = linesOf(await exported(as, kind, 'ndjson', filters))
  expect<unknown>(rows).toEqual(listed.map((row) => ({ ...(row as object), ...also })))
  return rows.length
}

test.each([
  ['sites', 'pageSites', { siteName: 'hyper' }],
  ['devices', 'pageDevices', { tag: 'even' }],
  ['events', 'pageEvents', { type: 'site.*,billingRule.created', order: 'desc' }],
  ['deliveries', 'pageDeliveries', { status: 3 }],
] as const)('%s are the rows in their page operation, with its filters', async (kind, page, filters) => {
  await expectListed(kind, page, application, {})
  await expectListed(kind, page, application, filters)
})

test('placements, price changes and refusals are the rows in theirs, in the language that is asked for', async () => {
  const app = await newApplication(client)
  const [site, elsewhere] = [await newSite(app), await newSite(app)]
  for (const at of [site, site, elsewhere]) await newPlaced(app, at)
  const [rule, other] = [await newRule(app, 1), await newRule(app, 1)]
  for (const billingRuleId of [rule, other]) {
    await scheduled(app, { effectiveTime: ahead(day), billingRuleId, periods: at('2') })
  }
  const [refused, another] = [newSerial(), newSerial()]
  for (const deviceNo of [refused, another]) await createDeviceOf(app, { deviceNo, districtCode: '' })
  const inChinese = { token: app.token, headers: { 'accept-language': 'zh' } }
  const refusals = async (query: object) => (await succeed('pageRefusals', query, inChinese)).list
  expect(await becomesTrue(async () => (await refusals({})).length === 2)).toBe(true)
  expect(await expectListed('placements', 'pagePlacements', app, { siteId: site })).toBe(2)
  expect(await expectListed('priceChanges', 'pagePriceChanges', app, { billingRuleId: rule })).toBe(1)
  expect(await expectListed('refusals', 'pageRefusals', inChinese, { deviceNo: refused })).toBe(1)
  for (const [kind, head] of [
    ['placements', 'deviceNo,appId,siteId,siteName,laneType,laneName,placedTime,placedBy'],
    ['priceChanges', 'id,appId,status,effectiveTime'],
    ['refusals', 'time,requestId,appId,operation,code,name,errors,subject,actor'],
  ] as const) {
    const csv = await exported(inChinese, kind, 'csv')
    expect(csv.replace('\ufeff', '')).toStartWith(head)
    if (kind === 'refusals') expect(csv).toMatch(/必须/)
  }
})

/** The rows of CSV, by column. */
const rowsOf = (text: string): Record<string, string>[] => parse(text, { columns: true, bom: true })

test('CSV has a byte-order mark for spreadsheets, its columns by name, and no formula', async () => {
  const { text, headers } = await client.call('createExport', { kind: 'sites', format: 'csv' }, application)
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(headers.get('content-disposition')).toMatch(/^attachment; filename="sites-\d{8}-\d{6}\.csv"$/)
  const rows = rowsOf(text)
  const raw = await fetch(`${client.url}${createExport.path}?kind=sites`, { headers: bearer(token) })
  expect([...new Uint8Array(await raw.arrayBuffer()).slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  expect(rows.map((row) => [row.siteName, row.contactsPhone?.slice(0, 2), row.longitude, row.appId])).toEqual([
    ['Two "quotes", one comma', expect.any(String), '', appId],
    [`'${formula}`, "'+", '116.397451', appId],
  ])
  const listed = rowsOf(await exported(application, 'devices', 'csv'))
  expect(listed.map(({ deviceNo }) => deviceNo).sort()).toEqual(serials.toSorted())
  const cells = { coordinates: expect.stringContaining(','), districtCode: '360102', batteryStatus: '' }
  expect(listed[0]).toMatchObject(cells)
  expect(new Set(listed.map((row) => row.tag))).toEqual(new Set(['even', "'-odd"]))
  const rules = rowsOf(await exported(application, 'billingRules', 'csv'))
  expect(rules.map(({ ruleName, periods }) => [ruleName, periods?.slice(0, 14)])).toEqual([
    ["'-x", ''],
    ['rule', '[{"startTime":'],
  ])
})

test('full-width formulas and those behind blanks are defused, and coordinates are not', async () => {
  const application = await newApplication(client)
  const tags = ['＝1+1', '＋1', '－1', '＠SUM(1)', ' =1', "'=1", '-5', 'fine']
  const devices = tags.map((tag) => deviceRow({ tag, coordinates: '-73.9,40.7' }))
  await succeed('createDevices', { appId: application.appId, devices }, application)
  const rows = rowsOf(await exported(application, 'devices', 'csv'))
  const written = tags.map((tag) => (tag === '-5' || tag === 'fine' ? tag : `'${tag}`))
  expect(rows.map(({ tag }) => tag).sort()).toEqual(written.sort())
  expect(new Set(rows.map(({ coordinates }) => coordinates))).toEqual(new Set(['-73.9,40.7']))
})

test('GeoJSON leaves coordinates of neighbouring countries as they are', async () => {
  // Seoul, Hanoi, Ulaanbaatar, Taipei.
  const at = ['126.978,37.5665', '105.8342,21.0278', '106.9057,47.8864', '121.5654,25.033']
  const app = await newApplication(client)
  for (const coordinates of at) await newDevice(app, { coordinates })
  const { features } = JSON.parse(await exported(app, 'devices', 'geojson'))
  const places = features.map((feature: { geometry: { coordinates: number[] } }) => feature.geometry.coordinates.join())
  expect(places.toSorted()).toEqual(at.toSorted())
})

test('GeoJSON is in WGS 84, with the coordinates as they were sent beside it', async () => {
  const { text, headers } = await client.call('createExport', { kind: 'sites', format: 'geojson' }, application)
  expect(headers.get('content-type')).toBe('application/geo+json')
  const { features } = JSON.parse(text)
  expect(features.map(({ geometry }: { geometry: unknown }) => geometry)).toEqual([
    null,
    { type: 'Point', coordinates: [expect.closeTo(116.391209, 4), expect.closeTo(39.907319, 4)] },
  ])
  expect(features[1].properties.coordinates).toBe('116.397451,39.908722')
  const [device] = JSON.parse(await exported(application, 'devices', 'geojson')).features
  expect(device.properties.coordinates).toBe(device.properties.deviceBattery.coordinates)
  expect(JSON.parse(await exported(application, 'devices', 'geojson', { tag: 'no such tag' }))).toEqual({
    type: 'FeatureCollection',
    features: [],
  })
})

test('filters of another kind, and formats that a kind has not, are refused', async () => {
  for (const [kind, member, value] of [
    ['sites', 'deviceNo', 'x'],
    ['devices', 'status', 3],
    ['devices', 'pageNo', 2],
    ['events', 'type', 'no.such'],
    ['events', 'format', 'geojson'],
  ] as const) {
    expectFaults(await client.call('createExport', { kind, [member]: value }, application), [member])
  }
})

const operator = { token: client.operatorKey }
const auditOf = async (filters: object): Promise<unknown[]> =>
  linesOf(await exported(operator, 'audit', 'ndjson', filters))
const listed = async (filters: object) => (await succeed('pageAudit', { ...filters, pageSize: 100 })).list

describe('the export of the audit trail', () => {
  test('has the rows of its page, with each of its filters', async () => {
    const { id } = await newPerson(client, 'viewer')
    await client.operate('updateOperator', { id, role: 'operator' })
    await client.operate('updateApplication', { appId, appName: newSerial('=name') })
    const ofPerson = { subject: String(id), type: 'operator.*' }
    expect(await auditOf(ofPerson)).toHaveLength(2)
    const [{ id: last = 0 } = {}] = await listed(ofPerson)
    for (const filters of [
      ofPerson,
      { ...ofPerson, type: 'operator.updated' },
      { ...ofPerson, beforeId: last },
      { appId },
      { appId, actor: 'operator', timeFrom: '2020-01-01 00:00:00' },
      { appId, timeTo: '2020-01-01 00:00:00' },
      { actorId: id },
    ]) {
      expect(await auditOf(filters)).toEqual(await listed(filters))
    }
  })

  test('is longer than a page', async () => {
    const reader = await newPerson(client, 'admin')
    const headers = await signIn(client, reader)
    const devices = Array.from({ length: 510 }, () => deviceRow())
    await succeed('createDevices', { appId, devices }, { headers })
    const rows = (await auditOf({ actorId: reader.id, type: 'device.bound' })) as { id: number; subject: string }[]
    expect(rows.map(({ subject }) => subject).sort()).toEqual(devices.map(({ deviceNo }) => deviceNo).sort())
    expect(rows.map(({ id }) => id)).toEqual(rows.map(({ id }) => id).toSorted((one, other) => other - one))
  })

  test('is CSV with the record in one cell, and no formula', async () => {
    const name = newSerial('=1+1')
    const { id } = await succeed('createOperator', { name, role: 'viewer' })
    const [row] = rowsOf(await exported(operator, 'audit', 'csv', { subject: String(id) }))
    expect(Object.keys(row ?? {})).toEqual([
      ...['id', 'type', 'appId', 'time', 'occurredAt', 'actor', 'data', 'actorId', 'subject', 'address'],
    ])
    expect(row).toMatchObject({ type: 'operator.created', subject: String(id), appId: '' })
    expect(JSON.parse(row?.data ?? '')).toMatchObject({ id, name })
  })

  test('refuses filters of other kinds, unknown types and GeoJSON', async () => {
    const asked = (query: object) => client.operate('createExport', { kind: 'audit', ...query })
    expectFaults(await asked({ deviceNo: 'D1' }), ['deviceNo'])
    expectFaults(await asked({ type: 'nothing.happened' }), ['type'])
    expectFaults(await asked({ format: 'geojson' }), ['format'])
  })

  test('is answered to who may read the audit trail, and refused to others before its filters are looked at', async () => {
    for (const role of ['admin', 'operator', 'viewer']) {
      const headers = await signIn(client, await newPerson(client, role))
      expect((await client.call('createExport', { kind: 'audit', actorId: 1 }, { headers })).status).toBe(200)
    }
    const headers = await signIn(client, await newPerson(client, 'developer', [appId]))
    for (const filters of [{}, { appId }, { deviceNo: 'D1' }]) {
      const query = { kind: 'audit', ...filters }
      expectRefusal(await client.call('createExport', query, { headers }), 'notPermitted')
      expectRefusal(await client.call('createExport', query, application), 'notPermitted')
    }
  })
})
