// What writes cost beside another checkout: both run in turns, each on a PostgreSQL of its own, with the same callers.
//
//   bun bench/writes.ts --against FOLDER [--rounds 3] [--connections 64] [update saveSite unbind transfer beside]
//
// What counts is the ratio of their processor times. `beside` is creates beside unbindings of the same application: what
// counts is the ratio of their rates.
import { createDevice, createDevices, updateDevice } from '../src/devices/contract.ts'
import { transferDevice, unbindDevice } from '../src/devices/ownership/contract.ts'
import { savePlacements } from '../src/devices/placement/contract.ts'
import { saveSite } from '../src/sites/contract.ts'
import type { Client } from '../test/kit/client.ts'
import { deviceBody, newApplication, siteBody } from '../test/kit/records.ts'
import { type Cluster, startCluster } from './cluster.ts'
import { databaseCpu, processCpu } from './cpu.ts'
import { median, rotated } from './measure.ts'
import { runBench } from './program.ts'
import { table, tellProgress } from './report.ts'
import { type Service, startForecourt } from './servers.ts'

const writesOfRound = 3000
/** Creates and unbindings at once. */
const besideCallers = { creates: 16, unbinds: 32 }
const besideMs = 6000

interface Side {
  name: string
  on: Cluster
  service: Service
  targetAppId: string
  siteId: number
}

let serials = 0
const newSerial = () => `W${String(++serials).padStart(9, '0')}`

async function post(url: string, token: string, body: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  const { code, msg } = (await answer.json()) as { code: number; msg: string }
  if (code !== 0) throw new Error(`${url}: ${code} ${msg}`)
}

async function prepared(name: string, on: Cluster, service: Service): Promise<Side> {
  const { client, appId, token } = service
  const { appId: targetAppId } = await newApplication(client)
  const site = await client.call('saveSite', siteBody(appId), { token })
  return { name, on, service, targetAppId, siteId: site.data.id }
}

/** Creates devices, placed at the side's site. */
async function createPlaced({ service, siteId }: Side, count: number): Promise<string[]> {
  const { client, appId, token } = service
  const made = Array.from({ length: count }, newSerial)
  for (let from = 0; from < count; from += 1000) {
    const part = made.slice(from, from + 1000)
    const devices = part.map((deviceNo) => ({ ...deviceBody(appId, { deviceNo }), appId: undefined }))
    await call(client, createDevices, { appId, devices }, token)
    await call(
      client,
      savePlacements,
      { appId, placements: part.map((deviceNo) => ({ deviceNo, siteId, laneType: 1 })) },
      token,
    )
  }
  return made
}

async function call(client: Client, operation: Parameters<Client['call']>[0], body: object, token: string) {
  const answer = await client.call(operation, body as never, { token })
  if (answer.code !== 0) throw new Error(answer.text)
}

type Send = (serial: string, n: number) => Promise<void>

const works: Record<string, (side: Side) => Send> = {
  update:
    ({ service: { url, appId, token } }) =>
    (deviceNo, n) =>
      post(new URL(updateDevice.path, url).href, token, { appId, deviceNo, deviceName: `name ${n}` }),
  saveSite:
    ({ service: { url, appId, token } }) =>
    () =>
      post(new URL(saveSite.path, url).href, token, siteBody(appId)),
  unbind:
    ({ service: { url, appId, token } }) =>
    (deviceNo) =>
      post(new URL(unbindDevice.path, url).href, token, { appId, deviceNo }),
  transfer:
    ({ service: { url, client }, targetAppId }) =>
    (deviceNo) =>
      post(new URL(transferDevice.path, url).href, client.operatorKey, { deviceNo, targetAppId, reason: 'bench' }),
}

/** Runs the work for each item, so many at once. */
async function crowd<Item>(items: readonly Item[], atOnce: number, run: (item: Item, n: number) => Promise<void>) {
  let next = 0
  const caller = async () => {
    for (let n = next++; n < items.length; n = next++) await run(items[n] as Item, n)
  }
  await Promise.all(Array.from({ length: atOnce }, caller))
}

async function measureWork(side: Side, work: string, callers: number) {
  const devices = await createPlaced(side, writesOfRound)
  await Bun.sleep(300)
  const send = (works[work] as (typeof works)[string])(side)
  const cpu = () => [processCpu(side.service.pid), databaseCpu(side.on.pid)] as const
  const [server, database] = cpu()
  await crowd(devices, callers, send)
  const after = cpu()
  return [(after[0] - server) / writesOfRound, (after[1] - database) / writesOfRound] as const
}

/** Creates and unbindings of one application at once: how many of each in a second. */
async function measureBeside(side: Side) {
  const { url, appId, token } = side.service
  const done = { creates: 0, unbinds: 0 }
  const stock = await createPlaced(side, 30_000)
  const until = performance.now() + besideMs
  const create = async () => {
    while (performance.now() < until) {
      await post(new URL(createDevice.path, url).href, token, deviceBody(appId, { deviceNo: newSerial() }))
      done.creates++
    }
  }
  const unbind = async () => {
    for (let serial = stock.pop(); serial !== undefined && performance.now() < until; serial = stock.pop()) {
      await post(new URL(unbindDevice.path, url).href, token, { appId, deviceNo: serial })
      done.unbinds++
    }
  }
  await Promise.all([
    ...Array.from({ length: besideCallers.creates }, create),
    ...Array.from({ length: besideCallers.unbinds }, unbind),
  ])
  if (stock.length === 0) throw new Error('This is not a result: too few devices for the unbindings.')
  return [(done.creates * 1000) / besideMs, (done.unbinds * 1000) / besideMs] as const
}

await runBench(async ({ cluster, options, keep }) => {
  const { against, rounds } = options
  if (against === undefined) throw new Error('--against FOLDER is missing: another checkout, ready to run.')
  const there = await keep(startCluster())
  const start = async (name: string, on: Cluster, checkout?: string) =>
    prepared(name, on, await keep(startForecourt(name, 'bun', await on.createDatabase('writes'), {}, checkout)))
  const sides = [await start('this checkout', cluster), await start('the other', there, against)]
  const rows: string[][] = []
  for (const work of options.others.length > 0 ? options.others : [...Object.keys(works), 'beside']) {
    const figures = new Map(sides.map((side): [Side, (readonly [number, number])[]] => [side, []]))
    for (let round = 0; round < rounds; round++) {
      for (const side of rotated(sides, round)) {
        const isBeside = work === 'beside'
        const figure = isBeside ? await measureBeside(side) : await measureWork(side, work, options.connections)
        figures.get(side)?.push(figure)
        tellProgress(round, side.name, `${work}: ${figure.map(Math.round).join(' + ')}`)
      }
    }
    const medians = sides.map((side) =>
      [0, 1].map((at) => median((figures.get(side) ?? []).map((one) => one[at] as number))),
    )
    const [mine = [], others = []] = medians
    const ratios = work === 'beside' ? mine.map((own, at) => own / (others[at] as number)) : [sum(mine) / sum(others)]
    rows.push([
      work,
      ...medians.map((pair) => pair.map(Math.round).join(' + ')),
      ratios.map((one) => one.toFixed(2)).join(', '),
    ])
  }
  process.stdout.write(`${table(['write', ...sides.map(({ name }) => name), 'ratio'], rows)}\n`)
})

function sum(values: number[]): number {
  return values.reduce((all, one) => all + one, 0)
}
