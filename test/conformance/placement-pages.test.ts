import { describe, expect, test } from 'bun:test'
import { newApplication, newSerial } from '../kit/records.ts'
import { detail, history, newPlaced, page, place, remove } from './placement-support.ts'
import {
  client,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  exported,
  linesOf,
  newDevice,
  newSite,
  succeed,
} from './support.ts'

const app = await newApplication(client)
const other = await newApplication(client)

const report = async (deviceNo: string, state: Record<string, unknown>) =>
  await succeed('reportDeviceState', { deviceNo, ...state }, app)

describe('pagePlacements', () => {
  test('answers placements newest first, with what is shown of their devices now', async () => {
    const site = await newSite(app)
    const [one, two] = [await newPlaced(app, site, { deviceName: 'One' }), await newPlaced(app, site)]
    const remark = { status: 2, runStatus: 1, statusRemark: 'E17' }
    await report(one, remark)
    const { list, total, nextCursor } = await page(app, { siteId: site })
    expect([list.map(({ deviceNo }) => deviceNo), total, nextCursor]).toEqual([[two, one], 2, null])
    const shown = expectSuccess(await detail(app, one))
    const { lastReportTime } = list[1] ?? {}
    expectNow(lastReportTime as string)
    expect(list[1]).toEqual({ ...shown, deviceName: 'One', onlineStatus: 1, ...remark, lastReportTime } as never)
    const fresh = { status: 1, onlineStatus: 2, runStatus: 0, statusRemark: null, lastReportTime: null }
    expect(list[0]).toMatchObject(fresh)
  })

  test('answers where each of several devices stands, and says nothing of those that stand nowhere or are another’s', async () => {
    const [north, south] = [await newSite(app), await newSite(app)]
    const [one, two, nowhere] = [await newPlaced(app, north), await newPlaced(app, south), newSerial()]
    await newDevice(app, { deviceNo: nowhere })
    const foreign = await newPlaced(other, await newSite(other))
    const asked = { deviceNos: [one, nowhere, foreign, two, one, newSerial()].join(','), pageSize: 100 }
    const { list, total } = await page(app, asked)
    const places = list.map(({ deviceNo, siteId }) => `${deviceNo} ${siteId}`)
    expect([places, total]).toEqual([[`${two} ${south}`, `${one} ${north}`], 2])
    expect((await page(app, { ...asked, siteId: north })).list.map(({ deviceNo }) => deviceNo)).toEqual([one])
    const hundred = Array.from({ length: 100 }, () => newSerial())
    expect((await page(app, { deviceNos: hundred.join(',') })).total).toBe(0)
    for (const deviceNos of [`${hundred.join(',')},x`, ',', 'a,,b', 'a b']) {
      expectFaults(await client.call('pagePlacements', { deviceNos }, app), ['deviceNos'])
    }
  })

  test('filters by site, part of the serial, lane, state of the device and region of the site, and by all of them together', async () => {
    const own = await newApplication(client)
    const [beijing, guangdong] = [
      { provinceCode: '110000', cityCode: '110100', districtCode: '110101' },
      { provinceCode: '440000', cityCode: '440100', districtCode: '440103' },
    ]
    const [north, south] = [await newSite(own, beijing), await newSite(own, guangdong)]
    const states: Record<string, object> = { a: { status: 2 }, c: { runStatus: 2 } }
    for (const [name, site, laneType] of [
      ['a', north, 1],
      ['b', north, 2],
      ['c', south, 1],
      ['d', south, 4],
    ] as const) {
      const deviceNo = await newDevice(own, { deviceNo: newSerial(`Part-${name}`) })
      expectSuccess(await place(own, deviceNo, site, { laneType }))
      if (states[name]) await succeed('reportDeviceState', { deviceNo, ...states[name] }, own)
    }
    const all = { siteId: south, deviceNo: 'part', laneType: 1, status: 1, onlineStatus: 1, runStatus: 2 }
    const filters: [filter: object, names: string][] = [
      [{}, 'dcba'],
      [{ siteId: north }, 'ba'],
      [{ deviceNo: 'pART-C' }, 'c'],
      [{ laneType: 1 }, 'ca'],
      [{ status: 2 }, 'a'],
      [{ onlineStatus: 1 }, 'ca'],
      [{ onlineStatus: 2 }, 'db'],
      [{ runStatus: 2 }, 'c'],
      [{ provinceCode: '440000' }, 'dc'],
      [{ cityCode: '110100' }, 'ba'],
      [{ districtCode: '440103', laneType: 4 }, 'd'],
      [{ ...all, ...guangdong }, 'c'],
      [{ siteId: south, provinceCode: '110000' }, ''],
    ]
    for (const [filter, names] of filters) {
      const found = (await page(own, filter)).list.map(({ deviceNo }) => deviceNo.slice(5, 6))
      expect([filter, found.join('')]).toEqual([filter, names])
    }
  })
})

describe('pageDevices and exports of devices', () => {
  test('filter by site and by whether a device stands anywhere, with other filters too', async () => {
    const own = await newApplication(client)
    const [site, empty, foreign] = [await newSite(own), await newSite(own), await newSite(other)]
    const [one, two] = [await newPlaced(own, site), await newPlaced(own, site, { tag: 'two' })]
    const nowhere = await newDevice(own)
    await newPlaced(other, foreign)
    const removed = await newPlaced(own, site)
    expectSuccess(await remove(own, removed))
    const filters: [filter: object, found: string[]][] = [
      [{ siteId: site }, [two, one]],
      [{ siteId: site, tag: 'two' }, [two]],
      ...[empty, foreign, 999_999_999].map((siteId): [object, string[]] => [{ siteId }, []]),
      [{ isPlaced: 'true' }, [two, one]],
      [{ isPlaced: 'false' }, [removed, nowhere]],
      [{ isPlaced: 'false', siteId: site }, []],
      [{ isPlaced: 'true', pageSize: 1, pageNo: 2 }, [one]],
    ]
    for (const [filter, found] of filters) {
      const { list } = await succeed('pageDevices', filter, own)
      expect([filter, list.map(({ deviceNo }) => deviceNo)]).toEqual([filter, found])
    }
    expect((await succeed('pageDevices', { siteId: foreign })).list).toMatchObject([{ appId: other.appId }])
    const rows = linesOf(await exported(own, 'devices', 'ndjson', { siteId: site }))
    expect(rows.map(({ deviceNo }) => deviceNo)).toEqual([two, one])
    expectFaults(await client.call('pageDevices', { siteId: 'x', isPlaced: 'yes' }, own), ['siteId', 'isPlaced'])
  })
})

describe('pagePlacementHistory', () => {
  test('of a site tells what stood and what stands there, newest first, each as it was', async () => {
    const site = await newSite(app)
    const [one, two] = [await newPlaced(app, site), await newPlaced(app, site)]
    const over = expectSuccess(await remove(app, one, { reason: 'x' }))
    const again = expectSuccess(await place(app, one, site, { laneType: 3 }))
    const lasting = expectSuccess(await detail(app, two))
    expect(await history(app, { siteId: site })).toEqual([again, lasting, over])
    expect(await history(app, { deviceNo: one })).toEqual([again, over])
  })

  test('wants one of deviceNo and siteId', async () => {
    for (const filter of [{}, { deviceNo: newSerial(), siteId: 1 }, { deviceNo: '', siteId: '' }]) {
      expectFaults(await client.call('pagePlacementHistory', filter, app), ['deviceNo', 'siteId'])
      expectFaults(await client.call('suggestPlacements', filter, app), ['deviceNo', 'siteId'])
    }
  })
})

describe('summarizePlacements', () => {
  const summary = async (siteIds: string) => (await succeed('summarizePlacements', { siteIds }, app)).list

  test('counts devices by state and lane, in the order asked; a lane for both counts as both', async () => {
    const [empty, full] = [await newSite(app), await newSite(app)]
    for (const [laneType, state] of [
      [1, { status: 2, runStatus: 1 }],
      [1, undefined],
      [2, { runStatus: 2 }],
      [3, {}],
      [4, undefined],
    ] as const) {
      const deviceNo = await newDevice(app)
      expectSuccess(await place(app, deviceNo, full, { laneType }))
      if (state !== undefined) await report(deviceNo, state)
    }
    expectSuccess(await remove(app, await newPlaced(app, full)))
    const counts = { devices: 5, online: 3, offline: 2, fault: 1, open: 1, closed: 3, stopped: 1 }
    const lanes = { entrances: 3, exits: 2, entrancesOnline: 2, exitsOnline: 2 }
    const of = { siteId: full, ...counts, ...lanes }
    const none = Object.fromEntries(Object.keys(of).map((member) => [member, 0]))
    expect(await summary(`${full},${empty}`)).toEqual([of, { ...none, siteId: empty }] as never)
    expect((await summary(`${empty},${full}`)).map(({ siteId }) => siteId)).toEqual([empty, full])
    expect(Object.keys((await summary(`${full}`))[0] ?? {})).toEqual(Object.keys(of))
  })

  test('refuses a site that isn’t the application’s, and anything but 1 to 100 ids', async () => {
    const [own, foreign] = [await newSite(app), await newSite(other)]
    const both = { siteIds: `${own},${foreign}` }
    expectRefusal(await client.call('summarizePlacements', both, app), 'siteNotFound')
    expect(await summary(Array(100).fill(own).join(','))).toHaveLength(100)
    for (const siteIds of ['', 'x', '1,', ',1', '1, 2', '0', '-1', Array(101).fill(own).join(',')]) {
      expectFaults(await client.call('summarizePlacements', { siteIds }, app), ['siteIds'])
    }
    expectFaults(await client.call('summarizePlacements', {}, app), ['siteIds'])
  })
})

describe('suggestPlacements', () => {
  const suggest = async (by: Awaited<ReturnType<typeof newApplication>>, query: Record<string, unknown>) =>
    (await succeed('suggestPlacements', query, by)).list

  test('answers devices that stand nowhere and lie within the distance, nearest first, and places nothing', async () => {
    const own = await newApplication(client)
    const site = await newSite(own, { coordinates: '115.9, 28.7' })
    const elsewhere = await newSite(own)
    // A degree of latitude is 111,195 m.
    const at = (meters: number) => ({ coordinates: `115.9,${28.7 + meters / 111_195}` })
    const far = await newDevice(own, at(600))
    const near = await newDevice(own, { ...at(100), deviceName: 'Near' })
    const here = await newDevice(own, at(0))
    const edge = await newDevice(own, at(499))
    await newPlaced(own, elsewhere, at(50))
    const found = await suggest(own, { siteId: site })
    expect(found.map(({ deviceNo, distanceMeters }) => [deviceNo, distanceMeters])).toEqual([
      [here, 0],
      [near, 100],
      [edge, 499],
    ])
    const [, second] = found
    const record = { deviceNo: near, deviceName: 'Near', siteId: site, siteName: second?.siteName, distanceMeters: 100 }
    expect(second).toEqual(record as never)
    expect((await suggest(own, { siteId: site, meters: 50 })).map(({ deviceNo }) => deviceNo)).toEqual([here])
    expect(await suggest(own, { siteId: site, meters: 5000 })).toHaveLength(4)
    expectRefusal(await detail(own, near), 'placementNotFound')
    expectSuccess(await place(own, here, site))
    const left = await suggest(own, { siteId: site, meters: 5000 })
    expect(left.map(({ deviceNo }) => deviceNo)).toEqual([near, edge, far])
  })

  test('measures along the great circle, across the 180th meridian too', async () => {
    const own = await newApplication(client)
    const site = await newSite(own, { coordinates: '179.999,60' })
    const deviceNo = await newDevice(own, { coordinates: '-179.999,60' })
    // 0.002 degrees of longitude at 60 degrees north.
    expect(await suggest(own, { siteId: site })).toMatchObject([{ deviceNo, distanceMeters: 111 }])
    expect(await suggest(own, { deviceNo })).toMatchObject([{ siteId: site, distanceMeters: 111 }])
    const pole = await newSite(own, { coordinates: '0,90' })
    const across = await newDevice(own, { coordinates: '135,89.999' })
    expect(await suggest(own, { siteId: pole })).toMatchObject([{ deviceNo: across, distanceMeters: 111 }])
  })

  test('of a site without coordinates answers the devices of its district, without a distance', async () => {
    const own = await newApplication(client)
    const site = await newSite(own, { districtCode: '360103' })
    const inside = await newDevice(own, { districtCode: '360103' })
    await newDevice(own, { districtCode: '360104' })
    const [only, ...others] = await suggest(own, { siteId: site })
    expect([only, others]).toMatchObject([{ deviceNo: inside, siteId: site, distanceMeters: null }, []])
    const near = await newSite(own, { districtCode: '360103', coordinates: '115.899918,28.676493' })
    expect(await suggest(own, { deviceNo: inside })).toMatchObject([
      { siteId: near, distanceMeters: 0 },
      { siteId: site, distanceMeters: null },
    ])
  })

  test('of a device answers the sites near it', async () => {
    const own = await newApplication(client)
    const deviceNo = await newDevice(own, { coordinates: '115.9,28.7', deviceName: 'Gate' })
    const near = await newSite(own, { coordinates: '115.9,28.702', siteName: 'Near', districtCode: '360104' })
    const nearest = await newSite(own, { coordinates: '115.9,28.7', siteName: 'Here', districtCode: '360104' })
    await newSite(own, { coordinates: '115.9,28.8', siteName: 'Far' })
    const found = await suggest(own, { deviceNo })
    expect(found.map(({ siteId }) => siteId)).toEqual([nearest, near])
    expect(found[0]).toEqual({ deviceNo, deviceName: 'Gate', siteId: nearest, siteName: 'Here', distanceMeters: 0 })
  })

  test('answers 100 at most, and refuses distances beyond 5,000 m', async () => {
    const own = await newApplication(client)
    const siteId = await newSite(own, { coordinates: '115.899918,28.676493' })
    await Promise.all(Array.from({ length: 101 }, () => newDevice(own)))
    expect(await suggest(own, { siteId })).toHaveLength(100)
    for (const meters of [0, 5001, 1.5, 'x']) {
      expectFaults(await client.call('suggestPlacements', { siteId, meters }, own), ['meters'])
    }
  })
})
