import { describe, expect, test } from 'bun:test'
import { newApplication, newSerial, siteBody, takeOffline } from '../kit/records.ts'
import { detail, history, newPlaced, page, place, remove } from './placement-support.ts'
import {
  client,
  expectFaults,
  expectNow,
  expectRefusal,
  expectSuccess,
  feedOf,
  newDevice,
  newSite,
  typesOf,
} from './support.ts'

const app = await newApplication(client)
const other = await newApplication(client)
const site = await newSite(app)
const second = await newSite(app, { siteName: 'Second site' })
const foreignSite = await newSite(other)

describe('savePlacement', () => {
  test('places a device and answers the record, with all of its members', async () => {
    const deviceNo = await newDevice(app)
    const placed = expectSuccess(await place(app, deviceNo, site, { laneName: 'East 1' }))
    expectNow(placed.placedTime)
    expect(placed).toEqual({
      ...{ deviceNo, appId: app.appId, siteId: site, siteName: siteBody('').siteName, laneType: 1 },
      ...{ laneName: 'East 1', placedTime: placed.placedTime, placedBy: `application:${app.appId}` },
      ...{ removedTime: null, removedBy: null, reason: null },
    })
    expect(Object.keys(placed)).toEqual(
      'deviceNo appId siteId siteName laneType laneName placedTime placedBy removedTime removedBy reason'.split(' '),
    )
    expect(expectSuccess(await detail(app, deviceNo))).toEqual(placed)
  })

  test('adds nothing to the records of the device and the site, and the same again tells nothing', async () => {
    const deviceNo = await newDevice(app)
    const records = async () => [
      (await client.call('getDevice', { deviceNo }, app)).text,
      (await client.call('getSite', { id: site }, app)).text,
    ]
    const before = await records()
    const first = expectSuccess(await place(app, deviceNo, site, { laneName: 'a' }))
    expect(await records()).toEqual(before)
    expect(expectSuccess(await place(app, deviceNo, site, { laneName: 'a' }))).toEqual(first)
    expect(typesOf(await feedOf(app, { deviceNo }))).toEqual(['device.bound', 'device.placed'])
    expect(await history(app, { deviceNo })).toEqual([first])
  })

  test('changes lane type and lane name, keeps placedTime, and tells device.placed', async () => {
    const deviceNo = await newDevice(app)
    const first = expectSuccess(await place(app, deviceNo, site, { laneName: 'a' }))
    const changed = expectSuccess(await place(app, deviceNo, site, { laneType: 2 }))
    expect(changed).toEqual({ ...first, laneType: 2, laneName: null })
    const told = await feedOf(app, { deviceNo })
    expect(typesOf(told)).toEqual(['device.bound', 'device.placed', 'device.placed'])
    expect(told.at(-1)?.data as object).toEqual(changed)
    expect(await history(app, { deviceNo })).toEqual([changed])
  })

  test('at another site ends the one and begins the other at the same instant, and tells both in that order', async () => {
    const deviceNo = await newDevice(app)
    const first = expectSuccess(await place(app, deviceNo, site, { laneName: 'a' }))
    const moved = expectSuccess(await place(app, deviceNo, second, { laneName: 'a' }))
    expect(moved).toMatchObject({ siteId: second, siteName: 'Second site', removedTime: null, reason: null })
    const over = { ...first, removedTime: moved.placedTime, removedBy: `application:${app.appId}` }
    expect(await history(app, { deviceNo })).toEqual([moved, over])
    const told = await feedOf(app, { deviceNo })
    expect(typesOf(told)).toEqual(['device.bound', 'device.placed', 'device.unplaced', 'device.placed'])
    expect(told.slice(1).map(({ data }) => data as object)).toEqual([first, over, moved])
    expect(told[2]?.occurredAt).toBe(told[3]?.occurredAt as string)
    expect((await page(app, { deviceNo })).list.map(({ siteId }) => siteId)).toEqual([second])
  })

  test('shows the site’s present name while it lasts, and the name at the end afterwards', async () => {
    const renamed = await newSite(app, { siteName: 'Old name' })
    const deviceNo = await newPlaced(app, renamed)
    const rename = (siteName: string) => client.call('updateSite', { id: renamed, siteName }, app)
    const { headers } = await detail(app, deviceNo)
    expectSuccess(await rename('New name'))
    const shown = await detail(app, deviceNo)
    expect(shown.data.siteName).toBe('New name')
    expect(shown.headers.get('etag')).toBe(headers.get('etag') as string)
    expect((await page(app, { deviceNo })).list[0]?.siteName).toBe('New name')
    expect(expectSuccess(await remove(app, deviceNo)).siteName).toBe('New name')
    expectSuccess(await rename('Later name'))
    expect((await history(app, { deviceNo })).map(({ siteName }) => siteName)).toEqual(['New name'])
  })

  test('names every faulty member', async () => {
    const faulty = { deviceNo: 'a b', siteId: '1', laneType: 5, laneName: 'x'.repeat(65) }
    expectFaults(await client.call('savePlacement', faulty, app), ['deviceNo', 'siteId', 'laneType', 'laneName'])
    for (const laneType of [0, 5, '1', 1.5, null]) {
      expectFaults(await place(app, newSerial(), site, { laneType }), ['laneType'])
    }
  })

  test('refuses a device that is not the application’s with 20002, before a site that is not with 30002', async () => {
    for (const deviceNo of [await newDevice(other), newSerial()]) {
      for (const siteId of [site, foreignSite]) expectRefusal(await place(app, deviceNo, siteId), 'deviceNotFound')
    }
    const deviceNo = await newDevice(app)
    expectRefusal(await place(app, deviceNo, foreignSite), 'siteNotFound')
    expectRefusal(await detail(app, deviceNo), 'placementNotFound')
    expect(typesOf(await feedOf(app, { deviceNo }))).toEqual(['device.bound'])
  })

  test('works for an offline application', async () => {
    const offline = await newApplication(client)
    const deviceNo = await newDevice(offline)
    const there = await newSite(offline)
    await takeOffline(client, offline.appId)
    expectSuccess(await place(offline, deviceNo, there))
    expectSuccess(await remove(offline, deviceNo))
  })
})

describe('removePlacement', () => {
  test('answers the placement as it ended, and tells it', async () => {
    const deviceNo = await newDevice(app)
    const placed = expectSuccess(await place(app, deviceNo, site, { laneType: 2, laneName: 'x' }))
    const over = expectSuccess(await remove(app, deviceNo, { reason: 'being repaired' }))
    expectNow(over.removedTime as string)
    const removedBy = `application:${app.appId}`
    expect(over).toEqual({ ...placed, removedTime: over.removedTime, removedBy, reason: 'being repaired' })
    expect((over.removedTime as string) >= over.placedTime).toBe(true)
    for (const gone of [await detail(app, deviceNo), await remove(app, deviceNo)]) {
      expectRefusal(gone, 'placementNotFound')
    }
    expect(await history(app, { deviceNo })).toEqual([over])
    expect((await page(app, { deviceNo })).list).toEqual([])
    const told = (await feedOf(app, { deviceNo })).at(-1)
    expect([told?.type, told?.data as object]).toEqual(['device.unplaced', over])
  })
})
