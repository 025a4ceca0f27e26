import { describe, expect, test } from 'bun:test'
import { columnFaults, importColumns, isIgnored, leftOut } from '../../console/src/imports/columns.ts'
import { type FileStart, fileToSend, namesOf, readStart } from '../../console/src/imports/file-start.ts'
import { type ResultRow, readRows, resultCsv } from '../../console/src/jobs/result.ts'
import {
  exportedColumns,
  type ImportKind,
  ignoredColumns,
  importRows,
  refusalColumns,
} from '../../src/bulk/contract.ts'
import { limits } from '../../src/vocabulary/limits.ts'

const gb18030 = {
  设备序列号: [0xc9, 0xe8, 0xb1, 0xb8, 0xd0, 0xf2, 0xc1, 0xd0, 0xba, 0xc5],
  型号: [0xd0, 0xcd, 0xba, 0xc5],
  东门: [0xb6, 0xab, 0xc3, 0xc5],
}
const bytes = (...parts: (string | number[])[]) =>
  new Blob(parts.map((part) => (typeof part === 'string' ? part : new Uint8Array(part))))

async function startOf(...parts: (string | number[])[]): Promise<FileStart> {
  const start = await readStart(bytes(...parts))
  if (typeof start === 'string') throw new Error(start)
  return start
}

/** What is sent of a file of the inventory, whose columns are chosen. */
const sentOf = async (file: Blob, chosen: string[]) =>
  fileToSend(inventory, file, (await readStart(file)) as FileStart, chosen)

const devices = { kind: 'devices', mode: 'create' } as const
const inventory = { kind: 'inventory', mode: 'create' } as const
const deviceRow = 'SN-1,East,360102,"115.9,28.7"'

test('the columns of each kind are the members that the service takes, the needed ones the same', () => {
  for (const [kind, row] of Object.entries(importRows)) {
    const { properties, required = [] } = row as { properties: object; required?: string[] }
    const columns = importColumns[kind as ImportKind]
    expect(columns.map(({ name }) => name).toSorted()).toEqual(Object.keys(properties).toSorted())
    const needed = columns.filter(({ isRequired }) => isRequired).map(({ name }) => name)
    expect(needed.toSorted()).toEqual([...required].toSorted())
  }
})

test('the columns of an export that an import leaves as they are: the same as the service’s', () => {
  for (const kind of Object.keys(importColumns) as ImportKind[]) {
    for (const mode of ['create', 'upsert'] as const) {
      const names = [...exportedColumns(kind).map(({ name }) => name), ...refusalColumns]
      expect(names.filter((name) => isIgnored({ kind, mode }, name))).toEqual(ignoredColumns(kind, mode))
    }
  }
})

describe('the beginning of a file', () => {
  test('is read in either encoding, with a mark before it or none, and quoted headings', async () => {
    const start = await startOf(gb18030.设备序列号, ',"', gb18030.型号, '"\r\nSN-1,', gb18030.东门, '\r\n')
    expect(start).toMatchObject({ format: 'csv', encoding: 'gb18030', headings: ['设备序列号', '型号'] })
    expect(start.samples).toEqual([['SN-1', '东门']])
    expect(namesOf(inventory, start)).toEqual(['deviceNo', 'modelName'])
    const marked = await startOf('\ufeffdeviceNo,modelName\nSN-1,"Gate ""5"""\n\nSN-2,Gate\n')
    expect(marked).toMatchObject({ encoding: 'utf-8', headings: ['deviceNo', 'modelName'] })
    expect(marked.samples).toEqual([
      ['SN-1', 'Gate "5"'],
      ['SN-2', 'Gate'],
    ])
  })

  test('of a large file ends with its last whole line, also between the bytes of a character', async () => {
    const rows = Array.from({ length: 20_000 }, (_, index) => `SN-${index},东门`)
    for (const pad of ['', 'x', 'xx']) {
      const start = await startOf(`deviceNo,modelName${pad}\n${rows.join('\n')}`)
      expect(start.encoding).toBe('utf-8')
      expect(start.samples[0]).toEqual(['SN-0', '东门'])
    }
  })

  test('of NDJSON tells the members of its rows', async () => {
    const start = await startOf('{"deviceNo":"SN-1"}\n{"deviceNo":"SN-2","modelName":"Gate","slot":7}\n')
    expect(start).toMatchObject({ format: 'ndjson', headings: ['deviceNo', 'modelName', 'slot'] })
    expect(start.samples).toEqual([
      ['SN-1', '', ''],
      ['SN-2', 'Gate', '7'],
    ])
  })

  test('that two encodings read asks for one, and is read in it', async () => {
    const file = bytes('deviceNo,modelName\nSN-1,', [0xc4, 0xa3], '\n')
    expect(await readStart(file)).toMatchObject({ isAmbiguous: true, charset: undefined, samples: [['SN-1', 'ģ']] })
    const chosen = { isAmbiguous: false, encoding: 'gb18030', charset: 'gb18030', samples: [['SN-1', '模']] }
    expect(await readStart(file, 'gb18030')).toMatchObject(chosen)
    expect(await startOf('\ufeffdeviceNo\nģ\n')).toMatchObject({ isAmbiguous: false, charset: 'utf-8' })
    expect(await startOf('deviceNo\n东门\n')).toMatchObject({ isAmbiguous: false, charset: undefined })
  })

  test('may have empty rows above and columns without a name, and lines of any kind', async () => {
    for (const end of ['\r\n', '\n', '\r']) {
      const file = bytes([',,', ',sn,型号', ',,', ',SN-1,Gate', ''].join(end))
      const start = (await readStart(file)) as FileStart
      expect(start).toMatchObject({ headings: ['', 'sn', '型号'], samples: [['', 'SN-1', 'Gate']] })
      const names = namesOf(inventory, start)
      expect([names, columnFaults(inventory, start.headings, names).unknown]).toEqual([
        ['', 'deviceNo', 'modelName'],
        [],
      ])
      const sent = await fileToSend(inventory, file, start, names).file.text()
      expect(sent).toBe(`,,${end},deviceNo,modelName\r\n,,${end},SN-1,Gate${end}`)
    }
    const held = await startOf('sn,型号,\nSN-1,Gate,x\n')
    expect(namesOf(inventory, held)[2]).toBeUndefined()
  })

  test('tells numbers that a spreadsheet has changed', async () => {
    const rows = ['8.60123E+14,1', '860123456789012000,2', '12345678,3', '1234567,4']
    const of = async (...some: string[]) => (await startOf(`deviceNo,tag\n${some.join('\n')}\n`)).spoilt
    const [short, round, long, lost] = rows as [string, string, string, string]
    const heading = 'deviceNo'
    expect(await of(short, long)).toEqual([{ heading, kind: 'shortened', cell: '8.60123E+14' }])
    expect(await of(round)).toEqual([{ heading, kind: 'rounded', cell: '860123456789012000' }])
    expect(await of(long, lost)).toEqual([{ heading, kind: 'zeros', cell: '1234567' }])
    expect(await of(long, long, '01234567,5', 'SN-1234,6')).toEqual([])
  })

  test('says why a file cannot be taken', async () => {
    expect(await readStart(bytes(''))).toBe('empty')
    expect(await readStart(bytes([0x50, 0x4b, 0x03, 0x04, 0x14]))).toBe('workbook')
    expect(await readStart(bytes([0xff, 0xfe, 0x64, 0x00]))).toBe('utf16')
    expect(await readStart(bytes('deviceNo;modelName\nSN-1;Gate\n'))).toBe('delimiter')
    expect(await readStart(bytes('deviceNo\tmodelName\nSN-1\tGate\n'))).toBe('delimiter')
    expect(await readStart(bytes('deviceNo,modelName\n'))).toBe('noRows')
    expect(await readStart(bytes('deviceNo,modelName'))).toBe('noRows')
    expect(await readStart(bytes('x'.repeat(70_000)))).toBe('longHeading')
    expect(await readStart(bytes('{"deviceNo":\n'))).toBe('notJson')
    expect(await readStart({ size: limits.fileBytes + 1 } as Blob)).toBe('tooLarge')
  })
})

describe('the columns of a file', () => {
  test('are known by what people call them, and a column’s own name goes first', async () => {
    const start = await startOf(`序列号,Name,district_code,坐标,colour\n${deviceRow},red\n`)
    const names = namesOf(devices, start)
    expect(names).toEqual(['deviceNo', 'deviceName', 'districtCode', 'coordinates', undefined])
    expect(columnFaults(devices, start.headings, names)).toEqual({
      ...{ missing: [], twice: [], ignored: [] },
      unknown: ['colour'],
    })
    const both = await startOf('deviceNo,sn\na,b\n')
    expect(namesOf(devices, both)).toEqual(['deviceNo', undefined])
  })

  test('are told when they are missing or given twice', () => {
    const faults = columnFaults(inventory, ['a', 'b'], ['deviceNo', 'deviceNo'])
    expect(faults).toEqual({ missing: ['modelName'], twice: ['deviceNo'], unknown: [], ignored: [] })
  })

  test('of an export that cannot be set are ignored, and an update needs no more than its key', async () => {
    const start = await startOf('deviceNo,cityCode,cityName,status,colour\nSN-1,360100,x,1,red\n')
    const rows = { kind: 'devices', mode: 'upsert' } as const
    const names = namesOf(rows, start)
    expect(names).toEqual(['deviceNo', 'cityCode', 'cityName', 'status', undefined])
    expect(columnFaults(rows, start.headings, names)).toEqual({
      ...{ missing: [], twice: [] },
      ...{ unknown: ['colour'], ignored: ['cityName', 'status'] },
    })
    const sites = { kind: 'sites', mode: 'upsert' } as const
    expect(columnFaults(sites, ['id', 'siteName'], ['id', 'siteName'])).toMatchObject({ missing: [], ignored: [] })
    expect(columnFaults(sites, ['siteName'], ['siteName']).missing).toContain('contacts')
    expect(columnFaults({ ...sites, mode: 'create' }, ['id'], ['id']).ignored).toEqual(['id'])
  })

  test('are named in the first line as the service calls them; all else is sent as it is', async () => {
    const file = bytes('\ufeff"设备\n序列号",型号\r\nSN-1,东门\r\n')
    const start = (await readStart(file)) as FileStart
    expect(start.headings).toEqual(['设备\n序列号', '型号'])
    const { file: sent, ...query } = await sentOf(file, ['deviceNo', 'modelName'])
    expect([await sent.text(), query]).toEqual(['deviceNo,modelName\r\nSN-1,东门\r\n', {}])
    const known = bytes('deviceNo,modelName\nSN-1,Gate\n')
    expect((await sentOf(known, ['deviceNo', 'modelName'])).file).toBe(known)
  })

  test('of a file in GB 18030 are left out by their places, as the line is written in UTF-8', async () => {
    const file = bytes(gb18030.设备序列号, ',', gb18030.东门, ',note\n1,2,3\n')
    expect((await sentOf(file, ['deviceNo', leftOut, leftOut])).ignoreColumns).toBe('column 2,note')
  })

  test('are left out by their headings, or by their places where a heading cannot be told from others', async () => {
    const file = bytes('sn,备注,"a,b",,deviceNo,型号\n1,2,3,4,5,6\n')
    const start = (await readStart(file)) as FileStart
    const names = namesOf(inventory, start)
    expect(names).toEqual([undefined, undefined, undefined, undefined, 'deviceNo', 'modelName'])
    const chosen = ['deviceNo', leftOut, leftOut, leftOut, leftOut, 'modelName']
    expect(columnFaults(inventory, start.headings, chosen)).toEqual({
      missing: [],
      twice: [],
      unknown: [],
      ignored: [],
    })
    const { file: sent, ignoreColumns } = await sentOf(file, chosen)
    const left = '备注,column 3,column 4,column 5'
    expect([await sent.text(), ignoreColumns]).toEqual([`deviceNo,${left},modelName\r\n1,2,3,4,5,6\n`, left])
    // Many headings would make an address too long.
    const many = Array.from({ length: 300 }, (_, index) => `多余的列 ${index}`)
    const wide = bytes(`deviceNo,modelName,${many}\n`, '1,2\n')
    const asked = await sentOf(wide, ['deviceNo', 'modelName', ...many.map(() => leftOut)])
    expect(asked.ignoreColumns?.split(',').slice(0, 2)).toEqual(['column 3', 'column 4'])
    expect(encodeURIComponent(asked.ignoreColumns ?? '').length).toBeLessThan(8_000)
  })
})

describe('the result of an import', () => {
  const rows: ResultRow[] = [
    { line: 2, outcome: 'created', code: 0, msg: 'success', errors: null, deviceNo: '=1+1' },
    { line: 3, outcome: 'refused', code: 10001, msg: 'a, "b"', errors: [{ field: 'tag', reason: 'too long' }], id: 7 },
  ]

  test('is read as far as it is wanted, wherever the network cuts it', async () => {
    const text = new TextEncoder().encode(rows.map((row) => `${JSON.stringify({ ...row, msg: '成功' })}\n`).join(''))
    let isCancelled = false
    const body = () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (let from = 0; from < text.length; from += 7) controller.enqueue(text.slice(from, from + 7))
        },
        cancel() {
          isCancelled = true
        },
      })
    const first = await readRows(body(), 1)
    expect(first).toEqual({ rows: [{ ...(rows[0] as ResultRow), msg: '成功' }], isMore: true })
    expect(isCancelled).toBe(true)
    const whole = new Response(text).body as ReadableStream<Uint8Array>
    expect((await readRows(whole, 2)).isMore).toBe(false)
  })

  test('is written so that a spreadsheet shows it, and carries nothing of it out', () => {
    expect(resultCsv(rows)).toBe(
      '\ufeffline,key,outcome,code,reason\r\n2,\'=1+1,created,0,success\r\n3,7,refused,10001,"a, ""b""; tag: too long"\r\n',
    )
  })
})
