import { expect, test } from 'bun:test'
import { cancelImport, getImport, getImportResult, type ImportRecord } from '../../src/bulk/contract.ts'
import { limits } from '../../src/vocabulary/limits.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import {
  columns,
  csvOf,
  ended,
  fieldsOf,
  imported,
  nameOf,
  ndjson,
  ndjsonOf,
  numbered,
  outcomesOf,
  resultOf,
  rowOf,
  send,
} from './import-support.ts'
import {
  client,
  createDeviceOf,
  deviceRow,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  newDevice,
  siteRow,
  succeed,
} from './support.ts'

// Imports (contract §8): which files are accepted, and the outcome of their rows.

const devicesOf = (...rows: string[]) => csvOf(columns, ...rows)
const dry = { dryRun: 'true' }

test('a CSV file makes devices, each row by itself, and can be sent twice', async () => {
  const app = await newApplication(client)
  const [one = '', two = '', three = '', elsewhere = ''] = Array.from({ length: 4 }, () => newSerial('CSV'))
  await createDeviceOf(await newApplication(client), { deviceNo: elsewhere })
  const serials = [one, two, 'no serial', elsewhere, one]
  const file = devicesOf(...serials.map((serial) => rowOf(serial)), rowOf(two, 'x'), three)
  const first = await imported(app, 'devices', file)
  expect(first).toMatchObject({ status: 3, rows: 7, created: 2, existing: 1, refused: 4, dryRun: false })
  const { length: bytes } = file
  expect(first).toMatchObject({ appId: app.appId, kind: 'devices', format: 'csv', bytes, bytesRead: bytes })
  expect(numbered(first.lines)).toEqual([
    ...['2 created', '3 created', '4 10001', '5 20013', '6 existing', '7 20017', '8 10001'],
  ])
  expect(first.lines.map(({ deviceNo }) => deviceNo ?? null)).toEqual([...serials, two, null])
  expect([fieldsOf(first.lines[2]), fieldsOf(first.lines[6])]).toEqual([['deviceNo'], ['row']])
  const again = await imported(app, 'devices', file)
  expect(again).toMatchObject({ status: 3, created: 0, existing: 3, refused: 4 })
  const filtered = await resultOf(again.id, { outcome: 'refused' })
  expect(filtered.map(({ line }) => line)).toEqual([4, 5, 7, 8])
})

test('cells are RFC 4180’s: quotes, commas, line breaks, any order of columns, empty ones not given', async () => {
  const app = await newApplication(client)
  const [plain, quoted, broken] = [newSerial('RFC'), newSerial('RFC'), newSerial('RFC')]
  const file = [
    '\ufeffcoordinates,districtCode,tag,deviceName,deviceNo',
    `"115.9,28.7",360102,,"The ""east"", gate",${quoted}`,
    '',
    `"115.9,28.7",360102,,"two\nlines",${broken}`,
    `"115.9,28.7",360102,lane=1,Gate,${plain}`,
  ].join('\n')
  // Results are numbered by the lines of the file: here one line is empty, and one row spans two lines.
  expect(numbered((await imported(app, 'devices', file)).lines)).toEqual(['2 created', '4 10001', '6 created'])
  expect(await nameOf(app, quoted)).toBe('The "east", gate')
  expect((await succeed('getDevice', { deviceNo: plain }, app)).tag).toBe('lane=1')
})

/** The text 东门闸机, 设备 in GB 18030. */
const inGb18030 = Uint8Array.of(0xb6, 0xab, 0xc3, 0xc5, 0xd5, 0xa2, 0xbb, 0xfa, 0xa3, 0xac, 0xc9, 0xe8, 0xb1, 0xb8)

test.each([
  ['named', 'text/csv; charset=GB18030', []],
  ['found out', 'text/csv', []],
  ['with a mark', 'text/csv', [0x84, 0x31, 0x95, 0x33]],
])('GB18030 is read as Chinese, %s', async (_, type, mark) => {
  const app = await newApplication(client)
  const deviceNo = newSerial('GB')
  const [before = '', after = ''] = devicesOf(rowOf(deviceNo, '@')).split('@')
  const file = Uint8Array.from([...mark, ...Buffer.from(before), ...inGb18030, ...Buffer.from(after)])
  expect(await imported(app, 'devices', file, type)).toMatchObject({ created: 1 })
  expect(await nameOf(app, deviceNo)).toBe('东门闸机，设备')
})

test('bytes that are not what they are said to be, other media types and unknown kinds are refused; nothing is kept', async () => {
  const app = await newApplication(client)
  const notUtf8 = Uint8Array.from([...Buffer.from(`${columns}\n`), 0xff, 0xfe, 0x80])
  expectFaults(await send(app, 'devices', notUtf8, 'text/csv; charset=utf-8'), ['body'])
  for (const file of [devicesOf('"a,b'), devicesOf('a"b,c'), '']) {
    expectFaults(await send(app, 'devices', file), ['body'])
  }
  for (const [type, more] of [
    ['application/x-ndjson; charset=gbk', {}],
    ['application/json', {}],
    ['application/octet-stream', {}],
    [ndjson, { format: 'csv' }],
  ] as const) {
    const refused = await send(app, 'devices', '{}', type, more)
    expectFaults(refused, ['Content-Type'], undefined, { status: 415 })
  }
  expectFaults(await send(app, 'things', ''), ['kind'])
  expect((await succeed('pageImports', {}, app)).total).toBe(0)
})

test('blank lines count as lines and are no rows; a file of nothing else is refused', async () => {
  const app = await newApplication(client)
  const row = JSON.stringify(deviceRow())
  const { lines } = await imported(app, 'devices', `\n \r\n${row}\r\n\n\t\n{}\n\r\n${row}`, ndjson)
  expect(numbered(lines)).toEqual(['3 created', '6 10001', '8 existing'])
  const many = '\n'.repeat(9_990)
  const sparse = await imported(app, 'devices', `${many}${row}\n${many}${row}`, ndjson)
  expect([sparse.rows, sparse.existing, sparse.lines[1]?.line]).toEqual([2, 2, 9_990 * 2 + 2])
  const blank: [file: string, type?: string][] = [
    ...['\n', ' \r\n', '\r\n'].map((end): [string, string] => [`${row}\n${end.repeat(10_010)}`, ndjson]),
    ['\n'.repeat(20_000)],
    [`${columns}\n${'\n'.repeat(20_000)}`],
    [`${devicesOf(rowOf('X-1'))}\n${'\r\n'.repeat(20_000)}`],
  ]
  for (const [file, type] of blank) {
    const { body } = expectFaults(await send(app, 'devices', file, type), ['body'])
    const at = type === ndjson ? '10002' : '\\d+'
    expect(body).toMatch(new RegExp(`more than 10000 consecutive blank lines, at line ${at}`))
  }
})

test('a row of cells without end is refused, and one cell too many is told', async () => {
  const app = await newApplication(client)
  const endless = await send(app, 'devices', `${columns}\n${','.repeat(400_000)}`)
  expect(expectFaults(endless, ['body']).body).toMatch(/a row of more than 65536 bytes, at line 2/)
  const { lines } = await imported(app, 'devices', devicesOf('X-2,Gate,360102,115.9,28.6', 'X-3,Gate'))
  expect(lines.map(({ errors }) => errors?.[0]?.reason)).toEqual([
    'has more cells than there are columns (4); a cell that holds a comma needs quotes',
    'has 2 cells, but there are 4 columns',
  ])
})

test('columns that are unknown, missing or twice are named at once', async () => {
  const app = await newApplication(client)
  // The refusal must not pass control characters on, as it may be shown in a terminal.
  expectFaults(await send(app, 'devices', `${columns},\u001b[31mred`), ['column 5'])
  const refused = await send(app, 'devices', 'deviceNo,Name,deviceNo,coordinates\n')
  const reasons = expectFaults(refused, ['Name', 'deviceNo', 'deviceName', 'districtCode'])
  expect(reasons.deviceNo).toBe('appears twice')
})

test('NDJSON is rows of JSON, each with its own faults', async () => {
  const app = await newApplication(client)
  const long = JSON.stringify({ tag: 'x'.repeat(70_000) })
  const rows = [JSON.stringify(deviceRow()), '', '{"deviceNo":1}', '[]', '{"a":1,"a":2}', '{', long]
  const { lines, ...told } = await imported(app, 'devices', rows.join('\n'), ndjson)
  expect(told).toMatchObject({ rows: 6, created: 1, refused: 5, format: 'ndjson' })
  expect(numbered(lines)).toEqual(['1 created', '3 10001', '4 10001', '5 10001', '6 10001', '7 10001'])
})

test('sites are told apart by all that they say; billing rules are checked as a single save checks them', async () => {
  const app = await newApplication(client)
  const site = siteRow()
  const file = ndjsonOf(site, site, { ...site, siteName: 'Another' }, { ...site, placeholderBillRuleId: 2 ** 52 })
  const first = await imported(app, 'sites', file, ndjson)
  expect(outcomesOf(first.lines)).toEqual(['created', 'existing', 'created', 40002])
  expect(fieldsOf(first.lines[3])).toEqual(['placeholderBillRuleId'])
  const { list } = await succeed('pageSites', {}, app)
  expect(list.map(({ id }) => id)).toEqual([first.lines[2]?.id as number, first.lines[0]?.id as number])
  expect(await imported(app, 'sites', file, ndjson)).toMatchObject({ created: 0, existing: 3, refused: 1 })
  const bare = await imported(await newBareApplication(), 'sites', file, ndjson)
  expect(outcomesOf(bare.lines)).toEqual(Array(4).fill(30003))
})

test('the inventory takes serials with the names of models, from operators alone, not from developers', async () => {
  const modelName = newSerial('Barrier')
  await succeed('saveDeviceModel', { serialPrefix: newSerial('INV'), modelName })
  const [one, two, unknown] = [newSerial('INV'), newSerial('INV'), newSerial('INV')]
  const rows = [`${modelName},${one}`, `${modelName},${two}`, `no such model,${unknown}`, `${modelName},${one}`]
  const file = csvOf('modelName,deviceNo', ...rows)
  const first = await imported({ token: client.operatorKey }, 'inventory', file)
  expect(first).toMatchObject({ appId: null, created: 2, existing: 1, refused: 1 })
  expect(fieldsOf(first.lines[2])).toEqual(['modelName'])
  const app = await newApplication(client)
  expectRefusal(await send(app, 'inventory', file), 'notPermitted')
  expectRefusal(await client.call('getImport', { id: first.id }, app), 'importNotFound')
  const session = await signIn(client, await newPerson(client, 'developer', [app.appId]))
  const headers = { ...session, 'content-type': 'text/csv' }
  expectRefusal(await client.call('createImport', { kind: 'inventory', file }, { headers }), 'notPermitted')
})

test('a dry run says what would happen, and writes nothing', async () => {
  const app = await newApplication(client)
  const [mine, elsewhere] = [await newDevice(app), await newDevice(await newApplication(client))]
  const file = devicesOf(...[newSerial('DRY'), mine, elsewhere].map((serial) => rowOf(serial)))
  const told = await imported(app, 'devices', file, undefined, dry)
  expect(told).toMatchObject({ dryRun: true, created: 1, existing: 0, refused: 2 })
  expect(outcomesOf(told.lines)).toEqual(['created', 20017, 20013])
  expect((await succeed('pageDevices', {}, app)).list.map(({ deviceNo }) => deviceNo)).toEqual([mine])
  const sites = await imported(app, 'sites', ndjsonOf(siteRow()), ndjson, dry)
  expect(sites).toMatchObject({ created: 1, refused: 0 })
  expect((await succeed('pageAudit', { appId: app.appId, type: 'import.*' })).list).toEqual([])
  expect((await succeed('pageSites', {}, app)).total).toBe(0)
})

test('one import of an application at a time; it can be cancelled, once, and the audit trail says by whom', async () => {
  const app = await newApplication(client)
  const { id } = expectSuccess(await send(app, 'devices', '[]\n'.repeat(100_000), ndjson))
  expectRefusal(await send(app, 'sites', '', ndjson), 'importRunning')
  const cancelled = await succeed('cancelImport', { id }, app)
  expect(cancelled).toMatchObject({ id, status: 5, rows: 100_000 })
  expect(cancelled.refused).toBeLessThan(100_000)
  expectRefusal(await client.call('cancelImport', { id }, app), 'importRunning')
  const { list } = await succeed('pageAudit', { subject: String(id), type: 'import.created,import.cancelled' })
  const actor = `application:${app.appId}`
  expect(list).toMatchObject([
    { type: 'import.cancelled', actor },
    { type: 'import.created', actor },
  ])
  // Rows are no longer counted after the response to the cancellation.
  await Bun.sleep(300)
  expect((await succeed('getImport', { id }, app)).refused).toBe(cancelled.refused)
  expect(await imported(app, 'devices', '', ndjson)).toMatchObject({ status: 3, rows: 0 })
})

test('of an application’s dry runs that have ended only the newest can still be read; its imports all stay', async () => {
  const app = await newApplication(client)
  const real = await imported(app, 'devices', devicesOf())
  const ids: number[] = []
  for (let run = 0; run < limits.dryRunsOfOne + 3; run++) {
    ids.unshift((await imported(app, 'devices', devicesOf(rowOf(newSerial('DRY'))), undefined, dry)).id)
  }
  // The one that has just been sent made room for itself while it ran.
  const kept = [...ids.slice(0, limits.dryRunsOfOne + 1), real.id]
  const { list } = await succeed('pageImports', { pageSize: 100 }, app)
  expect(list.map(({ id }) => id)).toEqual(kept)
  const gone = { id: ids.at(-1) as number }
  for (const operation of [getImport, getImportResult, cancelImport]) {
    expectRefusal(await client.call(operation, gone, app), 'importNotFound')
  }
})

test('an operator imports for a frozen application, which itself may not', async () => {
  const app = await newApplication(client)
  const { appId } = app
  await succeed('freezeApplication', { appId, reason: 'test' })
  expectRefusal(await send(app, 'devices', devicesOf(rowOf(newSerial('FRZ')))), 'applicationFrozen')
  for (const dryRun of ['true', 'false']) {
    const file = devicesOf(rowOf(newSerial('FRZ')))
    const told = await imported({ token: client.operatorKey }, 'devices', file, undefined, { appId, dryRun })
    expect(told).toMatchObject({ status: 3, created: 1, refused: 0 })
  }
})

test.each(['sites', 'devices', 'placements', 'inventory'])(
  'the template of %s has its columns and is taken as it is',
  async (kind) => {
    const app = await newApplication(client)
    const { status, text, headers } = await client.call('getTemplate', { kind }, app)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${kind}.csv"`)
    const caller = kind === 'inventory' ? { token: client.operatorKey } : app
    expect(await imported(caller, kind, text)).toMatchObject({ status: 3, rows: 0 })
  },
)

test('a file that is sent again under its key makes one import, and answers the first', async () => {
  const [app, other] = [await newApplication(client), await newApplication(client)]
  const file = devicesOf(rowOf(newSerial('KEY')))
  const under = (key: string, sent = file, more: object = {}, by = app) =>
    send(by, 'devices', sent, undefined, more, key)
  const answers = await Promise.all([under('once'), under('once'), under('once')])
  const [first] = answers.map(expectSuccess) as [ImportRecord]
  expect(answers.map(({ data }) => data)).toEqual([first, first, first])
  expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(2)
  // The response is the same while the import runs and after its end.
  await ended(first.id)
  const again = await under('once')
  expect([again.headers.get('idempotency-replayed'), expectSuccess(again)]).toEqual(['true', first])
  expect((await succeed('pageImports', {}, app)).list.map(({ id }) => id)).toEqual([first.id])

  // Another file, other parameters, and the same file cut short.
  for (const answer of [
    await under('once', devicesOf(rowOf(newSerial('KEY')))),
    await under('once', file, dry),
    await under('once', file.slice(0, -1)),
  ]) {
    expectRefusal(answer, 'idempotencyKeyReused')
  }
  for (const key of ['', 'a b', 'x'.repeat(256)]) expectFaults(await under(key), ['Idempotency-Key'])
  // The same key of another application is a different key, and the key of a refused request is not stored.
  expectFaults(await under('once', 'serial\n', {}, other), [...columns.split(','), 'serial'])
  expect(expectSuccess(await under('once', file, {}, other)).id).not.toBe(first.id)
})
