import { expect, test } from 'bun:test'
import type { OperationId } from '../kit/contracts.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { detail, history, newPlaced, page, place } from './placement-support.ts'
import {
  client,
  createDeviceOf,
  deviceRow,
  expectRefusal,
  expectSuccess,
  feedOf,
  newDevice,
  newSite,
  succeed,
  typesOf,
} from './support.ts'

const app = await newApplication(client)
const other = await newApplication(client)
const site = await newSite(app)

const reason = 'sold'
const targetAppId = other.appId

const own = { actor: `application:${app.appId}`, type: 'device.unbound', as: app }
const operators = { actor: 'operator:operator', type: 'device.unbound', as: undefined }
const transferred = { ...operators, type: 'device.transferred' }

/** Every way in which a device leaves its application. */
type Input = { reason?: string; targetAppId?: string }
type Leaving = [operation: OperationId, input: Input, by: typeof own | typeof operators]
const leaving: Leaving[] = [
  ['unbindDevice', {}, own],
  ['unbindDevice', { reason }, own],
  ['unbindDevices', { reason }, own],
  ['forceUnbindDevice', { reason }, operators],
  ['transferDevice', { targetAppId, reason }, transferred],
  ['transferDevices', { targetAppId, reason }, transferred],
]

test.each(leaving)('%s (%#) ends the placement, and tells it before its own event', async (operation, input, by) => {
  const deviceNo = await newPlaced(app, site)
  const [placed] = await history(app, { deviceNo })
  const named = operation.endsWith('s') ? { deviceNos: [deviceNo] } : { deviceNo }
  await succeed(operation, { ...named, ...input }, by.as)
  const { actor, type } = by
  const [over, ...others] = await history(app, { siteId: site, pageSize: 1 })
  expect(others).toEqual([])
  const ended = { removedTime: over?.removedTime, removedBy: actor, reason: input.reason ?? null }
  expect(over).toEqual({ ...placed, ...ended } as never)
  expect(over?.removedTime).not.toBeNull()
  const told = await feedOf(app, { deviceNo })
  expect(typesOf(told)).toEqual(['device.bound', 'device.placed', 'device.unplaced', type])
  expect(told[2]).toMatchObject({ actor, data: over })
  expect(told[2]?.occurredAt).toBe(told[3]?.occurredAt as string)
  expect((await page(app, { deviceNo })).list).toEqual([])
  expectRefusal(await detail(app, deviceNo), 'deviceNotFound')
})

async function expectFresh(holder: TestApplication, deviceNo: string): Promise<void> {
  expectRefusal(await detail(holder, deviceNo), 'placementNotFound')
  expect(await history(holder, { deviceNo })).toEqual([])
  expect((await page(holder, { deviceNo })).list).toEqual([])
}

test('whoever holds the serial next begins without a placement, and sees none of the history before', async () => {
  const transferred = await newPlaced(app, site)
  await succeed('transferDevice', { deviceNo: transferred, targetAppId, reason })
  await expectFresh(other, transferred)
  expect(typesOf(await feedOf(other, { deviceNo: transferred }))).toEqual(['device.transferred'])
  const bound = await newPlaced(app, site)
  await succeed('unbindDevice', { deviceNo: bound }, app)
  expectSuccess(await createDeviceOf(other, { deviceNo: bound }))
  await expectFresh(other, bound)
  const there = await newSite(other)
  for (const deviceNo of [transferred, bound]) {
    expectSuccess(await place(other, deviceNo, there))
    expect((await history(other, { deviceNo })).map(({ siteId }) => siteId)).toEqual([there])
    // And the other way round.
    expect((await history(app, { deviceNo })).map(({ siteId }) => siteId)).toEqual([site])
  }
})

test('a batch tells of each device its own, whether it stood somewhere or not', async () => {
  const placed = await Promise.all([1, 2, 3].map(() => newPlaced(app, site)))
  const nowhere = await Promise.all([1, 2].map(() => newDevice(app)))
  const deviceNos = [...nowhere, ...placed].sort()
  const answer = await client.call('unbindDevices', { deviceNos, reason }, app)
  expect(expectSuccess(answer).results.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
  for (const deviceNo of placed) {
    const told = await feedOf(app, { deviceNo })
    expect(typesOf(told).slice(-2)).toEqual(['device.unplaced', 'device.unbound'])
    expect(told.at(-2)?.data).toMatchObject({ deviceNo, siteId: site, reason })
    expect(told.at(-1)?.data).toMatchObject({ deviceNo, appId: app.appId })
  }
  for (const deviceNo of nowhere)
    expect(typesOf(await feedOf(app, { deviceNo }))).toEqual(['device.bound', 'device.unbound'])
})

test('the deletion of a site ends what stands there, with an event for each before site.deleted, and is never refused', async () => {
  const doomed = await newSite(app, { siteName: 'Doomed' })
  const staying = await newPlaced(app, site)
  const deviceNos = await Promise.all([1, 2, 3].map(() => newPlaced(app, doomed)))
  await succeed('deleteSite', { appId: app.appId, id: doomed })
  const { list } = await succeed('pageEvents', { order: 'desc', pageSize: 4 }, app)
  expect(typesOf(list)).toEqual(['site.deleted', 'device.unplaced', 'device.unplaced', 'device.unplaced'])
  expect(new Set(list.map(({ actor }) => actor))).toEqual(new Set(['operator:operator']))
  const told = list.slice(1).map(({ data }) => data as { deviceNo: string })
  expect(told.map(({ deviceNo }) => deviceNo).sort()).toEqual(deviceNos.toSorted())
  expect(told[0]).toMatchObject({ siteName: 'Doomed', removedBy: 'operator:operator', reason: null })
  for (const deviceNo of deviceNos) {
    expectRefusal(await detail(app, deviceNo), 'placementNotFound')
    expect(await history(app, { deviceNo })).toEqual(told.filter((one) => one.deviceNo === deviceNo) as never)
    await succeed('getDevice', { deviceNo }, app)
  }
  expect(await history(app, { siteId: doomed })).toHaveLength(3)
  expectSuccess(await detail(app, staying))
})

test('the deletion of a site with 2,500 devices ends every placement', async () => {
  const doomed = await newSite(app)
  const serials = Array.from({ length: 2500 }, () => newSerial())
  for (let from = 0; from < serials.length; from += 250) {
    const some = serials.slice(from, from + 250)
    const devices = some.map((deviceNo) => deviceRow({ deviceNo }))
    await succeed('createDevices', { devices }, app)
    const placements = some.map((deviceNo) => ({ deviceNo, siteId: doomed, laneType: 4 }))
    const { results } = await succeed('savePlacements', { placements }, app)
    expect(new Set(results.map(({ code }) => code))).toEqual(new Set([0]))
  }
  expect((await page(app, { siteId: doomed })).total).toBe(2500)
  await succeed('deleteSite', { id: doomed }, app)
  expect((await page(app, { siteId: doomed })).total).toBe(0)
  const told = await history(app, { siteId: doomed, pageSize: 100 })
  expect(told.every(({ removedTime }) => removedTime !== null)).toBe(true)
  // The first device, which the first statement unplaces, and the last, which the third does, have events like any
  // other.
  for (const deviceNo of [serials[0], serials.at(-1)] as string[]) {
    expect(typesOf(await feedOf(app, { deviceNo }))).toEqual(['device.bound', 'device.placed', 'device.unplaced'])
  }
})

test('a deletion that If-Match refuses ends nothing', async () => {
  const kept = await newSite(app)
  const deviceNo = await newPlaced(app, kept)
  const { headers } = await client.call('updateSite', { id: kept, siteName: 'x' }, app)
  await succeed('updateSite', { id: kept, siteName: 'y' }, app)
  const ifMatch = { ...app, headers: { 'if-match': headers.get('etag') as string } }
  expectRefusal(await client.call('deleteSite', { id: kept }, ifMatch), 'preconditionFailed')
  expectSuccess(await detail(app, deviceNo))
})
