import { describe, expect, test } from 'bun:test'
import { daysUntilFull, forecastYear } from './forecast.ts'

const megabyte = 1_000_000

describe('the forecast of a database', () => {
  test('grows as in the last week where nothing is removed', () => {
    const known = {
      bytes: 100 * megabyte,
      bytesPerDay: megabyte,
      tables: [{ bytes: megabyte, keptDays: null }],
      ageDays: 50,
    }
    const months = forecastYear(known)
    expect(months).toHaveLength(12)
    expect(months.at(-1)).toEqual({ days: 365, bytes: 465 * megabyte })
    expect(daysUntilFull(known, 100 * megabyte)).toBe(101)
    expect(daysUntilFull(known, 1000 * megabyte)).toBeNull()
  })

  test('stops to grow where all is kept for some days', () => {
    const tables = [{ bytes: 10 * megabyte, keptDays: 30 }]
    const known = { bytes: 10 * megabyte, bytesPerDay: megabyte, tables, ageDays: 10 }
    expect(forecastYear(known).map(({ bytes }) => bytes)).toEqual(Array(12).fill(30 * megabyte))
    expect(daysUntilFull(known, 15 * megabyte)).toBe(16)
    expect(daysUntilFull(known, 25 * megabyte)).toBeNull()
  })

  test('of a table that is as old as its days grows by the rest alone', () => {
    const tables = [{ bytes: 300 * megabyte, keptDays: 30 }]
    const known = { bytes: 400 * megabyte, bytesPerDay: megabyte / 2, tables, ageDays: 400 }
    expect(forecastYear(known).at(-1)?.bytes).toBe(400 * megabyte + (365 * megabyte) / 2)
  })

  test('of a database that grew less than before grows no faster than it does', () => {
    const tables = [{ bytes: 100 * megabyte, keptDays: 400 }]
    const slow = { bytes: 100 * megabyte, bytesPerDay: megabyte, tables, ageDays: 10 }
    expect(forecastYear(slow).at(-1)?.bytes).toBe(465 * megabyte)
    const shrinking = { ...slow, bytesPerDay: -megabyte }
    expect(forecastYear(shrinking).at(-1)?.bytes).toBe(100 * megabyte)
    expect(daysUntilFull(shrinking, megabyte)).toBeNull()
  })
})
