// Device pages at scale: how long they take over HTTP by kind of request, alone and during changes, how fast creates are
// meanwhile, and how long the console's search takes.
//
//   bun bench/pages.ts --devices 10000000 [--largest 1000000] [KIND …]
//
// KIND is a part of what is asked for, such as “silent” or “box, none”; only such kinds are measured then
// (“search”: none of them).

import { Client } from '../test/kit/client.ts'
import { deviceBody, newApplication, type TestApplication } from '../test/kit/records.ts'
import { startService } from '../test/kit/service.ts'
import { databaseCpu, processCpu } from './cpu.ts'
import { applications, fillFleet } from './fleet.ts'
import {
  acrossQuestions,
  day,
  filterQuestions,
  ordinaryQuestions,
  pairQuestions,
  type Question,
  sortedQuestions,
} from './page-questions.ts'
import { type Bench, runBench } from './program.ts'
import { table } from './report.ts'
import { mostMs, requests, shown, type Timing, timeRequests, timingOf } from './timing.ts'

/** Changes a second while pages are read; half of them create, half report a new state of a device. */
const changesPerSecond = 400
/** Programs that search without a pause, of two owners, while creates are measured one after the other. */
const readers = 16
const measuredCreates = 500

/** A service with a fleet of devices of its own. */
interface Place {
  client: Client
  /** Processor time of the service and its database, in microseconds. */
  cpu(): number
  largest: TestApplication
  ordinary: TestApplication
  other: TestApplication
}

/** Whose devices the page lists; an operator lists all. */
type Whose = 'largest' | 'ordinary' | 'all'

await runBench(async (bench) => {
  const { devices, largest, against } = bench.options
  const here = await startPlace(bench, 'pages')
  const elsewhere = against === undefined ? undefined : await startPlace(bench, 'elsewhere', against)
  process.stdout.write(
    `${devices.toLocaleString('en')} devices, ${applications.toLocaleString('en')} applications; the largest has ` +
      `${largest.toLocaleString('en')}.\n\n`,
  )
  const rows: string[][] = []
  const { others } = bench.options
  const ask = async (whose: Whose, question: Question) => {
    if (others.length > 0 && !others.some((kind) => question.what.includes(kind))) return
    const quiet = await measure(here, whose, question)
    const busy = await besideChanges(here.client, [here.largest, here.other], () => measure(here, whose, question))
    // An earlier version has no pages over all applications, and does not read this one's cursors.
    const isComparable = whose !== 'all' && !question.what.startsWith('cursor')
    const other = elsewhere && isComparable ? withCpu(await measure(elsewhere, whose, question)) : ['', '', '', '']
    rows.push([whose, question.what, quiet.finds, ...withCpu(quiet), ...shown(busy), ...(elsewhere ? other : [])])
    process.stderr.write(`${rows.at(-1)?.join('  ')}\n`)
  }
  for (const question of filterQuestions) await ask('largest', question)
  for (const question of await depthQuestions(here, largest)) await ask('largest', question)
  for (const question of pairQuestions) await ask('largest', question)
  for (const question of sortedQuestions) await ask('largest', question)
  for (const question of sortedQuestions) await ask('all', question)
  for (const question of ordinaryQuestions) await ask('ordinary', question)
  for (const question of acrossQuestions) await ask('all', question)
  const timings = ['p50', 'p99', 'max']
  const there = elsewhere ? [...timings, 'CPU'].map((at) => `${at} there`) : []
  const headings = [timings, 'CPU', timings.map((at) => `${at} busy`), there]
  process.stdout.write(
    `Milliseconds over HTTP, ${requests} requests each, or ${mostMs / 1000} s of them, and of processor time a request, the ` +
      `database’s included. Busy: beside ` +
      `${changesPerSecond} changes a second, half of them of the largest application.` +
      `${against === undefined ? '' : ` There: ${against}.`}\n\n` +
      `${table(['application', 'asked for', 'finds', ...headings.flat()], rows)}\n\n` +
      `${table(['creates, one after the other', ...timings], await measureCreates(here))}\n\n` +
      `${table(['the console’s search for', 'finds', ...timings], await measureSearches(here))}\n`,
  )
})

async function startPlace({ cluster, options, keep }: Bench, name: string, checkout?: string): Promise<Place> {
  const database = await cluster.createDatabase(name)
  const from = { env: { DATABASE_URL: database.url }, ...(checkout === undefined ? {} : { checkout }) }
  // Before there are devices: the schema, and applications that have tokens.
  const first = await startService(from)
  const largest = await newApplication(new Client(first))
  const ordinary = await newApplication(new Client(first))
  const other = await newApplication(new Client(first))
  await first.stop()
  await fillFleet(database.sql, options, largest.appId, ordinary.appId)
  await cluster.admin`checkpoint`
  const service = await keep(startService(from))
  // The service's warnings are printed with the figures.
  service.process.stderr?.pipe(process.stderr)
  const cpu = () => processCpu(service.process.pid as number) + databaseCpu(cluster.pid)
  return { client: new Client(service), cpu, largest, ordinary, other }
}

function ask(place: Place, whose: Whose, query: object) {
  return whose === 'all'
    ? place.client.operate('pageDevices', query)
    : place.client.call('pageDevices', query, { token: place[whose].token })
}

/** Pages by cursor and by number, from the first to the oldest. */
async function depthQuestions(place: Place, devices: number): Promise<Question[]> {
  const cursorOf = async (query: object) => String((await ask(place, 'largest', query)).data.nextCursor)
  const byCursor = (what: string, cursor: string, filter: object = {}): Question => ({
    what: `cursor, ${what}`,
    queries: [10, 100].map((pageSize) => ({ ...filter, cursor, pageSize })),
  })
  const questions = [byCursor('10 deep', await cursorOf({})), byCursor('1,000 deep', await cursorOf({ pageNo: 100 }))]
  if (devices > 100_000) {
    questions.push(byCursor('100,000 deep', await cursorOf({ pageNo: 1000, pageSize: 100 })))
  }
  // The devices of a year are in the order of their age, so the oldest are beyond the reach of page numbers. A cursor
  // is valid only for its filters.
  const old = { timeTo: `${day(360)} 00:00:00` }
  questions.push(byCursor('nearly all deep', await cursorOf(old), old))
  const cursor = await cursorOf({ pageNo: 100, deviceName: 'gate' })
  questions.push({ what: 'cursor and name, 1,000 deep', queries: [{ cursor, deviceName: 'gate' }] })
  for (const pageNo of [100, 5_000].filter((pageNo) => pageNo * 10 < devices)) {
    const queries = [{ pageNo }, { pageNo: pageNo - 1 }]
    questions.push({ what: `page number ${pageNo.toLocaleString('en')}`, queries })
  }
  return questions
}

interface Answers extends Timing {
  finds: string
}

async function measure(place: Place, whose: Whose, { queries, what }: Question): Promise<Answers> {
  let finds = ''
  const timing = await timeRequests(queries, place.cpu, async (query) => {
    const answer = await ask(place, whose, query)
    // A refused request is reported, and its time counts like any other.
    if (answer.code !== 0) process.stderr.write(`${what}: ${answer.text}\n`)
    else finds = `${answer.data.total.toLocaleString('en')}${answer.data.totalIsExact ? '' : '+'}`
  })
  return { ...timing, finds }
}

function withCpu(timing: Timing): string[] {
  return [...shown(timing), timing.cpu.toFixed(1)]
}

/** What an operator types into the console's search. */
async function measureSearches({ client, cpu, largest }: Place): Promise<string[][]> {
  const one = (await client.operate('pageDevices', { appId: largest.appId, pageSize: 1 })).data.list[0]?.deviceNo ?? ''
  const rows: string[][] = []
  for (const [what, texts] of [
    ['a whole serial number', [one]],
    ['the beginning of one', [one.slice(0, 6), one.slice(0, 9)]],
    ['the middle of one', [one.slice(8, 13), one.slice(9, 15)]],
    ['an application, by its name', ['Application 77', 'application 9999']],
    ['a part of names', ['Riverside', '东湖']],
    ['a request id', ['d6a1f1a0-52e5-4a4e-9d4f-3a2ab6a2f3d1']],
    ['what is nowhere', ['north pole', 'qqqq']],
  ] as const) {
    let finds = 0
    const queries = texts.map((text) => ({ text }))
    const timing = await timeRequests(queries, cpu, async (query) => {
      const answer = await client.operate('search', query)
      if (answer.code !== 0) throw new Error(answer.text)
      finds = answer.data.list.length
    })
    rows.push([what, String(finds), ...shown(timing)])
  }
  return rows
}

/** Creates alone, and then while programs search all devices for values that no device has. */
async function measureCreates({ client, largest, other }: Place): Promise<string[][]> {
  const create = async () => {
    const took: number[] = []
    for (let index = 0; index < measuredCreates; index++) {
      const began = performance.now()
      const { code, text } = await client.call('createDevice', deviceBody(other.appId), { token: other.token })
      if (code !== 0) throw new Error(text)
      took.push(performance.now() - began)
    }
    return shown(timingOf(took))
  }
  const rows = [['alone', ...(await create())]]
  let isSearching = true
  const searches = Array.from({ length: readers }, async (_, index) => {
    const caller = index % 2 === 0 ? { token: largest.token } : {}
    while (isSearching) await client.operate('pageDevices', { deviceName: 'north pole' }, caller)
  })
  rows.push([`beside ${readers} searches`, ...(await create())])
  isSearching = false
  await Promise.all(searches)
  return rows
}

/** Measures while devices are created and report. */
async function besideChanges<Answer>(
  client: Client,
  owners: TestApplication[],
  run: () => Promise<Answer>,
): Promise<Answer> {
  const made: { deviceNo: string; token: string }[] = []
  const under: Promise<unknown>[] = []
  let changes = 0
  const change = async () => {
    const owner = owners[changes % owners.length] as TestApplication
    const reported = changes++ % 4 < 2 ? undefined : made[Math.floor(Math.random() * made.length)]
    if (reported === undefined) {
      const body = deviceBody(owner.appId, { deviceName: `New gate ${changes}` })
      await client.call('createDevice', body, { token: owner.token })
      made.push({ deviceNo: body.deviceNo, token: owner.token })
    } else {
      const state = { onlineStatus: 1 + (changes % 2), runStatus: changes % 3 }
      await client.call('reportDeviceState', { deviceNo: reported.deviceNo, ...state }, { token: reported.token })
    }
  }
  const timer = setInterval(() => under.push(change(), change()), 2000 / changesPerSecond)
  const answer = await run()
  clearInterval(timer)
  await Promise.all(under)
  return answer
}
