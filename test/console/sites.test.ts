import { describe, expect, test } from 'bun:test'
import { type Point, readPoint, swapped, writePoint } from '../../console/src/map/point.ts'
import {
  boxOf,
  clamped,
  graticuleOf,
  groupsOf,
  halfSizeOf,
  latitudeName,
  longitudeName,
  placeNames,
  writeBox,
} from '../../console/src/map/view.ts'
import { valuesLike, valuesOf } from '../../console/src/sites/form-values.ts'
import { compare } from '../../console/src/ui/form/compare.ts'
import type { SiteRecord } from '../../src/sites/contract.ts'
import { siteBody } from '../kit/records.ts'

const site = {
  ...siteBody('app', { detailAddress: 'No. 1', fastChargeBillRuleId: 7, ipcIds: null }),
  id: 1,
  longitude: null,
} as unknown as SiteRecord

test('the form of a site begins with the site, or with nothing', () => {
  expect(valuesOf(site)).toMatchObject({ siteName: 'Riverside charging park', ipcIds: '', fastChargeBillRuleId: 7 })
  expect(Object.keys(valuesOf(undefined))).toEqual(Object.keys(valuesOf(site)))
})

test('the form of a site like another begins without its name, place, pictures and cameras', () => {
  const other = { ...site, coordinates: '115.9,28.7', sitePictureUrl: 'https://example.com/a.png', ipcIds: 'ipc-1' }
  const own = { siteName: '', detailAddress: '', coordinates: '', sitePictureUrl: '', ipcIds: '' }
  expect(valuesLike(other)).toEqual({ ...valuesOf(site), ...own })
})

describe('a place on the map', () => {
  test('is read from longitude,latitude and nothing else', () => {
    expect(readPoint('115.899918, 28.676493')).toEqual({ longitude: 115.899918, latitude: 28.676493 })
    for (const text of ['', '1', '1,2,3', '181,0', '0,91', '1e1,2', '.5,1', 'a,b']) {
      expect(readPoint(text)).toBeUndefined()
    }
    expect(writePoint({ longitude: 115.8999180001, latitude: -0.5 })).toBe('115.899918,-0.5')
  })

  test('is seen to be swapped where only the other way is a place, or one in China', () => {
    expect(swapped('28.676493,115.899918')).toBe('115.899918,28.676493')
    expect(swapped('31.2, 121.5')).toBe('121.5,31.2')
    expect(swapped('115.899918,28.676493')).toBeUndefined()
    expect(swapped('10,20')).toBeUndefined()
    expect(swapped('nowhere')).toBeUndefined()
    // 50 E, 60 N and the swapped 60 E, 50 N are both possible places outside China, so nothing shows an error.
    expect(swapped('50,60')).toBeUndefined()
    // 80 E, 40 N is in China, so the coordinates are right as they are.
    expect(swapped('80,40')).toBeUndefined()
    expect(swapped('40,80')).toBe('80,40')
    expect(swapped('200,200')).toBeUndefined()
  })

  test('is shown with room round it, and no part lies beyond the globe', () => {
    expect(boxOf([])).toEqual({ minLng: 73, minLat: 17, maxLng: 136, maxLat: 54 })
    const one = boxOf([{ longitude: 115, latitude: 28 }])
    expect(writeBox(one)).toBe('114.99,27.99,115.01,28.01')
    const far = boxOf([
      { longitude: -180, latitude: -90 },
      { longitude: 180, latitude: 90 },
    ])
    expect(far).toEqual({ minLng: -180, minLat: -90, maxLng: 180, maxLat: 90 })
    expect(clamped(far)).toEqual(far)
  })

  test('lies between lines of round degrees', () => {
    const { longitudes, latitudes } = graticuleOf({ minLng: 73, minLat: 17, maxLng: 136, maxLat: 54 })
    expect(longitudes).toEqual([80, 90, 100, 110, 120, 130])
    expect(latitudes).toEqual([20, 30, 40, 50])
    const names = [longitudeName(80), longitudeName(-80), latitudeName(-0.5), latitudeName(0)]
    expect(names).toEqual(['80°E', '80°W', '0.5°S', '0°'])
  })

  test('is drawn as one with those that would cover it', () => {
    const points = [0, 1, 50].map((longitude, id) => ({ id, longitude, latitude: 0 }))
    const groups = groupsOf(points, ({ longitude }) => ({ x: longitude, y: 0 }))
    expect(groups.map((group) => group.points.map(({ id }) => id))).toEqual([[0, 1], [2]])
  })

  test('is drawn in no group that covers another, at any zoom, however many there are', () => {
    let state = 7
    const random = () => {
      state = (state * 1103515245 + 12345) % 2 ** 31
      return state / 2 ** 31
    }
    const points = Array.from({ length: 2000 }, (_, id) => ({
      id,
      longitude: 75 + (id % 3 === 0 ? random() : random() ** 6) * 60,
      latitude: 20 + random() ** 3 * 30,
    }))
    for (const scale of [2, 10, 60, 500]) {
      const pixelOf = ({ longitude, latitude }: Point) => ({ x: longitude * scale, y: -latitude * scale })
      const groups = groupsOf(points, pixelOf)
      expect(groups.flatMap((group) => group.points.map(({ id }) => id)).sort((a, b) => a - b)).toEqual(
        points.map(({ id }) => id),
      )
      const covering = groups.flatMap((one, index) =>
        groups.slice(index + 1).filter((other) => {
          const [a, b] = [pixelOf(one), pixelOf(other)]
          const [half, otherHalf] = [halfSizeOf(one), halfSizeOf(other)]
          return (
            Math.abs(a.x - b.x) < half.width + otherHalf.width && Math.abs(a.y - b.y) < half.height + otherHalf.height
          )
        }),
      )
      expect(covering).toEqual([])
    }
  })

  test('is called by its town, or by its district where all lie in one town, the largest first and each once', () => {
    const point = (id: number, city: string, district: string) => ({ id, longitude: id, latitude: 0, city, district })
    const town = [point(1, '南昌市', '东湖区'), point(2, '南昌市', '西湖区'), point(3, '南昌市', '西湖区')]
    expect(placeNames(town).map(({ name, longitude }) => [name, longitude])).toEqual([
      ['西湖区', 2],
      ['东湖区', 1],
    ])
    expect(placeNames([point(4, '九江市', ''), ...town]).map(({ name }) => name)).toEqual(['南昌市', '九江市'])
    expect(placeNames([{ id: 1, longitude: 0, latitude: 0 }])).toEqual([])
  })
})

test('two records are compared member by member, those of their parts too, in the order of the newer', () => {
  const period = (startTime: string, servicePrice: string) => ({ startTime, servicePrice })
  const before = { a: 1, gone: 'x', list: [1, 2], same: { b: null }, periods: [period('00:00:00', '1')] }
  const periods = [period('00:00:00', '2'), period('08:00:00', '3')]
  const after = { same: { b: null }, a: 2, list: [1, 2], fresh: true, periods }
  expect(compare(before, after)).toEqual([
    { member: 'same b', before: 'null', after: 'null', isChanged: false },
    { member: 'a', before: '1', after: '2', isChanged: true },
    { member: 'list', before: '[1,2]', after: '[1,2]', isChanged: false },
    { member: 'fresh', before: undefined, after: 'true', isChanged: true },
    { member: 'periods 00:00:00 startTime', before: '00:00:00', after: '00:00:00', isChanged: false },
    { member: 'periods 00:00:00 servicePrice', before: '1', after: '2', isChanged: true },
    { member: 'periods 08:00:00 startTime', before: undefined, after: '08:00:00', isChanged: true },
    { member: 'periods 08:00:00 servicePrice', before: undefined, after: '3', isChanged: true },
    { member: 'gone', before: 'x', after: undefined, isChanged: true },
  ])
  expect(compare(null, { a: 1 })).toEqual([{ member: 'a', before: undefined, after: '1', isChanged: true }])
})
