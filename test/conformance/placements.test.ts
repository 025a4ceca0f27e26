import { describe, expect, test } from 'bun:test'
import { saveThirdPartyConfig } from '../../src/applications/third-party-config/contract.ts'
import {
  getPlacement,
  removePlacement,
  removePlacements,
  savePlacement,
  savePlacements,
} from '../../src/devices/placement/contract.ts'
import { pageAudit, pageEvents } from '../../src/events/contract.ts'
import { getSite, updateSite } from '../../src/sites/contract.ts'
import { newApplication, newSerial, siteBody, takeOffline } from '../harness.ts'
import {
  detail,
  deviceRecord,
  events,
  history,
  newDevice,
  newPlaced,
  newSite,
  page,
  place,
  remove,
  typesOf,
} from './placement-support.ts'
import { astral, client, expectFaults, expectNow, expectRefusal, expectSuccess } from './support.ts'

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
      deviceNo,
      appId: app.appId,
      siteId: site,
      siteName: siteBody('').siteName,
      laneType: 1,
      laneName: 'East 1',
      placedTime: placed.placedTime,
      placedBy: `application:${app.appId}`,
      removedTime: null,
      removedBy: null,
      reason: null,
    })
    expect(Object.keys(placed)).toEqual(
      'deviceNo appId siteId siteName laneType laneName placedTime placedBy removedTime removedBy reason'.split(' '),
    )
    expect(expectSuccess(await detail(app, deviceNo))).toEqual(placed)
  })

  test('adds nothing to the records of the device and the site', async () => {
    const deviceNo = await newDevice(app)
    const before = await deviceRecord(app, deviceNo)
    const siteBefore = expectSuccess(await client.call(getSite, { id: site }, app))
    expectSuccess(await place(app, deviceNo, site))
    expect(await deviceRecord(app, deviceNo)).toEqual(before)
    expect(expectSuccess(await client.call(getSite, { id: site }, app))).toEqual(siteBefore)
  })

  test.each([undefined, null, ''])('a laneName %p is none', async (laneName) => {
    const placed = expectSuccess(await place(app, await newDevice(app), site, { laneName }))
    expect(placed.laneName).toBeNull()
  })

  test('takes every type of lane, and a name of 64 characters of any kind', async () => {
    for (const laneType of [1, 2, 3, 4]) {
      const laneName = astral.repeat(64)
      const placed = expectSuccess(await place(app, await newDevice(app), site, { laneType, laneName }))
      expect([placed.laneType, placed.laneName]).toEqual([laneType, laneName])
    }
  })

  test('the same again answers the same, and tells nothing', async () => {
    const deviceNo = await newDevice(app)
    const first = expectSuccess(await place(app, deviceNo, site, { laneName: 'a' }))
    expect(expectSuccess(await place(app, deviceNo, site, { laneName: 'a' }))).toEqual(first)
    expect(typesOf(await events(app, deviceNo))).toEqual(['device.bound', 'device.placed'])
    expect(await history(app, { deviceNo })).toEqual([first])
  })

  test('changes lane type and lane name, keeps placedTime, and tells device.placed', async () => {
    const deviceNo = await newDevice(app)
    const first = expectSuccess(await place(app, deviceNo, site, { laneName: 'a' }))
    const changed = expectSuccess(await place(app, deviceNo, site, { laneType: 2 }))
    expect(changed).toEqual({ ...first, laneType: 2, laneName: null })
    const told = await events(app, deviceNo)
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
    const told = await events(app, deviceNo)
    expect(typesOf(told)).toEqual(['device.bound', 'device.placed', 'device.unplaced', 'device.placed'])
    expect(told.slice(1).map(({ data }) => data as object)).toEqual([first, over, moved])
    expect(told[2]?.occurredAt).toBe(told[3]?.occurredAt as string)
    expect((await page(app, { deviceNo })).list.map(({ siteId }) => siteId)).toEqual([second])
  })

  test('shows the site’s present name while it lasts, and the name at the end afterwards', async () => {
    const renamed = await newSite(app, { siteName: 'Old name' })
    const deviceNo = await newPlaced(app, renamed)
    const rename = (siteName: string) => client.call(updateSite, { id: renamed, siteName }, app)
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
    expectFaults(await client.call(savePlacement, faulty, app), ['deviceNo', 'siteId', 'laneType', 'laneName'])
    expectFaults(await client.call(savePlacement, {}, app), ['deviceNo', 'siteId', 'laneType'])
    for (const laneType of [0, 5, '1', 1.5, null]) {
      expectFaults(await place(app, newSerial(), site, { laneType }), ['laneType'])
    }
  })

  test('refuses a device that is not the application’s with 20002, before a site that is not with 30002', async () => {
    const foreign = await newDevice(other)
    for (const deviceNo of [foreign, newSerial()]) {
      expectRefusal(await place(app, deviceNo, site), 'deviceNotFound')
      expectRefusal(await place(app, deviceNo, foreignSite), 'deviceNotFound')
    }
    const deviceNo = await newDevice(app)
    for (const siteId of [foreignSite, 999_999_999_999]) {
      expectRefusal(await place(app, deviceNo, siteId), 'siteNotFound')
    }
    expectRefusal(await detail(app, deviceNo), 'placementNotFound')
    expect(typesOf(await events(app, deviceNo))).toEqual(['device.bound'])
  })

  test('takes If-Match of the ETag of detail and of its own answers', async () => {
    const deviceNo = await newDevice(app)
    const saved = await place(app, deviceNo, site)
    const etag = saved.headers.get('etag') as string
    expect((await detail(app, deviceNo)).headers.get('etag')).toBe(etag)
    const changed = await place(app, deviceNo, site, { laneType: 2 }, { 'if-match': etag })
    expectSuccess(changed)
    expectRefusal(await place(app, deviceNo, site, { laneType: 3 }, { 'if-match': etag }), 'preconditionFailed')
    expectRefusal(await place(app, deviceNo, second, {}, { 'if-match': etag }), 'preconditionFailed')
    expect((await detail(app, deviceNo)).data.laneType).toBe(2)
    const present = changed.headers.get('etag') as string
    expect(present).not.toBe(etag)
    expectSuccess(await place(app, deviceNo, second, {}, { 'if-match': present }))
    expectSuccess(await place(app, deviceNo, second, { laneType: 4 }, { 'if-match': '*' }))
    expectSuccess(await remove(app, deviceNo))
    // The device has no placement, so no tag matches.
    for (const tag of [present, '*']) {
      expectRefusal(await place(app, deviceNo, site, {}, { 'if-match': tag }), 'preconditionFailed')
    }
  })

  test('works for an offline application', async () => {
    const offline = await newApplication(client)
    const deviceNo = await newDevice(offline)
    const there = await newSite(offline)
    await takeOffline(client, offline.appId)
    expectSuccess(await place(offline, deviceNo, there))
    expectSuccess(await remove(offline, deviceNo))
  })

  test('of an operator names the application, is told with who did it, and stands in the audit trail', async () => {
    const deviceNo = await newDevice(app)
    const body = { appId: app.appId, deviceNo, siteId: site, laneType: 4 }
    const placed = expectSuccess(await client.operate(savePlacement, body))
    expect(placed.placedBy).toBe('operator:operator')
    expectFaults(await client.operate(savePlacement, { ...body, appId: undefined }), ['appId'])
    expectFaults(await client.operate(getPlacement, { deviceNo }), ['appId'])
    // With the wrong application, neither of the two is found.
    expectRefusal(await client.operate(savePlacement, { ...body, appId: other.appId }), 'deviceNotFound')
    const theirs = { ...body, appId: other.appId, deviceNo: await newDevice(other) }
    expectRefusal(await client.operate(savePlacement, theirs), 'siteNotFound')
    expect((await events(app, deviceNo)).at(-1)?.actor).toBe('operator:operator')
    const audit = expectSuccess(
      await client.operate(pageAudit, { appId: app.appId, type: 'device.placed', subject: deviceNo }),
    )
    expect(audit.list.map(({ data }) => data as object)).toEqual([placed])
  })

  test('ignores an Idempotency-Key, because it may be repeated as it is', async () => {
    const deviceNo = await newDevice(app)
    const key = { 'idempotency-key': newSerial('key') }
    expectSuccess(await place(app, deviceNo, site, {}, key))
    const moved = await place(app, deviceNo, second, {}, key)
    expect(expectSuccess(moved).siteId).toBe(second)
  })
})

describe('savePlacements', () => {
  test('answers one outcome a row by deviceNo, and a refused row stops no other', async () => {
    const [one, two] = [await newDevice(app), await newDevice(app)]
    const unknown = newSerial()
    const placements = [
      { deviceNo: one, siteId: site, laneType: 1 },
      { deviceNo: unknown, siteId: site, laneType: 1 },
      { deviceNo: two, siteId: foreignSite, laneType: 1 },
      { deviceNo: two, siteId: site, laneType: 9, laneName: 7 },
      { deviceNo: two, siteId: second, laneType: 2, laneName: 'x' },
      7,
    ]
    const { results } = expectSuccess(await client.call(savePlacements, { placements }, app))
    expect(results.map(({ deviceNo, code }) => [deviceNo, code])).toEqual([
      [one, 0],
      [unknown, 20002],
      [two, 30002],
      [two, 10001],
      [two, 0],
      [null, 10001],
    ])
    expect(results[3]?.data).toMatchObject({ errors: [{ field: 'laneType' }, { field: 'laneName' }] })
    expect(results[0]?.data as object).toEqual(expectSuccess(await detail(app, one)))
    expect(results[4]?.data as object).toEqual(expectSuccess(await detail(app, two)))
  })

  test('rows of one device take effect in their order', async () => {
    const deviceNo = await newDevice(app)
    const row = (siteId: number, laneType: number) => ({ deviceNo, siteId, laneType })
    const placements = [row(site, 1), row(site, 2), row(second, 2), row(second, 2), row(site, 3)]
    const { results } = expectSuccess(await client.call(savePlacements, { placements }, app))
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
    expect((await history(app, { deviceNo })).map(({ siteId, laneType }) => [siteId, laneType])).toEqual([
      [site, 3],
      [second, 2],
      [site, 2],
    ])
    expect(typesOf(await events(app, deviceNo))).toEqual([
      'device.bound',
      'device.placed',
      'device.placed',
      'device.unplaced',
      'device.placed',
      'device.unplaced',
      'device.placed',
    ])
  })

  test('takes 1,000 rows and no more, and none is refused', async () => {
    const placements = Array.from({ length: 1001 }, () => ({ deviceNo: newSerial(), siteId: site, laneType: 1 }))
    expectFaults(await client.call(savePlacements, { placements }, app), ['placements'])
    expectFaults(await client.call(savePlacements, { placements: [] }, app), ['placements'])
    const { results } = expectSuccess(await client.call(savePlacements, { placements: placements.slice(1) }, app))
    expect(new Set(results.map(({ code }) => code))).toEqual(new Set([20002]))
  })

  test('takes an Idempotency-Key: the same answer again, one effect, and 10008 for another body', async () => {
    const deviceNo = await newDevice(app)
    const headers = { 'idempotency-key': newSerial('key') }
    const body = { placements: [{ deviceNo, siteId: site, laneType: 1 }] }
    const first = await client.call(savePlacements, body, { ...app, headers })
    expectSuccess(first)
    expectSuccess(await remove(app, deviceNo))
    const again = await client.call(savePlacements, body, { ...app, headers })
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
    expectRefusal(await detail(app, deviceNo), 'placementNotFound')
    const changed = { placements: [{ deviceNo, siteId: second, laneType: 1 }] }
    expectRefusal(await client.call(savePlacements, changed, { ...app, headers }), 'idempotencyKeyReused')
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
    expectRefusal(await detail(app, deviceNo), 'placementNotFound')
    expect(await history(app, { deviceNo })).toEqual([over])
    expect((await page(app, { deviceNo })).list).toEqual([])
    const told = (await events(app, deviceNo)).at(-1)
    expect([told?.type, told?.data as object]).toEqual(['device.unplaced', over])
  })

  test('is refused for a device that stands nowhere, or is not the application’s', async () => {
    const deviceNo = await newDevice(app)
    expectRefusal(await remove(app, deviceNo), 'placementNotFound')
    const foreign = await newPlaced(other, foreignSite)
    expectRefusal(await remove(app, foreign), 'deviceNotFound')
    expectRefusal(await detail(app, foreign), 'deviceNotFound')
    expectRefusal(await remove(app, newSerial()), 'deviceNotFound')
    expectSuccess(await detail(other, foreign))
    expectFaults(await client.call(removePlacement, { deviceNo: ' ', reason: '\n' }, app), ['deviceNo', 'reason'])
  })

  test('takes an Idempotency-Key', async () => {
    const deviceNo = await newPlaced(app, site)
    const headers = { 'idempotency-key': newSerial('key') }
    const send = (body: object) => client.call(removePlacement, body, { ...app, headers })
    const first = await send({ deviceNo })
    expectSuccess(first)
    expectSuccess(await place(app, deviceNo, site))
    const again = await send({ deviceNo })
    expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true'])
    expectSuccess(await detail(app, deviceNo))
    expectRefusal(await send({ deviceNo, reason: 'another' }), 'idempotencyKeyReused')
  })

  test('lets the device be placed again, and its times do not overlap', async () => {
    const deviceNo = await newPlaced(app, site)
    expectSuccess(await remove(app, deviceNo))
    expectSuccess(await place(app, deviceNo, site))
    const [now, before] = await history(app, { deviceNo })
    expect(now?.removedTime).toBeNull()
    expect((now?.placedTime as string) >= (before?.removedTime as string)).toBe(true)
  })
})

test('removePlacements answers one outcome a serial, and takes an Idempotency-Key', async () => {
  const [one, two] = [await newPlaced(app, site), await newPlaced(app, second)]
  const nowhere = await newDevice(app)
  const unknown = newSerial()
  const body = { deviceNos: [one, nowhere, unknown, two, one, 7], reason: 'season is over' }
  const headers = { 'idempotency-key': newSerial('key') }
  const answer = await client.call(removePlacements, body, { ...app, headers })
  const { results } = expectSuccess(answer)
  expect(results.map(({ deviceNo, code }) => [deviceNo, code])).toEqual([
    [one, 0],
    [nowhere, 20030],
    [unknown, 20002],
    [two, 0],
    [one, 20030],
    [null, 10001],
  ])
  expect(results[3]?.data).toMatchObject({ siteId: second, reason: 'season is over' })
  const again = await client.call(removePlacements, body, { ...app, headers })
  expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([answer.text, 'true'])
})

test('callbacks and the feed know both types of events', async () => {
  const config = { operatorName: 'x', callbackEvents: ['device.placed', 'device.unplaced'] }
  expect(expectSuccess(await client.call(saveThirdPartyConfig, config, other)).callbackEvents).toEqual(
    config.callbackEvents,
  )
  const deviceNo = await newPlaced(app, site)
  expectSuccess(await remove(app, deviceNo))
  const filter = { deviceNo, type: 'device.placed,device.unplaced' }
  const { list } = expectSuccess(await client.call(pageEvents, filter, app))
  expect(typesOf(list)).toEqual(['device.placed', 'device.unplaced'])
})
