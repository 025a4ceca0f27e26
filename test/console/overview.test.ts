import { describe, expect, test } from 'bun:test'
import { axisOf, barsOf, clockAt, dayOf, hoursOf, spikesOf } from '../../console/src/overview/day.ts'

const minute = (time: string, creates: number, refusals = 0) => ({ time: `2026-03-02 ${time}`, creates, refusals })

describe('the day of the overview', () => {
  test('ends with the last minute that is listed, and has none in those that are not', () => {
    const day = dayOf([minute('08:15:00', 3), minute('19:42:00', 5, 2)])
    expect([day.creates[1439], day.refusals[1439], day.creates[1438]]).toEqual([5, 2, 0])
    expect(clockAt(day, 1439)).toBe('19:42')
    expect(day.creates[day.creates.indexOf(3)]).toBe(3)
    expect(clockAt(day, day.creates.indexOf(3))).toBe('08:15')
    expect(hoursOf(day, 4).map((index) => clockAt(day, index))).toEqual([
      '20:00',
      '00:00',
      '04:00',
      '08:00',
      '12:00',
      '16:00',
    ])
  })

  test('is read beside a spike, which is told by its number', () => {
    const values = Array.from({ length: 1440 }, (_, index) => 40 + (index % 20))
    expect(axisOf(values, 4)).toEqual([0, 20, 40, 60])
    values[700] = 5400
    values[705] = 900
    values[900] = 300
    expect(axisOf(values, 4).at(-1)).toBe(80)
    expect(spikesOf(values, 80)).toEqual([
      { index: 700, value: 5400 },
      { index: 900, value: 300 },
    ])
  })

  test('is shown whole where little happened', () => {
    expect(axisOf([0, 0, 1], 4)).toEqual([0, 1])
    expect(axisOf([], 2)).toEqual([0, 1])
    expect(axisOf([1, 1, 400], 4)).toEqual([0, 100, 200, 300, 400])
    expect(barsOf([0, 5, 40], 10)).toBe('M1 100V50.0h1V100M2 100V0.0h1V100')
  })
})
