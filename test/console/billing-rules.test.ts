import { describe, expect, test } from 'bun:test'
import {
  borderRange,
  completeTime,
  isSound,
  keyTarget,
  moveBorder,
  periodAt,
  periodFault,
  readMoney,
  readTime,
  secondsOfDay,
  showMoney,
  showTime,
  spansOf,
  splitPoint,
  totalPrice,
} from '../../console/src/pricing/day-periods.ts'

const period = (startTime: string, electricityPrice = '0.5', servicePrice = '0.3') => ({
  startTime,
  electricityPrice,
  servicePrice,
})
const day = [period('00:00:00'), period('08:07:30', '1.2345'), period('22:00:00')]
const starts = (periods: { startTime: string }[]) => periods.map(({ startTime }) => startTime)

describe('the day of a billing rule', () => {
  test('reads and shows times of day', () => {
    expect(readTime('08:07:30')).toBe(29_250)
    for (const text of ['24:00:00', '8:00:00', '08:00', '', '08:60:00']) expect(readTime(text)).toBeUndefined()
    expect(showTime(29_250)).toBe('08:07:30')
    expect(showTime(86_400)).toBe('24:00:00')
    expect(completeTime('7:30')).toBe('07:30:00')
    expect(completeTime('7')).toBe('07:00:00')
    expect(completeTime('25:00')).toBe('25:00')
    expect(completeTime('soon')).toBe('soon')
  })

  test('adds money without ever making a fraction of it', () => {
    expect(readMoney('0.1')).toBe(1000)
    expect(readMoney('999999999.9999')).toBe(9_999_999_999_999)
    for (const text of ['', '.5', '01', '1.', '1.23456', '-1', '1e3']) expect(readMoney(text)).toBeUndefined()
    expect(showMoney(totalPrice(period('00:00:00', '0.1', '0.2')) ?? 0)).toBe('0.30')
    expect(showMoney(totalPrice(period('00:00:00', '999999999.9999', '0.0001')) ?? 0)).toBe('1000000000.00')
    expect(showMoney(8535)).toBe('0.8535')
    expect(showMoney(8530)).toBe('0.853')
  })

  test('makes spans of periods that are in order, and none of others', () => {
    expect(spansOf(day)?.map(({ start, end }) => [start, end])).toEqual([
      [0, 29_250],
      [29_250, 79_200],
      [79_200, 86_400],
    ])
    expect(spansOf([])).toBeUndefined()
    expect(spansOf([period('01:00:00')])).toBeUndefined()
    expect(spansOf([period('00:00:00'), period('09:00:00'), period('08:00:00')])).toBeUndefined()
    expect(spansOf([period('00:00:00'), period('9')])).toBeUndefined()
  })

  test('moves a border by quarters of an hour, between its neighbours', () => {
    expect(starts(moveBorder(day, 1, 9 * 3600 + 400))).toEqual(['00:00:00', '09:00:00', '22:00:00'])
    expect(starts(moveBorder(day, 1, -5))).toEqual(['00:00:00', '00:15:00', '22:00:00'])
    expect(starts(moveBorder(day, 1, 90_000))).toEqual(['00:00:00', '21:45:00', '22:00:00'])
    expect(starts(moveBorder(day, 2, 90_000))).toEqual(['00:00:00', '08:07:30', '23:45:00'])
    expect(starts(moveBorder(day, 2, 0))).toEqual(['00:00:00', '08:07:30', '08:15:00'])
    // No quarter of an hour lies between 00:00 and 00:10, so the border cannot move.
    const close = [period('00:00:00'), period('00:05:00'), period('00:10:00')]
    expect(starts(moveBorder(close, 1, 600))).toEqual(starts(close))
    // The first period always starts at midnight.
    expect(starts(moveBorder(day, 0, 600))).toEqual(starts(day))
  })

  test('takes the keys of a slider', () => {
    const range = borderRange(spansOf(day) ?? [], 1) ?? { least: 0, most: 0 }
    expect(range).toEqual({ least: 900, most: 78_300 })
    const target = (key: string) => showTime(keyTarget(key, 29_250, range) ?? 0)
    expect(target('ArrowRight')).toBe('08:15:00')
    expect(target('ArrowLeft')).toBe('08:00:00')
    expect(target('PageUp')).toBe('09:00:00')
    expect(target('PageDown')).toBe('08:00:00')
    expect(target('Home')).toBe('00:15:00')
    expect(target('End')).toBe('21:45:00')
    expect(keyTarget('a', 0, range)).toBeUndefined()
  })

  test('splits a period inside of it', () => {
    const span = { start: 0, end: 3600, total: 1 }
    expect(splitPoint(span, 1700)).toBe(1800)
    expect(splitPoint(span, 10)).toBe(900)
    expect(splitPoint(span, 3590)).toBe(2700)
    expect(splitPoint({ start: 0, end: 900, total: 1 }, 450)).toBeUndefined()
  })

  test('knows the period of a moment, and the moment of a zone', () => {
    expect(periodAt(day, 29_249)?.startTime).toBe('00:00:00')
    expect(periodAt(day, 29_250)?.startTime).toBe('08:07:30')
    expect(periodAt(day, 86_399)?.startTime).toBe('22:00:00')
    const midnight = new Date('2026-03-01T16:00:05Z')
    expect(secondsOfDay(midnight, 'Asia/Shanghai')).toBe(5)
    expect(secondsOfDay(midnight, 'UTC')).toBe(16 * 3600 + 5)
  })

  test('finds the faults that the service would find', () => {
    expect(isSound(day)).toBe(true)
    expect(isSound([])).toBe(false)
    const faulty = [period('00:00:01', '1.'), period('8:00'), period('08:00:00'), period('08:00:00')]
    expect(periodFault(faulty, 0, 'startTime')).toBe('first')
    expect(periodFault(faulty, 0, 'electricityPrice')).toBe('money')
    expect(periodFault(faulty, 1, 'startTime')).toBe('time')
    expect(periodFault(faulty, 3, 'startTime')).toBe('order')
    expect(isSound(Array.from({ length: 33 }, (_, index) => period(showTime(index * 900))))).toBe(false)
  })
})
