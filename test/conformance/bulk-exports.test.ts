import { expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { createExport, type ExportKind } from '../../src/bulk/contract.ts'
import { pageDeliveries } from '../../src/deliveries/contract.ts'
import { pageDevices } from '../../src/devices/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { pageSites } from '../../src/sites/contract.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import { client, expectFaults, expectSuccess, newRule, occupancyTerms, saveSiteOf } from './support.ts'

// Exports (contract §8): all rows of a page operation, as a file.

const application = await newApplication(client)
const { appId, token } = application
const formula = '=HYPERLINK("x")'
await saveSiteOf(application, { siteName: formula, coordinates: '116.397451,39.908722', contactsPhone: '+86 10' })
await saveSiteOf(application, { siteName: 'Two "quotes", one comma', coordinates: null })
const serials = Array.from({ length: 620 }, () => newSerial('EXP'))
const devices = serials.map((deviceNo, index) => {
  const { appId: _, ...device } = deviceBody(appId, { deviceNo, tag: index % 2 === 0 ? 'even' : '-odd' })
  return device
})
expectSuccess(await client.call('createDevices', { appId, devices }, { token }))
await newRule(application, 1)
expectSuccess(
  await client.call('saveBillingRule', { appId, ruleName: '-x', ruleType: 3, ...occupancyTerms }, { token }),
)

/** Exports records of the application and returns the file's text in this format, and its type. */
async function exported(kind: ExportKind, format: string, filters: object = {}) {
  const { status, text, headers } = await client.call('createExport', { kind, format, ...filters }, { token })
  expect(status).toBe(200)
  expect(headers.get('content-disposition')).toMatch(
    new RegExp(`^attachment; filename="${kind}-\\d{8}-\\d{6}\\.${format}"$`),
  )
  return { text, type: headers.get('content-type') }
}

const rowsOf = async (kind: ExportKind, filters: object = {}) => {
  const { text, type } = await exported(kind, 'ndjson', filters)
  expect(type).toBe('application/x-ndjson')
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}

test.each([
  ['sites', pageSites, { siteName: 'hyper' }],
  ['devices', pageDevices, { tag: 'even' }],
  ['events', pageEvents, { type: 'site.*,billingRule.created', order: 'desc' }],
  ['deliveries', pageDeliveries, { status: 3 }],
] as const)('%s are the rows in their page operation, with its filters', async (kind, page, filters) => {
  for (const asked of [{}, filters]) {
    const listed: unknown[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = { ...asked, pageSize: 100, ...(cursor !== undefined && { cursor }) }
      const answer = await client.call(page as never, query, { token })
      const { list, nextCursor } = expectSuccess(answer) as { list: unknown[]; nextCursor: string | null }
      listed.push(...list)
      cursor = nextCursor
    }
    // An export of devices also has the time of the last report: null here, because these devices never reported.
    const also = kind === 'devices' ? { lastReportTime: null } : {}
    expect(await rowsOf(kind, asked)).toEqual(listed.map((row) => ({ ...(row as object), ...also })))
  }
})

test('CSV has a mark for spreadsheets, its columns by name, and no formula', async () => {
  const { text, type } = await exported('sites', 'csv')
  expect(type).toBe('text/csv; charset=utf-8')
  const rows: Record<string, string>[] = parse(text, { columns: true })
  expect(rows.map((row) => [row.siteName, row.contactsPhone?.slice(0, 2), row.longitude, row.appId])).toEqual([
    ['Two "quotes", one comma', expect.any(String), '', appId],
    [`'${formula}`, "'+", '116.397451', appId],
  ])
  const listed: Record<string, string>[] = parse((await exported('devices', 'csv')).text, { columns: true })
  expect(listed.map(({ deviceNo }) => deviceNo).sort()).toEqual(serials.toSorted())
  expect(listed[0]).toMatchObject({
    coordinates: expect.stringContaining(','),
    districtCode: '360102',
    batteryStatus: '',
  })
  expect(new Set(listed.map((row) => row.tag))).toEqual(new Set(['even', "'-odd"]))
  const rules: Record<string, string>[] = parse((await exported('billingRules', 'csv')).text, { columns: true })
  expect(rules.map(({ ruleName, periods }) => [ruleName, periods?.slice(0, 14)])).toEqual([
    ["'-x", ''],
    ['rule', '[{"startTime":'],
  ])
})

test('full-width formulas and those behind blanks are defused, and coordinates are not', async () => {
  const application = await newApplication(client)
  const tags = ['＝1+1', '＋1', '－1', '＠SUM(1)', ' =1', "'=1", '-5', 'fine']
  const devices = tags.map((tag) => {
    const { appId: _, ...device } = deviceBody('', { tag, coordinates: '-73.9,40.7' })
    return device
  })
  expectSuccess(await client.call('createDevices', { appId: application.appId, devices }, { token: application.token }))
  const { text } = await client.call('createExport', { kind: 'devices', format: 'csv' }, { token: application.token })
  const rows: Record<string, string>[] = parse(text, { columns: true, bom: true })
  const written = tags.map((tag) => (tag === '-5' || tag === 'fine' ? tag : `'${tag}`))
  expect(rows.map(({ tag }) => tag).sort()).toEqual(written.sort())
  expect(new Set(rows.map(({ coordinates }) => coordinates))).toEqual(new Set(['-73.9,40.7']))
})

test('it begins with a byte-order mark', async () => {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${client.url}${createExport.path}?kind=deliveries`, { headers })
  expect([...new Uint8Array(await response.arrayBuffer()).slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
})

test('GeoJSON leaves coordinates of neighbouring countries as they are', async () => {
  const at = {
    Seoul: '126.978,37.5665',
    Hanoi: '105.8342,21.0278',
    Ulaanbaatar: '106.9057,47.8864',
    Taipei: '121.5654,25.033',
  }
  const app = await newApplication(client)
  for (const [deviceName, coordinates] of Object.entries(at)) {
    expectSuccess(
      await client.call('createDevice', deviceBody(app.appId, { deviceName, coordinates }), { token: app.token }),
    )
  }
  const headers = { authorization: `Bearer ${app.token}` }
  const answer = await fetch(`${client.url}${createExport.path}?kind=devices&format=geojson`, { headers })
  const { features } = (await answer.json()) as { features: { geometry: { coordinates: number[] } }[] }
  expect(features.map(({ geometry }) => geometry.coordinates.join(',')).toSorted()).toEqual(
    Object.values(at).toSorted(),
  )
})

test('GeoJSON is in WGS 84, with the coordinates as they were sent beside it', async () => {
  const { text, type } = await exported('sites', 'geojson')
  expect(type).toBe('application/geo+json')
  const { features } = JSON.parse(text)
  expect(features.map(({ geometry }: { geometry: unknown }) => geometry)).toEqual([
    null,
    { type: 'Point', coordinates: [expect.closeTo(116.391209, 4), expect.closeTo(39.907319, 4)] },
  ])
  expect(features[1].properties.coordinates).toBe('116.397451,39.908722')
  const [device] = JSON.parse((await exported('devices', 'geojson')).text).features
  expect(device.properties.coordinates).toBe(device.properties.deviceBattery.coordinates)
  expect(JSON.parse((await exported('devices', 'geojson', { tag: 'no such tag' })).text)).toEqual({
    type: 'FeatureCollection',
    features: [],
  })
})

test('filters of another kind, and formats that a kind has not, are refused', async () => {
  const refused = (query: object) => client.call('createExport', query, { token })
  expectFaults(await refused({ kind: 'sites', deviceNo: 'x' }), ['deviceNo'])
  expectFaults(await refused({ kind: 'devices', status: 3 }), ['status'])
  expectFaults(await refused({ kind: 'events', type: 'no.such' }), ['type'])
  expectFaults(await refused({ kind: 'events', format: 'geojson' }), ['format'])
  expectFaults(await refused({ kind: 'devices', pageNo: 2 }), ['pageNo'])
})
