// Device pages at scale: how long they take over HTTP by what is asked for, quietly and beside changes.
//
//   bun bench/pages.ts --devices 10000000
import { reportDeviceState } from '../src/device-state/contract.ts'
import { createDevice, pageDevices } from '../src/devices/contract.ts'
import { getMetrics } from '../src/service/contract.ts'
import { Client, deviceBody, newApplication, startService, type TestApplication } from '../test/harness.ts'
import { applications, fillFleet, largeShare } from './fleet.ts'
import { filterQuestions, ordinaryQuestions, pairQuestions, type Question } from './page-questions.ts'
import { runBench } from './program.ts'
import { table } from './report.ts'

/** Requests of each kind, one after the other. */
const requests = 200
/** Of each kind, before it is measured. */
const warmUps = 20
/** While pages are read beside them; half of them are creates, half report a new state of a device. */
const changesPerSecond = 400

await runBench(async ({ cluster, options, keep }) => {
  const database = await cluster.createDatabase('pages')
  const env = { DATABASE_URL: database.url }
  // Before there are devices: the schema, and applications that have tokens.
  const first = await startService({ env })
  const large = await newApplication(new Client(first))
  const ordinary = await newApplication(new Client(first))
  const other = await newApplication(new Client(first))
  await first.stop()
  await fillFleet(database.sql, options.devices, large.appId, ordinary.appId)
  await cluster.admin`checkpoint`

  const service = await keep(startService({ env }))
  // What it has to complain of belongs to the figures.
  service.process.stderr?.pipe(process.stderr)
  const client = new Client(service)
  const readyAt = performance.now()
  const copy = await untilCopied(client, large, largeShare(options.devices))
  const loadSeconds = ((performance.now() - readyAt) / 1000).toFixed(1)
  const withoutCopies = new Client(await keep(startService({ env: { ...env, FORECOURT_SEARCH_MEMORY_MB: '0' } })))
  process.stdout.write(
    `${options.devices.toLocaleString('en')} devices, ${applications.toLocaleString('en')} applications; the largest has ` +
      `${copy.devices.toLocaleString('en')}. Its copy takes ${(copy.bytes / 2 ** 20).toFixed(0)} MiB and was there ` +
      `${loadSeconds} s after the service.\n\n`,
  )

  const rows: string[][] = []
  const ask = async (name: string, application: TestApplication, question: Question) => {
    const quiet = await measure(client, application, question)
    const busy = await besideChanges(client, [large, other], () => measure(client, application, question))
    const bare = question.isIndexed ? await measure(withoutCopies, application, question) : undefined
    rows.push([name, question.what, quiet.finds, ...shown(quiet), ...shown(busy), ...shown(bare)])
    process.stderr.write(`${rows.at(-1)?.join('  ')}\n`)
  }
  const depths = await depthQuestions(client, large, largeShare(options.devices))
  for (const question of [...depths, ...filterQuestions, ...pairQuestions]) await ask('largest', large, question)
  for (const question of ordinaryQuestions) await ask('ordinary', ordinary, question)
  const timings = ['p50', 'p99', 'max']
  const headings = [...timings, ...timings.map((at) => `${at} busy`), ...timings.map((at) => `${at} bare`)]
  process.stdout.write(
    `Milliseconds over HTTP, ${requests} requests each. Busy: beside ${changesPerSecond} changes a second, half of ` +
      `them of the largest application. Bare: without a copy.\n\n` +
      `${table(['application', 'asked for', 'finds', ...headings], rows)}\n`,
  )
})

/** Waits for the copy of the large application, which the service makes when it is asked for one, if not before. */
async function untilCopied(client: Client, { token }: TestApplication, devices: number) {
  for (;;) {
    await client.call(pageDevices, { deviceName: 'gate' }, { token })
    const { text } = await client.operate(getMetrics, {})
    const read = (name: string) => Number(new RegExp(`^forecourt_device_search_${name} (\\d+)$`, 'm').exec(text)?.[1])
    if (read('devices') >= devices) return { devices: read('devices'), bytes: read('bytes') }
    await Bun.sleep(100)
  }
}

/** Pages by cursor and by number, from the first to the last. */
async function depthQuestions(client: Client, { token }: TestApplication, devices: number): Promise<Question[]> {
  const page = async (pageNo: number) => (await client.call(pageDevices, { pageNo }, { token })).data
  const questions: Question[] = []
  for (const depth of [10, 1_000, 50_000, devices - 20]) {
    if (depth >= devices) continue
    const { nextCursor } = await page(depth / 10)
    const cursor = String(nextCursor)
    const cursors = [10, 100].map((pageSize) => ({ cursor, pageSize }))
    questions.push({ what: `cursor, ${depth.toLocaleString('en')} deep`, queries: cursors, isIndexed: true })
    // A search is walked through too, and counted anew each time.
    questions.push({
      what: `cursor and name, ${depth.toLocaleString('en')} deep`,
      queries: [{ cursor, deviceName: 'gate' }],
    })
  }
  for (const pageNo of [100, 5_000]) {
    questions.push({
      what: `page number ${pageNo.toLocaleString('en')}`,
      queries: [{ pageNo }, { pageNo: pageNo - 1 }],
      isIndexed: true,
    })
  }
  return questions
}

interface Timing {
  p50: number
  p99: number
  max: number
  finds: string
}

async function measure(client: Client, { token }: TestApplication, { queries, what }: Question): Promise<Timing> {
  const took: number[] = []
  let finds = ''
  const unmeasured = Math.max(warmUps, queries.length)
  for (let index = 0; index < requests + unmeasured; index++) {
    const began = performance.now()
    const answer = await client.call(pageDevices, queries[index % queries.length], { token })
    const milliseconds = performance.now() - began
    // Its time counts like any other's.
    if (answer.code !== 0) process.stderr.write(`${what}: ${answer.text} after ${milliseconds.toFixed(0)} ms\n`)
    else finds = `${answer.data.total.toLocaleString('en')}${answer.data.totalIsExact ? '' : '+'}`
    // The first may have to read what nobody has read for long, and the engine compiles what is asked for often.
    if (index >= unmeasured) took.push(milliseconds)
  }
  took.sort((a, b) => a - b)
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99), max: at(1), finds }
}

function shown(timing: Timing | undefined): string[] {
  return timing === undefined ? ['', '', ''] : [timing.p50, timing.p99, timing.max].map((value) => value.toFixed(1))
}

/** Makes devices, and reports on those that it has made, while something is measured. */
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
      await client.call(createDevice, body, { token: owner.token })
      made.push({ deviceNo: body.deviceNo, token: owner.token })
    } else {
      const state = { onlineStatus: 1 + (changes % 2), runStatus: changes % 3 }
      await client.call(reportDeviceState, { deviceNo: reported.deviceNo, ...state }, { token: reported.token })
    }
  }
  const timer = setInterval(() => under.push(change(), change()), 2000 / changesPerSecond)
  const answer = await run()
  clearInterval(timer)
  await Promise.all(under)
  return answer
}
