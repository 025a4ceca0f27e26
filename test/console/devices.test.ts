import { describe, expect, test } from 'bun:test'
import {
  blankDraft,
  type Draft,
  draftColumns,
  faultsOf,
  repeatedSerials,
  tidyPair,
  toRegistration,
} from '../../console/src/imports/row-faults.ts'
import { readTable, tableText } from '../../console/src/imports/table-text.ts'
import { DeviceRegistration } from '../../src/devices/contract.ts'
import { validator } from '../../src/http/validate.ts'

const draft = (members: Partial<Draft> = {}): Draft => ({
  ...blankDraft,
  deviceNo: 'SN-1',
  deviceName: 'East gate',
  districtCode: '360102',
  coordinates: '115.899918,28.676493',
  ...members,
})

const isAccepted = (members: Partial<Draft>) => {
  const check = validator(DeviceRegistration, 'body', undefined)
  try {
    check({ appId: 'app', ...toRegistration(draft(members)) })
    return true
  } catch {
    return false
  }
}

describe('a device before it is registered', () => {
  const cases: [Partial<Draft>, ReturnType<typeof faultsOf>][] = [
    [{}, {}],
    [
      { deviceNo: ' ', deviceName: '', districtCode: '', coordinates: '' },
      { deviceNo: 'needed', deviceName: 'needed', districtCode: 'needed', coordinates: 'needed' },
    ],
    [{ deviceNo: 'SN 1' }, { deviceNo: 'hasSpace' }],
    [{ deviceNo: 'x'.repeat(64), tag: '𝄞'.repeat(512) }, {}],
    [{ deviceNo: 'x'.repeat(65) }, { deviceNo: 'tooLong' }],
    [{ deviceName: '名'.repeat(65) }, { deviceName: 'tooLong' }],
    [{ tag: '𝄞'.repeat(513) }, { tag: 'tooLong' }],
    [{ detailAddress: 'x'.repeat(256) }, { detailAddress: 'tooLong' }],
    [
      { provinceCode: '1'.repeat(13), cityCode: '1'.repeat(13) },
      { provinceCode: 'tooLong', cityCode: 'tooLong' },
    ],
    [{ coordinates: 'nowhere' }, { coordinates: 'notCoordinates' }],
    [{ coordinates: '181,91' }, { coordinates: 'notCoordinates' }],
    [{ coordinates: '28.676493,115.899918' }, { coordinates: 'swapped' }],
    [{ coordinates: '-180 , -90.0' }, {}],
  ]

  test('has the faults that the service would find', () => {
    for (const [members, faults] of cases) {
      expect(faultsOf(draft(members))).toEqual(faults)
      expect(isAccepted(members), JSON.stringify(members)).toBe(Object.keys(faults).length === 0)
    }
  })

  test('is sent without what is empty, and without the spaces round what is typed', () => {
    expect(toRegistration(draft({ deviceNo: ' SN-1 ', tag: '  ', detailAddress: ' No. 1 ' }))).toEqual({
      deviceNo: 'SN-1',
      deviceName: 'East gate',
      districtCode: '360102',
      coordinates: '115.899918,28.676493',
      tag: null,
      detailAddress: 'No. 1',
      provinceCode: null,
      cityCode: null,
    })
  })

  test('is told from others of its serial number', () => {
    const drafts = ['a', 'b', 'a', '', '', 'c', 'b'].map((deviceNo) => draft({ deviceNo }))
    expect(repeatedSerials(drafts)).toEqual(new Set(['a', 'b']))
  })
})

describe('coordinates', () => {
  test('are put in order as maps and chats write them', () => {
    expect(tidyPair('28.676493， 115.899918')).toBe('28.676493,115.899918')
    expect(tidyPair('(115.9, 28.7)')).toBe('115.9,28.7')
    expect(tidyPair(' 115.9 28.7 ')).toBe('115.9,28.7')
    expect(tidyPair('1,2,3')).toBe('1,2,3')
    expect(tidyPair(' east gate 1, 2 ')).toBe('east gate 1, 2')
  })
})

describe('a pasted table', () => {
  const read = (text: string) => readTable(text, draftColumns, 'coordinates')
  const filled = (text: string) =>
    read(text).rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== '')))

  test('is read by its heading, in either language, in any order, with quotes and unknown columns', () => {
    const { ignored } = read('序列号,名称,colour\nSN-1,East,red')
    expect(ignored).toEqual(['colour'])
    expect(filled('序列号,名称,区县代码,坐标,colour\nSN-1,"Gate, ""one""",360102,"115.9,28.7",red')).toEqual([
      { deviceNo: 'SN-1', deviceName: 'Gate, "one"', districtCode: '360102', coordinates: '115.9,28.7' },
    ])
    expect(filled('Name\tSerial No\r\nEast\tSN-1\r\n\r\nWest\tSN-2\r\n')).toEqual([
      { deviceName: 'East', deviceNo: 'SN-1' },
      { deviceName: 'West', deviceNo: 'SN-2' },
    ])
    expect(filled('device_no;device-name\nSN-1;East')).toEqual([{ deviceNo: 'SN-1', deviceName: 'East' }])
  })

  test('without a heading has its columns in their order, and a line may be one value', () => {
    expect(filled('SN-1\nSN-2')).toEqual([{ deviceNo: 'SN-1' }, { deviceNo: 'SN-2' }])
    expect(filled('SN-1,East,360102')).toEqual([{ deviceNo: 'SN-1', deviceName: 'East', districtCode: '360102' }])
    expect(filled('')).toEqual([])
  })

  test('joins coordinates whose comma nobody quoted', () => {
    expect(filled('SN-1,East,360102,115.9,28.7,lane 1')).toEqual([
      { deviceNo: 'SN-1', deviceName: 'East', districtCode: '360102', coordinates: '115.9,28.7', tag: 'lane 1' },
    ])
  })

  test('is written so that a spreadsheet reads it back', () => {
    const rows = [
      ['SN-1', 'Gate "one"', 'two\nlines'],
      ['SN-2', 'a\ttab', ''],
    ]
    expect(tableText(rows)).toBe('SN-1\t"Gate ""one"""\t"two\nlines"\nSN-2\t"a\ttab"\t')
  })

  test('of thousands of rows is read at once', () => {
    const serials = Array.from({ length: 20_001 }, (_, index) => `SN-${index}`)
    const { rows } = read(`序列号\r\n${serials.join('\r\n')}\r\n`)
    expect(rows.map(({ deviceNo }) => deviceNo)).toEqual(serials)
  })
})
