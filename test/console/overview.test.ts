import { describe, expect, test } from 'bun:test'
import {
  axisOf,
  barsOf,
  busyHours,
  clockAt,
  dayOf,
  hourAt,
  hoursOf,
  rangeOf,
  spikesOf,
  sumOf,
} from '../../console/src/overview/day.ts'

const minute = (time: string, creates: number, refusals = 0) => ({
  time: `2026-03-02 ${time}`,
  creates,
  siteCreates: 0,
  refusals,
})

describe('the day of the overview', () => {
  test('ends with the last minute that is listed, and has none in those that are not', () => {
    const day = dayOf([minute('08:15:00', 3), minute('19:42:00', 5, 2)])
    expect([day.devices[1439], day.refusals[1439], day.devices[1438]]).toEqual([5, 2, 0])
    expect(clockAt(day, 1439)).toBe('19:42')
    expect(day.devices[day.devices.indexOf(3)]).toBe(3)
    expect(clockAt(day, day.devices.indexOf(3))).toBe('08:15')
    const clocks = hoursOf(day, 4).map((index) => clockAt(day, index))
    expect(clocks.join(' ')).toBe('20:00 00:00 04:00 08:00 12:00 16:00')
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

  test('is read beside a spike also where only some minutes had any', () => {
    const values = new Array<number>(1440).fill(0)
    values[100] = 5200
    values.fill(3, 200, 210)
    expect(axisOf(values, 4).at(-1)).toBe(4)
    expect(spikesOf(values, 4)).toEqual([{ index: 100, value: 5200 }])
  })

  test('is shown whole where little happened', () => {
    expect(axisOf([0, 0, 1], 4)).toEqual([0, 1])
    expect(axisOf([], 2)).toEqual([0, 1])
    expect(axisOf([1, 1, 400], 4)).toEqual([0, 100, 200, 300, 400])
    expect(barsOf([0, 5, 40], 10)).toBe('M1 100V50.0h1V100M2 100V0.0h1V100')
  })

  test('has the devices online of each sample until the next, and none where nobody counted', () => {
    const sample = (time: string, devicesOnline: number) => ({ time: `2026-03-02 ${time}`, devicesOnline })
    const day = dayOf([minute('12:00:00', 3)], [sample('11:00:00', 70), sample('11:05:00', 80), sample('12:10:00', 90)])
    // The sample is later than the last minute in which something was made.
    expect([clockAt(day, 1439), day.online[1439]]).toEqual(['12:10', 90])
    const at = (clock: string) =>
      day.online[[...day.online.keys()].find((index) => clockAt(day, index) === clock) ?? -1]
    expect(['10:59', '11:04', '11:05', '11:19', '11:20'].map(at)).toEqual([0, 70, 80, 80, 0])
    expect(dayOf([], [sample('12:10:00', 90)]).online[1439]).toBe(90)
  })

  test('leads from each hour in which something happened to its rows', () => {
    const day = dayOf([minute('08:15:00', 3), minute('08:59:00', 4), minute('09:00:00', 5), minute('19:42:00', 0, 2)])
    const hours = busyHours(day, day.devices)
    expect(hours.map(({ first, sum }) => [clockAt(day, first), sum])).toEqual([
      ['08:00', 7],
      ['09:00', 5],
    ])
    expect(hours.map((hour) => rangeOf(day, hour))).toEqual([
      { timeFrom: '2026-03-02 08:00:00', timeTo: '2026-03-02 08:59:59' },
      { timeFrom: '2026-03-02 09:00:00', timeTo: '2026-03-02 09:59:59' },
    ])
    // The last hour is incomplete, because the day ends with its last minute.
    const [last] = busyHours(day, day.refusals)
    expect(last).toEqual({ first: 1440 - 43, end: 1440, sum: 2 })
    // The first hour, which belongs to the day before, is incomplete too.
    const late = dayOf([{ ...minute('19:50:00', 1), time: '2026-03-01 19:50:00' }, minute('19:42:00', 0, 2)])
    const [first] = busyHours(late, late.devices)
    expect(first && [first.first, first.sum]).toEqual([0, 1])
    // Only the minutes that are counted: the rows before them are not.
    expect(first && rangeOf(late, first)).toEqual({ timeFrom: '2026-03-01 19:43:00', timeTo: '2026-03-01 19:59:59' })
    expect(hourAt(late, 5)).toEqual({ first: 0, end: 17 })
    expect(hourAt(late, 20)).toEqual({ first: 17, end: 77 })
    expect(sumOf(late.devices, hourAt(late, 16))).toBe(1)
  })
})
