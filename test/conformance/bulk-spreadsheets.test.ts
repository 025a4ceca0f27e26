import { expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import {
  columns,
  csvOf,
  type File,
  fieldsOf,
  imported,
  nameOf,
  ndjson,
  ndjsonOf,
  numbered,
  outcomesOf,
  place,
  rowOf,
  send,
} from './import-support.ts'
import { detail, place as placeAt } from './placement-support.ts'
import {
  client,
  expectFaults,
  expectRefusal,
  expectSuccess,
  exported,
  newDevice,
  newSite,
  saveSiteOf,
  succeed,
} from './support.ts'

// Files as people have them (contract §8): what spreadsheets leave in them, exports that are sent on, and encodings.

const modes = ['create', 'upsert']

/** Texts that exports defuse, or that begin as if they were. */
const defused = ['=East', '+1', '@gate', '-SUM(A1)', '＝全角', "'=x", "''@x", '\u3000=1', ' -x', "'plain", '-5']

test.each(modes)('an export of sites loses its quotes again, mode %s, and sent back it is there', async (mode) => {
  const [from, to] = [await newApplication(client), await newApplication(client)]
  for (const siteName of defused) expectSuccess(await saveSiteOf(from, { siteName, contactsPhone: '+86 13900000000' }))
  const file = await exported(from, 'sites', 'csv')
  const back = await imported(from, 'sites', file, undefined, { mode })
  expect(back).toMatchObject({ existing: defused.length, created: 0, updated: 0, refused: 0 })
  expect((await succeed('pageSites', {}, from)).total).toBe(defused.length)
  // Into another application it goes without the ids and the application of the first.
  const [head = [], ...rows]: string[][] = parse(file, { bom: true })
  const places = ['id', 'appId'].map((name) => head.indexOf(name))
  const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`
  const emptied = rows.map((row) => row.map((cell, at) => quoted(places.includes(at) ? '' : cell)).join())
  const moved = csvOf(head.join(), ...emptied)
  for (const dryRun of ['true', 'false']) {
    const told = await imported(to, 'sites', moved, undefined, { mode, dryRun })
    expect(told).toMatchObject({ created: defused.length, refused: 0 })
    const derived = ['appId', 'createTime', 'latitude', 'longitude', ...(mode === 'create' ? ['id'] : [])]
    expect(told.ignoredColumns.toSorted()).toEqual(derived.toSorted())
  }
  const { list } = await succeed('pageSites', { pageSize: '100' }, to)
  expect(list.map(({ siteName }) => siteName).toSorted()).toEqual(defused.toSorted())
  expect(new Set(list.map(({ contactsPhone }) => contactsPhone))).toEqual(new Set(['+86 13900000000']))
})

test.each(modes)('an export of devices and placements loses its quotes again, mode %s', async (mode) => {
  const app = await newApplication(client)
  const site = await newSite(app)
  let deviceNo = ''
  for (const text of defused) {
    deviceNo = await newDevice(app, { deviceName: text, tag: text, detailAddress: text, provinceCode: '110000' })
    expectSuccess(await placeAt(app, deviceNo, site, { laneName: text.slice(0, 16) }))
  }
  for (const kind of ['devices', 'placements']) {
    const told = await imported(app, kind, await exported(app, kind, 'csv'), undefined, { mode })
    expect([told.existing, told.created, told.updated, told.refused]).toEqual([defused.length, 0, 0, 0])
  }
  const moved = csvOf('deviceNo,siteId,laneType,laneName,placedTime', `${deviceNo},${site},2,'=North,`)
  expect(await imported(app, 'placements', moved, undefined, { mode })).toMatchObject({ refused: 0 })
  expect(expectSuccess(await detail(app, deviceNo)).laneName).toBe('=North')
})

test.each(modes)('a row of another application is refused, mode %s, in each format and kind', async (mode) => {
  const [app, other] = [await newApplication(client), await newApplication(client)]
  const mine = expectSuccess(await saveSiteOf(app))
  const deviceNo = await newDevice(app)
  const operator = { token: client.operatorKey }
  const { id, createTime: _, ...site } = mine
  for (const [kind, row] of [
    ['sites', { id, ...site, siteName: 'Taken' }],
    ['devices', { deviceNo, deviceName: 'Taken', districtCode: '360102', coordinates: '115.9,28.6' }],
    ['placements', { deviceNo, siteId: id, laneType: 1 }],
  ] as const) {
    const owned = { ...row, appId: other.appId }
    const cells = Object.values(owned).map((value) => (value === null ? '' : `"${value}"`))
    const csv = csvOf(Object.keys(owned).join(), cells.join())
    for (const more of [{ dryRun: 'true' }, {}]) {
      for (const [file, type] of [
        [csv, 'text/csv'],
        [ndjsonOf(owned), ndjson],
      ] as const) {
        const told = await imported(operator, kind, file, type, { appId: app.appId, mode, ...more })
        expect(told).toMatchObject({ refused: 1 })
        expect(told.lines[0]).toMatchObject({ code: 10001, errors: [{ field: 'appId' }] })
      }
    }
  }
  expect(await succeed('getSite', { id }, app)).toEqual(mine)
  expect(await nameOf(app, deviceNo)).not.toBe('Taken')
  expectRefusal(await detail(app, deviceNo), 'placementNotFound')
})

test('an empty appId is not given, one’s own is taken, and a column that is left out says nothing', async () => {
  const [app, other] = [await newApplication(client), await newApplication(client)]
  const file = (owner: string) => csvOf(`appId,${columns}`, `${owner},${rowOf(newSerial('OWN'), "'=1")}`)
  for (const owner of ['', ' ', app.appId])
    expect(await imported(app, 'devices', file(owner))).toMatchObject({ created: 1 })
  const left = await imported(app, 'devices', file(other.appId), undefined, { ignoreColumns: 'appId' })
  expect(left).toMatchObject({ created: 1, ignoredColumns: ['appId'] })
  expect(await nameOf(app, left.lines[0]?.deviceNo as string)).toBe('=1')
  const serial = newSerial('OWN')
  const device = { deviceNo: serial, deviceName: 'Gate', districtCode: '360102', coordinates: '115.9,28.6' }
  for (const appId of [null, '', app.appId]) {
    expect(await imported(app, 'devices', ndjsonOf({ ...device, appId }), ndjson)).toMatchObject({ refused: 0 })
  }
})

const bytes = (...parts: (string | number[] | Uint8Array)[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...new TextEncoder().encode(part)] : [...part])))

test('rows of empty cells and columns without a name are no rows and no columns; lines stay the file’s', async () => {
  const app = await newApplication(client)
  const [one, two, three, four] = [newSerial('XL'), newSerial('XL'), newSerial('XL'), newSerial('XL')]
  const file = [
    ',,,,,,,',
    ',deviceNo, deviceName ,,districtCode,coordinates,,',
    `,${one},Gate,,360102,${place},,`,
    ',,,,,,,',
    '"",  ,\t,\u3000,,,\u00a0,',
    ',,,',
    ',,,,,,,,,,,,',
    `,${two},Gate,"",360102,${place}`,
    `,${three},Gate,,360102,${place},,,,,,`,
    `,${newSerial('XL')},Gate,,360102`,
    '   ',
    `,${four},Gate,,nowhere,${place},,`,
    ',,,,,,,\n'.repeat(12_000),
    '\0\0\0\0',
  ]
  const told = await imported(app, 'devices', file.join('\r\n'))
  expect(told).toMatchObject({ rows: 5, created: 4, refused: 1, ignoredColumns: [] })
  expect(numbered(told.lines)).toEqual(['3 created', '8 created', '9 created', '10 10001', '12 created'])
  expect(told.lines.map(({ deviceNo }) => deviceNo)).toEqual([one, two, three, null, four])
})

test('a column without a name that holds something is refused by its place, and can be left out', async () => {
  const app = await newApplication(client)
  const file = csvOf(`${columns},,`, `${rowOf(newSerial('XL'))},,`, `${rowOf(newSerial('XL'))},,note`)
  const faults = expectFaults(await send(app, 'devices', file), ['column 6'])
  expect(faults['column 6']).toBe('has no name, but a cell in line 3')
  expect(await imported(app, 'devices', file, undefined, { ignoreColumns: 'column 6' })).toMatchObject({ created: 2 })
  const wide = await imported(app, 'devices', csvOf(columns, `${rowOf(newSerial('XL'))},,x`))
  expect(outcomesOf(wide.lines)).toEqual([10001])
})

test.each([
  ['\r\n', '\r\n'],
  ['\n', '\n'],
  ['\r', '\r'],
  ['\n', ''],
  ['\r\n', '\0\0\0'],
])('lines may end with %j, and the file with %j', async (end, last) => {
  const app = await newApplication(client)
  const [one, two] = [newSerial('END'), newSerial('END')]
  const file = `\ufeff"deviceNo","deviceName","districtCode","coordinates"${end}${end}${rowOf(one)}${end}${rowOf(two)}${last}`
  const told = await imported(app, 'devices', file)
  expect(told.lines.map(({ line, deviceNo }) => `${line} ${deviceNo}`)).toEqual([`3 ${one}`, `4 ${two}`])
})

test('line ends within cells count once, however they are written', async () => {
  const app = await newApplication(client)
  const rows = ['"a\r\nb"', '"a\nb\r\n\r\nc"', 'Gate'].map((name) => rowOf(newSerial('CR'), name))
  const { lines } = await imported(app, 'devices', csvOf(columns, ...rows))
  expect(numbered(lines)).toEqual(['2 10001', '4 10001', '8 created'])
})

const siteColumns = [
  ...['siteName', 'contacts', 'contactsPhone', 'customerServicePhone', 'businessWeekDay', 'businessStartTime'],
  ...['businessClosingTime', 'provinceCode', 'provinceName', 'cityCode', 'cityName', 'districtCode', 'districtName'],
].join(',')
const siteCells = (from: string, to: string) =>
  `Park,Wang Fang,13800000000,4000000000,Monday,${from},${to},360000,A,360100,B,360102,C`

test('a time of day may lack the zero of its hour in CSV, and nothing else', async () => {
  const app = await newApplication(client)
  const file = csvOf(siteColumns, siteCells('8:00:00', '9:30:05'))
  expect((await imported(app, 'sites', file, undefined, { dryRun: 'true' })).created).toBe(1)
  const { lines } = await imported(app, 'sites', file)
  const id = lines[0]?.id as number
  const site = await succeed('getSite', { id }, app)
  expect([site.businessStartTime, site.businessClosingTime]).toEqual(['08:00:00', '09:30:05'])
  const again = await imported(app, 'sites', csvOf(siteColumns, siteCells('08:00:00', '9:30:05')))
  expect(again).toMatchObject({ existing: 1 })
  const sent = (await exported(app, 'sites', 'csv')).replace('08:00:00', '8:00:00')
  expect(await imported(app, 'sites', sent, undefined, { mode: 'upsert' })).toMatchObject({ existing: 1, refused: 0 })
  const bad = ['8:00', '8:0:0', '8:60:00', '24:00:00', '8:00:00 AM', '8：00：00']
  const refused = await imported(app, 'sites', csvOf(siteColumns, ...bad.map((from) => siteCells(from, '22:00:00'))))
  expect(refused.lines.map(fieldsOf)).toEqual(bad.map(() => ['businessStartTime']))
  const { appId: _, id: __, createTime: ___, ...row } = site
  const { lines: ofJson } = await imported(app, 'sites', ndjsonOf({ ...row, businessStartTime: '8:00:00' }), ndjson)
  expect(outcomesOf(ofJson)).toEqual([10001])
})

test.each([
  ['deviceNo;deviceName;districtCode;coordinates', 'semicolons'],
  ['sep=;\ndeviceNo;deviceName', 'semicolons'],
  ['deviceNo\tdeviceName\tdistrictCode', 'tabs'],
  ['deviceNo，deviceName，districtCode', 'full-width commas'],
])('a file with another separator is refused in a sentence: %j', async (head, separator) => {
  const app = await newApplication(client)
  const faults = expectFaults(await send(app, 'devices', `${head}\nx\n`), ['body'])
  expect(faults.body).toBe(`has ${separator} as the separator of its columns: save it with commas`)
  const quoted = await send(app, 'devices', '"deviceNo";"deviceName"\nx\n')
  expect(expectFaults(quoted, ['body']).body).toMatch(/^has a misplaced quote .* separator of its columns\?$/)
})

const faultOf = async (app: TestApplication, file: File, type = 'text/csv') =>
  expectFaults(await send(app, 'devices', file, type), ['body']).body

test('bytes that UTF-8 and GB18030 read with different letters are taken when their encoding is named', async () => {
  const app = await newApplication(client)
  const fileOf = (name: number[], serial = newSerial('ENC')) =>
    bytes(`${columns}\n`, `${newSerial('ENC')},Gate,360102,${place}\n${serial},`, name, `,360102,${place}\n`)
  // 模 or ģ, 茅 or é, 模模A or ģģA.
  const names = [
    [0xc4, 0xa3],
    [0xc3, 0xa9],
    [0xc4, 0xa3, 0xc4, 0xa3, 0x41],
  ]
  for (const name of names) {
    expect(await faultOf(app, fileOf(name))).toMatch(/UTF-8 and as GB18030.*specify its encoding/)
  }
  // Only the end of a long file tells that it may be either.
  const long = `${rowOf('X')}\n`.repeat(3_000)
  expect(await faultOf(app, bytes(fileOf([0xc4, 0xa3]), long, 'Y,', [0xc3, 0xa9], ',1,1\n'))).toMatch(/specify its/)
  for (const [charset, name] of [
    ['utf-8', 'ģ'],
    ['"UTF8"', 'ģ'],
    ['gb18030', '模'],
    ['GBK', '模'],
    ['"gb2312"', '模'],
    ['cp936', '模'],
  ]) {
    const serial = newSerial('ENC')
    const told = await imported(app, 'devices', fileOf([0xc4, 0xa3], serial), `text/csv; charset=${charset}`)
    expect(told).toMatchObject({ created: 2 })
    expect(await nameOf(app, serial)).toBe(name as string)
  }
  const serial = newSerial('ENC')
  const marked = bytes([0xef, 0xbb, 0xbf], fileOf([0xc4, 0xa3], serial))
  expect(await imported(app, 'devices', marked)).toMatchObject({ created: 2 })
  expect(await nameOf(app, serial)).toBe('ģ')
  const unknown = await send(app, 'devices', csvOf(columns), 'text/csv; charset=latin1')
  expectFaults(unknown, ['Content-Type'], undefined, { status: 415 })
})

test.each(['东门', '中文', '北京南门', '东门, 道闸', 'café 东门', 'it’s', '闸', '南昌市红谷滩区', '😀', '：“”'])(
  'ordinary text in UTF-8 needs neither mark nor name: %s',
  async (name) => {
    const app = await newApplication(client)
    const serial = newSerial('U8')
    expect(await imported(app, 'devices', csvOf(columns, rowOf(serial, `"${name}"`)))).toMatchObject({ created: 1 })
    expect(await nameOf(app, serial)).toBe(name)
  },
)

test('UTF-16 and NDJSON that is not UTF-8 are refused in a sentence', async () => {
  const app = await newApplication(client)
  const text = csvOf(columns, rowOf('X'))
  const wide = new Uint8Array(Buffer.from(text, 'utf16le'))
  for (const file of [wide, bytes([0xff, 0xfe], wide), bytes([0xfe, 0xff], [0, 0x41])]) {
    expect(await faultOf(app, file)).toBe('is UTF-16: save it as “CSV UTF-8”')
  }
  const chinese = bytes('{"deviceName":"', [0xb6, 0xab], '"}')
  expect(await faultOf(app, chinese, ndjson)).toMatch(/^is not UTF-8; .*save it as UTF-8$/)
})
