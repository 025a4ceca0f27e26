import { expect, test } from 'bun:test'
import { cancelImport, getImport, getImportResult, type ImportRecord } from '../../src/bulk/contract.ts'
import { limits } from '../../src/vocabulary/limits.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { ended, imported, ndjson, resultOf, send } from './import-support.ts'
import {
  client,
  createDeviceOf,
  deviceRow,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  siteRow,
  succeed,
} from './support.ts'

// Imports (contract §8): which files are accepted, and the outcome of their rows.

const columns = 'deviceNo,deviceName,districtCode,coordinates'
const rowOf = (deviceNo: string, deviceName = 'Gate') => `${deviceNo},${deviceName},360102,"115.899918,28.676493"`
const csvOf = (...rows: string[]) => [columns, ...rows].join('\r\n')
const nameOf = async ({ token }: TestApplication, deviceNo: string) =>
  (await succeed('getDevice', { deviceNo }, { token })).deviceName

test('a CSV file makes devices, each row by itself, and can be sent twice', async () => {
  const application = await newApplication(client)
  const [one = '', two = '', three = '', elsewhere = ''] = Array.from({ length: 4 }, () => newSerial('CSV'))
  await createDeviceOf(await newApplication(client), { deviceNo: elsewhere })
  const file = csvOf(rowOf(one), rowOf(two), rowOf('no serial'), rowOf(elsewhere), rowOf(one), rowOf(two, 'x'), three)
  const first = await imported(application, 'devices', file)
  expect(first).toMatchObject({
    status: 3,
    rows: 7,
    created: 2,
    existing: 1,
    refused: 4,
    dryRun: false,
    kind: 'devices',
  })
  expect(first).toMatchObject({ appId: application.appId, bytes: file.length, bytesRead: file.length, format: 'csv' })
  expect(first.lines.map(({ line, code, outcome }) => [line, code, outcome])).toEqual([
    [2, 0, 'created'],
    [3, 0, 'created'],
    [4, 10001, 'refused'],
    [5, 20013, 'refused'],
    [6, 0, 'existing'],
    [7, 20017, 'refused'],
    [8, 10001, 'refused'],
  ])
  expect(first.lines.map(({ deviceNo }) => deviceNo)).toEqual([
    one,
    two,
    'no serial',
    elsewhere,
    one,
    two,
    null as never,
  ])
  expect(first.lines[2]?.errors?.map(({ field }) => field)).toEqual(['deviceNo'])
  expect(first.lines[6]?.errors?.map(({ field }) => field)).toEqual(['row'])
  const again = await imported(application, 'devices', file)
  expect(again).toMatchObject({ status: 3, created: 0, existing: 3, refused: 4 })
  const filtered = await resultOf(again.id, { outcome: 'refused' })
  expect(filtered.map(({ line }) => line)).toEqual([4, 5, 7, 8])
})

test('cells are RFC 4180’s: quotes, commas, line breaks, any order of columns, empty ones not given', async () => {
  const application = await newApplication(client)
  const [plain, quoted, broken] = [newSerial('RFC'), newSerial('RFC'), newSerial('RFC')]
  const file = [
    '\ufeffcoordinates,districtCode,tag,deviceName,deviceNo',
    `"115.9,28.7",360102,,"The ""east"", gate",${quoted}`,
    '',
    `"115.9,28.7",360102,,"two\nlines",${broken}`,
    `"115.9,28.7",360102,lane=1,Gate,${plain}`,
  ].join('\n')
  const { lines, ...told } = await imported(application, 'devices', file)
  expect(told).toMatchObject({ rows: 3, created: 2, refused: 1 })
  // Results are numbered by the lines of the file: here one line is empty, and one row spans two lines.
  expect(lines.map(({ line, code }) => [line, code])).toEqual([
    [2, 0],
    [4, 10001],
    [6, 0],
  ])
  expect(await nameOf(application, quoted)).toBe('The "east", gate')
  expect((await succeed('getDevice', { deviceNo: plain }, application)).tag).toBe('lane=1')
})

/** The text 东门闸机, 设备 in GB 18030. */
const inGb18030 = Uint8Array.of(0xb6, 0xab, 0xc3, 0xc5, 0xd5, 0xa2, 0xbb, 0xfa, 0xa3, 0xac, 0xc9, 0xe8, 0xb1, 0xb8)

test.each([
  ['named', 'text/csv; charset=GB18030', []],
  ['found out', 'text/csv', []],
  ['with a mark', 'text/csv', [0x84, 0x31, 0x95, 0x33]],
])('GB18030 is read as Chinese, %s', async (_, type, mark) => {
  const application = await newApplication(client)
  const deviceNo = newSerial('GB')
  const [before, after] = csvOf(rowOf(deviceNo, '@'))
    .split('@')
    .map((text) => new TextEncoder().encode(text))
  const file = Uint8Array.from([...mark, ...(before ?? []), ...inGb18030, ...(after ?? [])])
  expect(await imported(application, 'devices', file, type)).toMatchObject({ created: 1 })
  expect(await nameOf(application, deviceNo)).toBe('东门闸机，设备')
})

test('bytes that are not what they are said to be are refused, and nothing is kept of them', async () => {
  const application = await newApplication(client)
  const file = Uint8Array.from([...new TextEncoder().encode(`${columns}\n`), 0xff, 0xfe, 0x80])
  expectFaults(await send(application, 'devices', file, 'text/csv; charset=utf-8'), ['body'])
  expectFaults(
    await send(application, 'devices', '{}', 'application/x-ndjson; charset=gbk'),
    ['Content-Type'],
    undefined,
    {
      status: 415,
    },
  )
  expectFaults(await send(application, 'devices', csvOf('"a,b')), ['body'])
  expectFaults(await send(application, 'devices', csvOf('a"b,c')), ['body'])
  expectFaults(await send(application, 'devices', ''), ['body'])
  expect((await succeed('pageImports', {}, application)).total).toBe(0)
})

test('blank lines count as lines and are no rows; a file of nothing else is refused', async () => {
  const application = await newApplication(client)
  const device = deviceRow()
  const row = JSON.stringify(device)
  const lines = await imported(application, 'devices', `\n \r\n${row}\r\n\n\t\n{}\n\r\n${row}`, ndjson)
  expect(lines.lines.map(({ line, outcome }) => [line, outcome])).toEqual([
    [3, 'created'],
    [6, 'refused'],
    [8, 'existing'],
  ])
  const many = '\n'.repeat(9_990)
  const sparse = await imported(application, 'devices', `${many}${row}\n${many}${row}`, ndjson)
  expect([sparse.rows, sparse.existing, sparse.lines[1]?.line]).toEqual([2, 2, 9_990 * 2 + 2])
  for (const blank of ['\n', ' \r\n', '\r\n']) {
    const refused = await send(application, 'devices', `${row}\n${blank.repeat(10_010)}`, ndjson)
    expect(expectFaults(refused, ['body']).body).toMatch(/more than 10000 consecutive blank lines, at line 10002/)
  }
  for (const [head, blank] of [
    ['', '\n'],
    [`${columns}\n`, '\n'],
    [`${csvOf(rowOf('X-1'))}\n`, '\r\n'],
  ]) {
    const refused = await send(application, 'devices', `${head}${blank?.repeat(20_000)}`)
    expect(expectFaults(refused, ['body']).body).toMatch(/more than 10000 consecutive blank lines, at line \d+/)
  }
})

test('a row of cells without end is refused, and one cell too many is told', async () => {
  const application = await newApplication(client)
  const endless = await send(application, 'devices', `${columns}\n${','.repeat(400_000)}`)
  expect(expectFaults(endless, ['body']).body).toMatch(/a row of more than 65536 bytes, at line 2/)
  const { lines } = await imported(application, 'devices', `${csvOf('X-2,Gate,360102,115.9,28.6', 'X-3,Gate')}\n`)
  expect(lines.map(({ errors }) => errors?.[0]?.reason)).toEqual([
    'has more cells than there are columns (4); a cell that holds a comma needs quotes',
    'has 2 cells, but there are 4 columns',
  ])
})

test('columns that are unknown, missing or twice are named at once', async () => {
  const application = await newApplication(client)
  // The refusal must not pass control characters on, as it may be shown in a terminal.
  const hostile = `${columns},\u001b[31mred`
  expectFaults(await send(application, 'devices', hostile), ['column 5'])
  const file = 'deviceNo,Name,deviceNo,coordinates\n'
  const reasons = expectFaults(await send(application, 'devices', file), [
    'Name',
    'deviceNo',
    'deviceName',
    'districtCode',
  ])
  expect(reasons.deviceNo).toBe('appears twice')
})

test('another media type, another format than it, too large a file and an unknown kind are refused', async () => {
  const application = await newApplication(client)
  for (const type of ['application/json', 'application/octet-stream']) {
    expectFaults(await send(application, 'devices', '', type), ['Content-Type'], undefined, { status: 415 })
  }
  expectFaults(await send(application, 'devices', '', ndjson, { format: 'csv' }), ['Content-Type'], undefined, {
    status: 415,
  })
  expectFaults(await send(application, 'things', ''), ['kind'])
  expectRefusal(await send(application, 'inventory', ''), 'notPermitted')
})

test('NDJSON is rows of JSON, each with its own faults', async () => {
  const application = await newApplication(client)
  const device = deviceRow()
  const rows = [
    JSON.stringify(device),
    '',
    '{"deviceNo":1}',
    '[]',
    '{"a":1,"a":2}',
    '{',
    JSON.stringify({ tag: 'x'.repeat(70_000) }),
  ]
  const { lines, ...told } = await imported(application, 'devices', rows.join('\n'), ndjson)
  expect(told).toMatchObject({ rows: 6, created: 1, refused: 5, format: 'ndjson' })
  expect(lines.map(({ line, code }) => [line, code])).toEqual(
    [1, 3, 4, 5, 6, 7].map((line) => [line, line === 1 ? 0 : 10001]),
  )
})

test('sites are told apart by all that they say; billing rules are checked as a single save checks them', async () => {
  const application = await newApplication(client)
  const site = siteRow()
  const rows = [site, site, { ...site, siteName: 'Another' }, { ...site, placeholderBillRuleId: 2 ** 52 }]
  const file = rows.map((row) => JSON.stringify(row)).join('\n')
  const first = await imported(application, 'sites', file, ndjson)
  expect(first.lines.map(({ code, outcome }) => `${code} ${outcome}`)).toEqual([
    '0 created',
    '0 existing',
    '0 created',
    '40002 refused',
  ])
  expect(first.lines[3]?.errors?.map(({ field }) => field)).toEqual(['placeholderBillRuleId'])
  const { list } = await succeed('pageSites', {}, application)
  expect(list.map(({ id }) => id)).toEqual([first.lines[2]?.id as number, first.lines[0]?.id as number])
  expect(await imported(application, 'sites', file, ndjson)).toMatchObject({ created: 0, existing: 3, refused: 1 })
  const bare = await newBareApplication()
  expect((await imported(bare, 'sites', file, ndjson)).lines.map(({ code }) => code)).toEqual([
    30003, 30003, 30003, 30003,
  ])
})

test('the inventory takes serials with the names of models, from operators alone, not from developers', async () => {
  const modelName = newSerial('Barrier')
  await succeed('saveDeviceModel', { serialPrefix: newSerial('INV'), modelName })
  const operator = { token: client.operatorKey }
  const [one, two] = [newSerial('INV'), newSerial('INV')]
  const file = `modelName,deviceNo\n${modelName},${one}\n${modelName},${two}\nno such model,${newSerial('INV')}\n${modelName},${one}`
  const first = await imported(operator, 'inventory', file)
  expect(first).toMatchObject({ appId: null, created: 2, existing: 1, refused: 1 })
  expect(first.lines[2]?.errors?.map(({ field }) => field)).toEqual(['modelName'])
  const { appId, token } = await newApplication(client)
  expectRefusal(await client.call('getImport', { id: first.id }, { token }), 'importNotFound')
  const session = await signIn(client, await newPerson(client, 'developer', [appId]))
  const headers = { ...session, 'content-type': 'text/csv' }
  expectRefusal(await client.call('createImport', { kind: 'inventory', file }, { headers }), 'notPermitted')
})

test('a dry run says what would happen, and writes nothing', async () => {
  const application = await newApplication(client)
  const mine = expectSuccess(await createDeviceOf(application)).deviceNo
  const elsewhere = expectSuccess(await createDeviceOf(await newApplication(client))).deviceNo
  const fresh = newSerial('DRY')
  const told = await imported(application, 'devices', csvOf(rowOf(fresh), rowOf(mine), rowOf(elsewhere)), undefined, {
    dryRun: 'true',
  })
  expect(told).toMatchObject({ dryRun: true, created: 1, existing: 0, refused: 2 })
  expect(told.lines.map(({ code }) => code)).toEqual([0, 20017, 20013])
  expect((await succeed('pageDevices', {}, application)).list.map(({ deviceNo }) => deviceNo)).toEqual([mine])
  const site = siteRow()
  const sites = await imported(application, 'sites', JSON.stringify(site), ndjson, { dryRun: 'true' })
  expect(sites).toMatchObject({ created: 1, refused: 0 })
  const trail = await succeed('pageAudit', { appId: application.appId, type: 'import.*' })
  expect(trail.list).toEqual([])
  expect((await succeed('pageSites', {}, application)).total).toBe(0)
})

test('one import of an application at a time; it can be cancelled, once, and the audit trail says by whom', async () => {
  const application = await newApplication(client)
  const long = '[]\n'.repeat(100_000)
  const { id } = expectSuccess(await send(application, 'devices', long, ndjson))
  expectRefusal(await send(application, 'sites', '', ndjson), 'importRunning')
  const cancelled = await succeed('cancelImport', { id }, application)
  expect(cancelled).toMatchObject({ id, status: 5, rows: 100_000 })
  expect(cancelled.refused).toBeLessThan(100_000)
  expectRefusal(await client.call('cancelImport', { id }, application), 'importRunning')
  const { list } = await succeed('pageAudit', { subject: String(id), type: 'import.created,import.cancelled' })
  expect(list.map(({ type, actor }) => [type, actor])).toEqual([
    ['import.cancelled', `application:${application.appId}`],
    ['import.created', `application:${application.appId}`],
  ])
  // Rows are no longer counted after the response to the cancellation.
  await Bun.sleep(300)
  expect((await succeed('getImport', { id }, application)).refused).toBe(cancelled.refused)
  expect(await imported(application, 'devices', '', ndjson)).toMatchObject({ status: 3, rows: 0 })
})

test('of an application’s dry runs that have ended only the newest can still be read; its imports all stay', async () => {
  const application = await newApplication(client)
  const real = await imported(application, 'devices', csvOf())
  const ids: number[] = []
  for (let run = 0; run < limits.dryRunsOfOne + 3; run++) {
    ids.unshift(
      (await imported(application, 'devices', csvOf(rowOf(newSerial('DRY'))), undefined, { dryRun: 'true' })).id,
    )
  }
  // The one that has just been sent made room for itself while it ran.
  const kept = [...ids.slice(0, limits.dryRunsOfOne + 1), real.id]
  const { list } = await succeed('pageImports', { pageSize: 100 }, application)
  expect(list.map(({ id }) => id)).toEqual(kept)
  const gone = { id: ids.at(-1) as number }
  for (const operation of [getImport, getImportResult, cancelImport]) {
    expectRefusal(await client.call(operation, gone, application), 'importNotFound')
  }
})

test('an operator imports for a frozen application, which itself may not', async () => {
  const application = await newApplication(client)
  const { appId } = application
  await succeed('freezeApplication', { appId, reason: 'test' })
  expectRefusal(await send(application, 'devices', csvOf(rowOf(newSerial('FRZ')))), 'applicationFrozen')
  for (const dryRun of ['true', 'false']) {
    const file = csvOf(rowOf(newSerial('FRZ')))
    const told = await imported({ token: client.operatorKey }, 'devices', file, undefined, { appId, dryRun })
    expect(told).toMatchObject({ status: 3, created: 1, refused: 0 })
  }
})

test.each(['sites', 'devices', 'placements', 'inventory'])(
  'the template of %s has its columns and is taken as it is',
  async (kind) => {
    const application = await newApplication(client)
    const { status, text, headers } = await client.call('getTemplate', { kind }, application)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${kind}.csv"`)
    const caller = kind === 'inventory' ? { token: client.operatorKey } : application
    expect(await imported(caller, kind, text)).toMatchObject({ status: 3, rows: 0 })
  },
)

test('a file that is sent again under its key makes one import, and answers the first', async () => {
  const application = await newApplication(client)
  const other = await newApplication(client)
  const file = csvOf(rowOf(newSerial('KEY')))
  const under = (key: string, sent = file, more: object = {}, by = application) =>
    send(by, 'devices', sent, undefined, more, key)
  const answers = await Promise.all([under('once'), under('once'), under('once')])
  const [first] = answers.map(expectSuccess) as [ImportRecord]
  expect(answers.map(({ data }) => data)).toEqual([first, first, first])
  expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(2)
  // The response is the same while the import runs and after its end.
  await ended(first.id)
  const again = await under('once')
  expect([again.headers.get('idempotency-replayed'), expectSuccess(again)]).toEqual(['true', first])
  const { list } = await succeed('pageImports', {}, application)
  expect(list.map(({ id }) => id)).toEqual([first.id])

  // Another file, other parameters, and the same file cut short.
  for (const answer of [
    await under('once', csvOf(rowOf(newSerial('KEY')))),
    await under('once', file, { dryRun: 'true' }),
    await under('once', file.slice(0, -1)),
  ]) {
    expectRefusal(answer, 'idempotencyKeyReused')
  }
  for (const key of ['', 'a b', 'x'.repeat(256)]) expectFaults(await under(key), ['Idempotency-Key'])
  // The same key of another application is a different key, and the key of a refused request is not stored.
  expectFaults(await under('once', 'serial\n', {}, other), [
    'coordinates',
    'deviceName',
    'deviceNo',
    'districtCode',
    'serial',
  ])
  expect(expectSuccess(await under('once', file, {}, other)).id).not.toBe(first.id)
})
