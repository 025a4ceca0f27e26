import { expect, test } from 'bun:test'
import { newApplication, newSerial, takeOffline } from '../kit/records.ts'
import { csvOf, fieldsOf, imported, ndjson, ndjsonOf, outcomesOf, send, upserted } from './import-support.ts'
import { detail, history, newPlaced, page, place, remove } from './placement-support.ts'
import {
  client,
  expectFaults,
  expectRefusal,
  expectSuccess,
  exported,
  feedOf,
  newDevice,
  newSite,
  typesOf,
} from './support.ts'

// Imports and templates of the kind `placements` (contract §13).

const columns = 'deviceNo,siteId,laneType,laneName'

test('rows place devices as save does, with its event, and rows that are so already count as existing', async () => {
  const app = await newApplication(client)
  const site = await newSite(app)
  const [one, two] = [await newDevice(app), await newDevice(app)]
  const file = csvOf(columns, `${one},${site},1,East`, `${two},${site},2,`)
  const told = await imported(app, 'placements', file)
  expect(told).toMatchObject({ status: 3, kind: 'placements', rows: 2, created: 2, existing: 0, refused: 0 })
  expect(told.lines.map(({ line, deviceNo }) => `${line} ${deviceNo}`)).toEqual([`2 ${one}`, `3 ${two}`])
  const placement = expectSuccess(await detail(app, one))
  expect(placement).toMatchObject({ siteId: site, laneType: 1, laneName: 'East' })
  expect(expectSuccess(await detail(app, two))).toMatchObject({ siteId: site, laneType: 2, laneName: null })
  const [bound, placed, ...others] = await feedOf(app, { deviceNo: one })
  expect([bound?.type, others]).toEqual(['device.bound', []])
  expect(placed).toMatchObject({ type: 'device.placed', actor: `application:${app.appId}`, data: placement })
  expect(await imported(app, 'placements', file)).toMatchObject({ created: 0, existing: 2, refused: 0 })
  expect(await feedOf(app, { deviceNo: one })).toHaveLength(2)
})

test('a row of a device that stands elsewhere moves it', async () => {
  const app = await newApplication(client)
  const [from, to] = [await newSite(app), await newSite(app)]
  const [moved, turned] = [await newPlaced(app, from), await newPlaced(app, from)]
  const told = await imported(app, 'placements', csvOf(columns, `${moved},${to},1,`, `${turned},${from},3,`))
  expect(told).toMatchObject({ created: 2, updated: 0, existing: 0, refused: 0 })
  expect((await history(app, { deviceNo: moved })).map(({ siteId }) => siteId)).toEqual([to, from])
  const story = ['device.bound', 'device.placed', 'device.unplaced', 'device.placed']
  expect(typesOf(await feedOf(app, { deviceNo: moved }))).toEqual(story)
  expect((await history(app, { deviceNo: turned })).map(({ laneType }) => laneType)).toEqual([3])
})

test('rows are refused as save refuses them, each by itself', async () => {
  const [app, other] = [await newApplication(client), await newApplication(client)]
  const [site, foreignSite] = [await newSite(app), await newSite(other)]
  const [own, foreign] = [await newDevice(app), await newDevice(other)]
  const rows = [
    ...[`${newSerial()},${site},1,`, `${foreign},${site},1,`, `${own},${foreignSite},1,`, `${own},${site},5,`],
    ...[`${own},,1,`, `${own},${site},4,Door`],
  ]
  const told = await imported(app, 'placements', csvOf(columns, ...rows))
  expect(outcomesOf(told.lines)).toEqual([20002, 20002, 30002, 10001, 10001, 'created'])
  expect([fieldsOf(told.lines[3]), fieldsOf(told.lines[4])]).toEqual([['laneType'], ['siteId']])
  expect((await page(other)).total).toBe(0)
  expect((await page(app)).list).toMatchObject([{ deviceNo: own, laneType: 4, laneName: 'Door' }])
})

test('a dry run tells the same outcomes, and places nothing', async () => {
  const app = await newApplication(client)
  const [site, other] = [await newSite(app), await newSite(app)]
  const [fresh, standing] = [await newDevice(app), await newPlaced(app, site)]
  const rows = [`${fresh},${site},1,`, `${fresh},${site},1,`, `${standing},${site},1,`, `${standing},${other},1,`]
  const file = csvOf(columns, ...rows, `${newSerial()},${site},1,`)
  const dry = await upserted(app, 'placements', file, undefined, { dryRun: 'true' })
  expect(outcomesOf(dry.lines)).toEqual(['created', 'existing', 'existing', 'updated', 20002])
  expect((await page(app)).list.map(({ deviceNo }) => deviceNo)).toEqual([standing])
  expect(await feedOf(app, { deviceNo: standing })).toHaveLength(2)
  const real = await upserted(app, 'placements', file)
  expect(real.lines).toEqual(dry.lines)
})

test('with mode=upsert what the file has not stays, an empty cell clears the name, and a new row needs all', async () => {
  const app = await newApplication(client)
  const [site, other] = [await newSite(app), await newSite(app)]
  const [moved, named, nowhere] = [await newDevice(app), await newDevice(app), await newDevice(app)]
  for (const deviceNo of [moved, named]) {
    expectSuccess(await place(app, deviceNo, site, { laneType: 2, laneName: 'North' }))
  }
  const told = await upserted(app, 'placements', csvOf('deviceNo,siteId', `${moved},${other}`, `${nowhere},${other}`))
  expect(outcomesOf(told.lines)).toEqual(['updated', 10001])
  expect(fieldsOf(told.lines[1])).toEqual(['laneType'])
  expect(expectSuccess(await detail(app, moved))).toMatchObject({ siteId: other, laneType: 2, laneName: 'North' })
  expectRefusal(await detail(app, nowhere), 'placementNotFound')

  const names = csvOf('laneName,deviceNo', `,${named}`, `,${named}`, `South,${moved}`)
  const cleared = await upserted(app, 'placements', names)
  expect(outcomesOf(cleared.lines)).toEqual(['updated', 'existing', 'updated'])
  expect(cleared).toMatchObject({ created: 0, updated: 2, existing: 1 })
  expect(expectSuccess(await detail(app, named))).toMatchObject({ siteId: site, laneType: 2, laneName: null })

  // Rows about one device take effect in their order: the second row repeats the placement of the first.
  const placed = { deviceNo: nowhere, siteId: site, laneType: 1 }
  const file = ndjsonOf(placed, { deviceNo: nowhere, laneName: 'West' })
  expect(outcomesOf((await upserted(app, 'placements', file, ndjson)).lines)).toEqual(['created', 'updated'])
  expect(expectSuccess(await detail(app, nowhere))).toMatchObject({ siteId: site, laneType: 1, laneName: 'West' })
})

test.each([
  ['csv', 'text/csv', ',1,,', ',2,,'],
  ['ndjson', ndjson, '"laneType":1', '"laneType":2'],
])(
  'an export as %s can be edited and sent back: the rest of its columns is ignored',
  async (format, type, lane, other) => {
    const app = await newApplication(client)
    const site = await newSite(app)
    const [one, two] = [await newPlaced(app, site), await newPlaced(app, site)]
    const edited = (await exported(app, 'placements', format)).replace(lane, other)
    const told = await upserted(app, 'placements', edited, type)
    expect(told).toMatchObject({ updated: 1, existing: 1, created: 0, refused: 0 })
    expect(told.ignoredColumns).toContain('placedTime')
    const lanes = [one, two].map(async (deviceNo) => expectSuccess(await detail(app, deviceNo)).laneType)
    expect((await Promise.all(lanes)).toSorted()).toEqual([1, 2])
  },
)

test('an application that is offline may place by a file, and a placement that ended is none', async () => {
  const app = await newApplication(client)
  const site = await newSite(app)
  const deviceNo = await newPlaced(app, site)
  expectSuccess(await remove(app, deviceNo))
  await takeOffline(client, app.appId)
  const told = await upserted(app, 'placements', csvOf(columns, `${deviceNo},${site},1,`))
  expect(told).toMatchObject({ created: 1, updated: 0 })
})

test('a file with other columns is refused at once', async () => {
  const refused = await send(await newApplication(client), 'placements', csvOf('deviceNo,siteId,gate'))
  expectFaults(refused, ['gate', 'laneType'])
})
