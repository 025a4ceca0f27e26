// What readers of streams cost: their memory, one event to all of them, and what creates lose beside a few.

import { streamEvents } from '../src/events/contract.ts'
import { limits } from '../src/vocabulary/limits.ts'
import { newApplication, siteBody, type TestApplication } from '../test/kit/records.ts'
import { processCpu, residentMegabytes, threadsCpu } from './cpu.ts'
import { creates, load } from './load.ts'
import { median } from './measure.ts'
import { type Bench, runBench } from './program.ts'
import { table } from './report.ts'
import { type Service, startForecourt, startStreamFloor } from './servers.ts'

const readers = limits.streams
const eventsToAll = 20
const eventsPerSecond = 500
const fewReaders = 20
/** About as many as the event of a site has. */
const blockBytes = 1_200

interface Counted {
  opened: number
  events: number
}

await runBench(async (bench) => {
  const start = async (name: string) =>
    bench.keep(startForecourt(name, 'bun', await bench.cluster.createDatabase(name)))
  process.stdout.write(`${await measureMany(bench, await start('many'))}\n\n`)
  process.stdout.write(`${await measureBeside(bench, await start('few'))}\n`)
})

/** Starts a process of readers, which answers with what has come so far. */
function startReaders() {
  let answer: (counted: Counted) => void = () => {}
  const child = Bun.spawn({
    cmd: [process.execPath, `${import.meta.dirname}/stream-readers.ts`],
    stdout: 'inherit',
    stderr: 'inherit',
    ipc: (message) => answer(message as Counted),
  })
  const ask = (order: unknown) =>
    new Promise<Counted>((resolve) => {
      answer = resolve
      child.send(order)
    })
  return {
    open: (service: { url: string }, appId: string, tokens: string[], ofEach: number) =>
      ask({ url: new URL(streamEvents.path, service.url).href, appId, tokens, ofEach }),
    count: () => ask('count'),
    async stop() {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}

/** As many readers of one application as a process takes. */
async function measureMany({ keep }: Bench, service: Service): Promise<string> {
  const { client, pid } = service
  const application = await newApplication(client)
  const keys = await Promise.all(
    Array.from({ length: readers / limits.streamsOfOne }, async (_, index) => {
      const made = await client.operate('createOperatorKey', { name: `reader ${index}`, role: 'viewer' })
      return made.data.operatorKey as string
    }),
  )
  const change = () => client.call('saveSite', siteBody(application.appId), { token: application.token })
  const group = await keep(Promise.resolve(startReaders()))
  // The first readers make what all share.
  await group.open(service, application.appId, keys.slice(0, 10), limits.streamsOfOne)
  await change()
  await Bun.sleep(2_000)
  const before = residentMegabytes(pid).now
  const { opened } = await group.open(service, application.appId, keys.slice(10), limits.streamsOfOne)
  await Bun.sleep(5_000)
  // One more than a process takes.
  const headers = { authorization: `Bearer ${client.operatorKey}` }
  const url = new URL(`${streamEvents.path}?appId=${application.appId}`, service.url)
  const { status } = await fetch(url, { headers })
  if (opened !== readers || status !== 429)
    throw new Error(`${opened} streams; the next one was answered with ${status}`)
  const kib = ((residentMegabytes(pid).now - before) * 1024) / (opened - 10 * limits.streamsOfOne)
  const idleFrom = processCpu(pid)
  await Bun.sleep(20_000)
  const idlePercent = (processCpu(pid) - idleFrom) / 200_000
  const toAll = await measureToAll(group, pid, opened, change)
  const afterwards = ((residentMegabytes(pid).now - before) * 1024) / opened
  await group.stop()
  const floor = await measureFloor(keep)
  const headings = [
    `${opened.toLocaleString('en')} readers`,
    'KiB each',
    'KiB each, later',
    'idle',
    'one event to all: processor',
    'until the last has it',
    'processor, of the bare runtime',
  ]
  return table(headings, [
    [
      '',
      kib.toFixed(1),
      afterwards.toFixed(1),
      `${idlePercent.toFixed(1)}%`,
      `${toAll.millis.toFixed(0)} ms`,
      `${toAll.tookMs.toFixed(0)} ms`,
      `${floor.millis.toFixed(0)} ms`,
    ],
  ])
}

type Readers = ReturnType<typeof startReaders>

/** What one event to all readers of a server costs: the medians of its processor time and of the time until the last has it. */
async function measureToAll(group: Readers, pid: number, opened: number, change: () => Promise<unknown>) {
  const millis: number[] = []
  const tookMs: number[] = []
  for (let count = 0; count < eventsToAll; count++) {
    await Bun.sleep(500)
    const { events } = await group.count()
    const cpu = threadsCpu(pid)
    await change()
    const at = performance.now()
    while ((await group.count()).events < events + opened) await Bun.sleep(5)
    tookMs.push(performance.now() - at)
    millis.push((threadsCpu(pid) - cpu) / 1000)
  }
  return { millis: median(millis), tookMs: median(tookMs) }
}

/** The same of a server that does nothing but send, with as many bytes. */
async function measureFloor(keep: Bench['keep']) {
  const floor = await keep(startStreamFloor())
  const group = await keep(Promise.resolve(startReaders()))
  const { opened } = await group.open(floor, '', ['none'], readers)
  const block = `id: 1\nevent: site.created\ndata: ${'x'.repeat(blockBytes)}\n\n`
  const measured = await measureToAll(group, floor.pid, opened, () => fetch(floor.url, { method: 'POST', body: block }))
  await group.stop()
  await floor.stop()
  return measured
}

/** Creates beside the same events, with readers and without, in turns. */
async function measureBeside({ keep, options }: Bench, service: Service): Promise<string> {
  const { client } = service
  const application = await newApplication(client)
  const loaded = async () => {
    const writing = startWriting(service, application)
    const { requests, seconds } = await load(service, options, creates(service, options.serials))
    const written = await writing.stop()
    return { perSecond: requests / seconds, eventsPerSecond: written / seconds }
  }
  await loaded()
  const ratios: number[] = []
  const rates: number[] = []
  for (let round = 0; round < options.rounds; round++) {
    const without = await loaded()
    const group = await keep(Promise.resolve(startReaders()))
    await group.open(service, application.appId, [application.token], fewReaders)
    const beside = await loaded()
    await group.stop()
    ratios.push(beside.perSecond / without.perSecond)
    rates.push(beside.eventsPerSecond)
  }
  const headings = [`${fewReaders} readers`, 'events/s', 'creates, of those without readers']
  return table(headings, [['', median(rates).toFixed(0), median(ratios).toFixed(3)]])
}

/** Writes events at a steady rate. */
function startWriting({ client }: Service, { appId, token }: TestApplication) {
  const batch = 50
  const { appId: _, ...site } = siteBody(appId)
  const sites = Array.from({ length: batch }, () => site)
  let written = 0
  let isRunning = true
  const running = (async () => {
    const from = performance.now()
    while (isRunning) {
      await client.call('saveSites', { appId, sites }, { token })
      written += batch
      await Bun.sleep(Math.max(0, from + (written / eventsPerSecond) * 1000 - performance.now()))
    }
  })()
  return {
    async stop() {
      isRunning = false
      await running
      return written
    },
  }
}
