import { expect, test } from 'bun:test'
import { parse } from 'csv-parse/sync'
import { newApplication, newSerial } from '../kit/records.ts'
import {
  columns,
  csvOf,
  imported,
  nameOf,
  ndjson,
  ndjsonOf,
  outcomesOf,
  place,
  rowOf,
  send,
  upserted,
} from './import-support.ts'
import {
  client,
  createDeviceOf,
  expectFaults,
  expectSuccess,
  linesOf,
  saveSiteOf,
  siteRow,
  succeed,
} from './support.ts'

// The refused rows of an import as a file: as they were sent, with the reasons, to be corrected and sent again.

const reasons = ['refusedLine', 'refusedCode', 'refusedReason']

async function refusedRows({ token }: { token: string }, id: number, language = 'en') {
  const asked = { token, headers: { 'accept-language': language } }
  const { status, text, headers } = await client.call('getImportResult', { id, rows: 'true' }, asked)
  expect(status).toBe(200)
  return { text, type: headers.get('content-type'), name: headers.get('content-disposition') }
}

const cellsOf = (text: string): string[][] => parse(text, { relax_column_count: true, bom: true })

test('the refused rows of a CSV file are downloaded as they were sent, corrected, and sent again', async () => {
  const app = await newApplication(client)
  const [good, bad, formula] = [newSerial('RR'), newSerial('RR'), newSerial('RR')]
  const file = csvOf(columns, rowOf(good), rowOf(bad, '"East, ""gate"""', 'nowhere'), rowOf(formula, '=1+1', 'nowhere'))
  const first = await imported(app, 'devices', file)
  expect(first).toMatchObject({ created: 1, refused: 2 })

  const { text, type, name } = await refusedRows(app, first.id)
  expect([type, name]).toEqual(['text/csv; charset=utf-8', `attachment; filename="import-${first.id}-refused.csv"`])
  const [head, ...rows] = cellsOf(text)
  expect(head).toEqual([...columns.split(','), ...reasons])
  expect(rows).toEqual([
    [bad, 'East, "gate"', '360102', 'nowhere', '3', '10001', expect.stringMatching(/^coordinates: /)],
    [formula, "'=1+1", '360102', 'nowhere', '4', '10001', expect.stringMatching(/^coordinates: /)],
  ] as never)
  expect((await refusedRows(app, first.id, 'zh')).text).toMatch(/[\u4e00-\u9fff]/)

  const again = await imported(app, 'devices', text.replaceAll('nowhere', place))
  expect(again).toMatchObject({ rows: 2, created: 2, refused: 0 })
  expect(again.ignoredColumns).toEqual(reasons)
  expect(await nameOf(app, bad)).toBe('East, "gate"')
  expect(await nameOf(app, formula)).toBe('=1+1')
})

test('rows that are refused a second time have their reasons once', async () => {
  const app = await newApplication(client)
  const first = await imported(app, 'devices', csvOf(columns, rowOf(newSerial('RR'), '=1', 'nowhere')))
  const { text } = await refusedRows(app, first.id)
  const second = await imported(app, 'devices', text)
  expect(second).toMatchObject({ refused: 1 })
  expect((await refusedRows(app, second.id)).text).toBe(text)
})

test('a row of another width than the head is refused again until it is corrected', async () => {
  const app = await newApplication(client)
  const serial = newSerial('RR')
  const file = csvOf(columns, `${serial},East, by the gate,360102,115.9,28.7`, `${newSerial('RR')},short`)
  const first = await imported(app, 'devices', file)
  const { text } = await refusedRows(app, first.id)
  const [, wide, short] = cellsOf(text)
  expect(wide?.slice(0, 8)).toEqual([serial, 'East', ' by the gate', '360102', '115.9', '28.7', '2', '10001'])
  expect(short?.slice(1, 6)).toEqual(['short', '', '', '3', '10001'])
  expect(await imported(app, 'devices', text)).toMatchObject({ created: 0, refused: 2 })
})

test('a row with too few cells clears nothing until it is completed', async () => {
  const app = await newApplication(client)
  const { deviceNo, deviceBattery } = expectSuccess(await createDeviceOf(app, { tag: 'kept' }))
  const file = csvOf('deviceNo,deviceName,tag,detailAddress', `${deviceNo},Renamed`)
  const first = await upserted(app, 'devices', file)
  expect(first).toMatchObject({ refused: 1 })
  const { text } = await refusedRows(app, first.id)
  for (const again of [text, (await refusedRows(app, (await upserted(app, 'devices', text)).id)).text]) {
    expect(await upserted(app, 'devices', again)).toMatchObject({ updated: 0, refused: 1 })
  }
  expect(await succeed('getDevice', { deviceNo }, app)).toMatchObject({ tag: 'kept', deviceBattery })
  const completed = text.replace('Renamed,,', 'Renamed,kept,').replace(/"complete[^"]*"/, '')
  expect(await upserted(app, 'devices', completed)).toMatchObject({ updated: 1, refused: 0 })
  expect(await succeed('getDevice', { deviceNo }, app)).toMatchObject({ tag: 'kept', deviceName: 'Renamed' })
})

test('the refused rows of NDJSON are NDJSON, with what is no JSON as text', async () => {
  const app = await newApplication(client)
  const row = { deviceNo: newSerial('RR'), deviceName: 'Gate', districtCode: '360102', coordinates: 'nowhere' }
  const given = { ...row, extra: { a: [1] } }
  const lines = [JSON.stringify(given), '{"a":1,"a":2}', '[]', `{"tag":"${'x'.repeat(70_000)}"}`]
  const first = await imported(app, 'devices', lines.join('\n'), ndjson)
  const { text, type } = await refusedRows(app, first.id)
  expect(type).toBe(ndjson)
  const told = linesOf(text)
  const because = { refusedCode: 10001, refusedReason: expect.any(String) }
  expect(told).toEqual([
    { ...given, refusedLine: 1, ...because },
    { refusedRow: '{"a":1,"a":2}', refusedLine: 2, ...because },
    { refusedRow: '[]', refusedLine: 3, ...because },
    { refusedLine: 4, ...because },
  ])
  const again = await imported(app, 'devices', text.replace('nowhere', '115.9,28.7'), ndjson)
  expect(again).toMatchObject({ created: 1, refused: 3 })
  expect(again.ignoredColumns.toSorted()).toEqual(reasons.toSorted())
})

test('an update of sites is corrected and sent again with its formulas and empty cells as they were', async () => {
  const app = await newApplication(client)
  const { id } = expectSuccess(await saveSiteOf(app, { siteName: 'Park', detailAddress: 'No. 1' }))
  const head = 'id,siteName,detailAddress,coordinates'
  const first = await upserted(app, 'sites', csvOf(head, `${id},'=1+1,,nowhere`))
  expect(first).toMatchObject({ refused: 1 })
  const { text } = await refusedRows(app, first.id)
  expect(cellsOf(text)[1]?.slice(0, 4)).toEqual([String(id), "'=1+1", '', 'nowhere'])
  expect(await upserted(app, 'sites', text.replace('nowhere', place))).toMatchObject({ updated: 1, refused: 0 })
  const site = await succeed('getSite', { id }, app)
  expect(site).toMatchObject({ siteName: '=1+1', detailAddress: null })
})

test('rows of one outcome alone can be asked for as lines; as rows there are the refused ones', async () => {
  const app = await newApplication(client)
  const { id } = await imported(app, 'devices', csvOf(columns, rowOf(newSerial('RR'))))
  const call = (query: object) => client.call('getImportResult', { id, ...query }, app)
  expectFaults(await call({ rows: 'true', outcome: 'created' }), ['outcome'])
  expect((await call({ rows: 'true', outcome: 'refused' })).text).toBe(csvOf([columns, ...reasons].join()))
  expect((await call({ rows: 'false' })).text).toContain('"outcome":"created"')
})

test('of very many refused rows only the first are kept as they were sent', async () => {
  const app = await newApplication(client)
  const row = JSON.stringify({ tag: 'x'.repeat(60_000) })
  const { id } = await imported(app, 'devices', `${row}\n`.repeat(300), ndjson)
  const { text } = await refusedRows(app, id)
  const lines = linesOf(text)
  expect(lines.map(({ refusedLine }) => refusedLine)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1))
  const kept = lines.filter(({ tag }) => tag !== undefined)
  expect(kept.length).toBe(Math.floor((16 * 1024 * 1024) / row.length))
  expect(lines.indexOf(kept.at(-1) ?? {})).toBe(kept.length - 1)
})

test('a serial number twice in a file: the later row says which line had it first, in a dry run too', async () => {
  const app = await newApplication(client)
  const twice = newSerial('RR')
  const there = expectSuccess(await createDeviceOf(app)).deviceNo
  const others = Array.from({ length: 1_200 }, () => rowOf(newSerial('RR')))
  const rows = [rowOf(twice), rowOf(twice, 'Other'), ...others, rowOf(twice, 'Third'), rowOf(twice), rowOf(there, 'x')]
  const same = [{ field: 'deviceNo', reason: 'also appears in line 2 of this file, with different content' }]
  for (const more of [{ dryRun: 'true' }, {}]) {
    const { lines, ...told } = await imported(app, 'devices', csvOf(columns, ...rows), undefined, more)
    expect(told).toMatchObject({ created: 1_201, existing: 1, refused: 3 })
    expect(outcomesOf(lines.slice(-3))).toEqual([20017, 'existing', 20017])
    expect(lines.filter(({ code }) => code !== 0).map(({ errors }) => errors)).toEqual([same, same, null])
  }
})

test('a column whose name looks like a formula is left out again when its refused rows are sent again', async () => {
  const app = await newApplication(client)
  const file = csvOf(`@time,${columns}`, `x,${rowOf(newSerial('RR'), 'Gate', 'nowhere')}`)
  const more = { ignoreColumns: '@time' }
  const first = await imported(app, 'devices', file, undefined, more)
  const { text } = await refusedRows(app, first.id)
  expect(text).toContain("'@time,")
  const again = await imported(app, 'devices', text.replace('nowhere', place), undefined, more)
  expect(again).toMatchObject({ created: 1, refused: 0 })
})

test('columns that are nobody’s are left out when they are named', async () => {
  const app = await newApplication(client)
  const serial = newSerial('RR')
  const file = csvOf(`备注,${columns},remarks2,,remarks2`, `x,${rowOf(serial)},y,,z`)
  const create = (more: object) => imported(app, 'devices', file, undefined, more)
  const told = await create({ ignoreColumns: '备注,remarks2,column 7' })
  expect(told).toMatchObject({ created: 1, refused: 0, ignoredColumns: ['备注', 'remarks2', 'column 7'] })
  expect(await nameOf(app, serial)).toBe('Gate')
})

test('a column that an import sets is not left out, and other foreign columns are refused as ever', async () => {
  const app = await newApplication(client)
  expectFaults(await send(app, 'devices', csvOf(`${columns},a,b`), undefined, { ignoreColumns: 'a,c' }), ['b'])
  expectFaults(await send(app, 'devices', csvOf(columns), undefined, { ignoreColumns: 'tag' }), ['ignoreColumns'])
  const sites = await imported(app, 'sites', ndjsonOf({ ...siteRow(), a: 1 }), ndjson, { ignoreColumns: 'a' })
  expect(sites).toMatchObject({ created: 1 })
})
