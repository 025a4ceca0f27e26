import { describe, expect, test } from 'bun:test'
import { Check } from 'typebox/value'
import { momentFormat, momentReader, readTimeRange, setTimeZone } from './moments.ts'
import { momentText } from './values.ts'

describe('a moment is read as the instant that shows it', () => {
  const zones = ['Asia/Shanghai', 'UTC', 'America/St_Johns', 'Pacific/Kiritimati', 'Pacific/Niue', 'Europe/Berlin']
  test.each(zones)('%s', (timeZone) => {
    const [show, read] = [momentFormat(timeZone), momentReader(timeZone)]
    for (let instant = Date.UTC(1999, 11, 31, 23, 59, 59); instant < Date.UTC(2030, 0, 1); instant += 86_399_000 * 11) {
      const text = show(new Date(instant))
      expect(show(read(text))).toBe(text)
      expect([read(text).getTime(), read(text, 'last').getTime()]).toContain(instant)
    }
  })
})

// In Berlin the clocks went from 02:00 to 03:00 at 01:00 UTC on 31 March 2024, and back at 01:00 UTC on 27 October.
const berlin = momentReader('Europe/Berlin')
const iso = (instant: Date) => instant.toISOString().slice(0, 19)

test('a moment that the clocks repeat is its first occurrence, or its last when that is asked for', () => {
  expect(iso(berlin('2024-10-27 02:30:00'))).toBe('2024-10-27T00:30:00')
  expect(iso(berlin('2024-10-27 02:30:00', 'last'))).toBe('2024-10-27T01:30:00')
  for (const [text, instant] of [
    ['2024-10-27 01:59:59', '2024-10-26T23:59:59'],
    ['2024-10-27 03:00:00', '2024-10-27T02:00:00'],
  ] as const) {
    expect([iso(berlin(text)), iso(berlin(text, 'last'))]).toEqual([instant, instant])
  }
})

test('a moment that the clocks skip is the instant at which they skip it', () => {
  for (const text of ['2024-03-31 02:00:00', '2024-03-31 02:30:00', '2024-03-31 02:59:59']) {
    expect([iso(berlin(text)), iso(berlin(text, 'last'))]).toEqual(['2024-03-31T01:00:00', '2024-03-31T01:00:00'])
  }
  expect(iso(berlin('2024-03-31 01:59:59'))).toBe('2024-03-31T00:59:59')
  expect(iso(berlin('2024-03-31 03:00:00'))).toBe('2024-03-31T01:00:00')
})

test('a moment is a day of the calendar and a time of the day', () => {
  for (const text of ['2024-02-29 00:00:00', '2000-02-29 23:59:59', '1900-01-31 12:00:00', '2999-12-31 23:59:59']) {
    expect(Check(momentText, text), text).toBe(true)
  }
  for (const text of [
    ...['2023-02-29 00:00:00', '1900-02-29 00:00:00', '2100-02-29 00:00:00', '2024-04-31 00:00:00'],
    ...['2024-02-30 00:00:00', '2024-13-01 00:00:00', '2024-00-01 00:00:00', '2024-01-00 00:00:00'],
    ...['2024-01-01 24:00:00', '2024-01-01T00:00:00', '2024-01-01 00:00:00Z', '2024-01-01T00:00:00 08:00'],
    ...['2024-01-01T00:00:00+0800', '2024-01-01T00:00:00+24:00', '2024-01-01T00:00:00.Z', '2024-01-01T24:00:00Z'],
    ...['2023-02-29T00:00:00Z', '2024-01-01T00:00Z', '2024-01-01', '1899-12-31 23:59:59', '3000-01-01 00:00:00'],
    ' 2024-01-01 00:00:00',
  ]) {
    expect(Check(momentText, text), text).toBe(false)
  }
})

test('a moment of RFC 3339 is its instant, to the millisecond', () => {
  for (const [text, instant] of [
    ['2024-10-27T02:30:00Z', '2024-10-27T02:30:00.000Z'],
    ['2024-10-27t02:30:00.5z', '2024-10-27T02:30:00.500Z'],
    ['2024-10-27T02:30:00.123999999+08:00', '2024-10-26T18:30:00.123Z'],
    ['2024-02-29T23:59:59-00:30', '2024-03-01T00:29:59.000Z'],
  ] as const) {
    expect(Check(momentText, text), text).toBe(true)
    expect(berlin(text).toISOString()).toBe(instant)
  }
})

test('a time filter holds all of the second that it ends with, or of the millisecond', () => {
  setTimeZone('Europe/Berlin')
  const read = readTimeRange
  const ends = (timeFrom: string | null, timeTo: string) => {
    const { from, before } = read({ timeFrom, timeTo })
    return [from?.toISOString(), before?.toISOString()]
  }
  expect(read({ timeFrom: '', timeTo: null })).toEqual({ from: null, before: null })
  expect(ends('2024-10-27 02:30:00', '2024-10-27 02:30:00')).toEqual([
    '2024-10-27T00:30:00.000Z',
    '2024-10-27T01:30:01.000Z',
  ])
  expect(ends(null, '2024-10-27T02:30:00Z')).toEqual([undefined, '2024-10-27T02:30:01.000Z'])
  expect(ends(null, '2024-10-27T02:30:00.25Z')).toEqual([undefined, '2024-10-27T02:30:00.251Z'])
})

test('every day that momentText admits is a day of the calendar, and every such day is admitted', () => {
  for (const year of [1900, 1904, 2000, 2023, 2024, 2100, 2400]) {
    for (let month = 1; month <= 12; month++) {
      for (let day = 1; day <= 31; day++) {
        const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`
        const isDay =
          new Date(`${text}T00:00:00Z`).getUTCDate() === day && !Number.isNaN(Date.parse(`${text}T00:00:00Z`))
        expect(Check(momentText, `${text} 00:00:00`), text).toBe(isDay)
      }
    }
  }
})
