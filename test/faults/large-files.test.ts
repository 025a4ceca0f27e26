import { expect, test } from 'bun:test'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Faults, target } from '../kit/client.ts'
import { onDisk } from '../kit/folders.ts'
import { heldAtMostMs, heldMs, watchedEnvironment } from '../kit/held-loop.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { longTest } from '../kit/scale.ts'
import { load } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

// No uploaded file and no body keeps other applications from being served, blocks the event loop for long, or takes much
// memory.

const place = ownWorkplace()

const runtime = process.env.FORECOURT_TEST_RUNTIME === 'node' ? 'node' : 'bun'
const megabytes = 40
/** The size of files whose rows each have an outcome, which is stored. */
const rowMegabytes = 6
/** The number of rows after which an import is stopped, because its effect is measured by then. */
const workedOff = 100_000
const header = 'deviceNo,deviceName,districtCode,coordinates\n'
const csv = 'text/csv'
const ndjson = 'application/x-ndjson'

/** A file that begins with `head` and repeats one text after it. */
const filled = (head: string, text: string | Uint8Array, size = megabytes): Uint8Array => {
  const first = Buffer.from(head)
  return Buffer.concat([first, Buffer.alloc(Math.round(size * 1e6), text as string)])
}

const bombs: [what: string, type: string, file: () => Uint8Array][] = [
  ['one line', ndjson, () => filled('', 'x')],
  ['one line of two-byte letters', ndjson, () => filled('', 'é')],
  ['one quoted cell', csv, () => filled(`${header}"`, 'x')],
  ['columns', csv, () => filled('', 'a,')],
  ['columns by name', csv, () => filled('', 'deviceNo,')],
  ['quotes', csv, () => filled(header, '"')],
  ['pairs of quotes', csv, () => filled(`${header}"`, '""')],
  ['quoted rows', csv, () => filled(header, '""\n', rowMegabytes)],
  ['line feeds', ndjson, () => filled('', '\n')],
  ['line feeds of a CSV', csv, () => filled(header, '\n')],
  ['line feeds in place of a header', csv, () => filled('', '\n')],
  ['blank lines', ndjson, () => filled('', ' \r\n')],
  ['carriage returns', csv, () => filled(header, '\r')],
  ['carriage returns of NDJSON', ndjson, () => filled('', '\r')],
  ['line ends', csv, () => filled(header, '\r\n')],
  ['one GB18030 cell', `${csv}; charset=gb18030`, () => filled(header, Buffer.from([0xc4, 0xe3]))],
  ['four-byte GB18030', `${csv}; charset=gb18030`, () => filled(header, Buffer.from([0x81, 0x30, 0x81, 0x30]))],
  ['bytes of no encoding', csv, () => filled(header, Buffer.from([0xff]))],
  ['{}', ndjson, () => filled('', '{}\n', rowMegabytes)],
  ['[', ndjson, () => filled('', '[')],
  ['[ by line', ndjson, () => filled('', `${'['.repeat(60_000)}\n`)],
  ['members', ndjson, () => filled('', `{${'"a":0,'.repeat(9000)}"b":0}\n`)],
  ['escapes', ndjson, () => filled('', `"${'\\u0000'.repeat(10_000)}"\n`)],
  ['cells', csv, () => filled(header, 'a,a,')],
  ['commas', csv, () => filled(header, ',')],
  ['rows of commas', csv, () => filled(header, `${','.repeat(60_000)}\n`)],
  ['rows of line feeds in quotes', csv, () => filled(header, `"${'\n'.repeat(60_000)}"\n`)],
]

longTest('whatever a file holds, the event loop is not held, and another tenant is served beside it', async () => {
  const { service, client } = await place.start({ runtime, env: watchedEnvironment(place.home, runtime) })
  const [sender, other] = [await newApplication(client), await newApplication(client)]
  const waits: number[] = []
  const beside = (ask: () => Promise<{ status: number }>) =>
    load(
      async () => {
        const from = performance.now()
        expect((await ask()).status).toBe(200)
        waits.push(performance.now() - from)
      },
      // As often as a busy tenant: without a pause, these requests would take half of the processor time from the
      // measured work.
      { pauseMs: 5 },
    )
  const others = [
    beside(() => client.call('createDevice', deviceBody(other.appId), { token: other.token })),
    beside(() => fetch(`${service.url}/healthz`)),
  ]
  /** Uploads a file and runs its import, or a part of it. Returns how long both blocked the event loop at most. */
  async function heldBy(type: string, file: Uint8Array): Promise<number> {
    const ask = { token: sender.token }
    const headers = { 'content-type': type, 'idempotency-key': randomUUID() }
    await heldMs(service)
    // The service may end the upload of a file that it refuses.
    const sent = await client
      .call('createImport', { kind: 'devices', file }, { ...ask, headers })
      .catch(() => undefined)
    const taking = await heldMs(service)
    expect([200, 400, undefined]).toContain(sent?.status)
    if (sent?.status !== 200) return taking
    const { id } = sent.data
    for (let hasEnded = false; !hasEnded; ) {
      const { status, refused } = (await client.call('getImport', { id }, ask)).data
      hasEnded = status > 2
      if (!hasEnded && refused > workedOff) await client.call('cancelImport', { id }, ask)
    }
    expect((await client.call('getImportResult', { id }, ask)).status).toBe(200)
    return Math.max(taking, await heldMs(service))
  }
  for (const [what, type, make] of bombs) {
    const file = make()
    let longest = Number.POSITIVE_INFINITY
    // A real fault blocks the event loop each time; a first attempt is also slow because the runtime still compiles.
    for (let tries = 0; longest >= heldAtMostMs && tries < 3; tries++) longest = await heldBy(type, file)
    expect(longest, what).toBeLessThan(heldAtMostMs)
  }
  await Promise.all(others.map((one) => one.stop()))
  expect(waits.length).toBeGreaterThan(2 * bombs.length)
  // A generous limit, because other programs use the machine too.
  expect(Math.max(...waits)).toBeLessThan(3_000)
  expect(await service.stop()).toBe(0)
})

const bytes = 8 * 1024 * 1024 - 64
const fill = (piece: string) => piece.repeat(Math.floor(bytes / piece.length))
const times = (count: number, row: (index: number) => object) => Array.from({ length: count }, (_, index) => row(index))
const hostile: [what: string, text: string][] = [
  ['zeros', `{"entries":[${fill('0,')}0]}`],
  ['arrays', `{"entries":[${fill('[],')}[]]}`],
  ['empty objects', `{"entries":[${fill('{},')}{}]}`],
  ['arrays 400,000 deep', '['.repeat(400_000)],
  ['escaped quotes', `{"entries":["${fill('\\"')}"]}`],
  ['one number', `{"entries":[${fill('1')}]}`],
  ['names', `{${Array.from({ length: 400_000 }, (_, index) => `"k${index}":0`).join(',')}}`],
  ['20,000 faulty entries', JSON.stringify({ entries: times(20_000, () => ({ deviceNo: 'a b', modelName: '' })) })],
]
/** The runtime itself holds the event loop for some of it, to receive fifteen bodies. */
const bodyHeldAtMostMs = 300
const entriesOf = (at: number) =>
  times(20_000, (row) => ({ deviceNo: `L${at}-${row}`, modelName: 'Barrier', remark: 'x'.repeat(300) }))
const faultyDevice = { deviceNo: 'a b', deviceName: '', tag: 3, provinceCode: 5, detailAddress: 7, coordinates: 'x' }

longTest('a body of 8 MiB holds nobody up, whatever is in it, nor do fifteen at once', async () => {
  const { service, client } = await place.start({ env: watchedEnvironment(place.home, runtime) })
  const { appId } = await newApplication(client)
  async function holdsNobodyUp<Answered>(what: string, send: () => Promise<Answered>): Promise<Answered> {
    await heldMs(service)
    const answer = await send()
    const held = await heldMs(service)
    expect(held, what).toBeLessThan(bodyHeldAtMostMs)
    return answer
  }
  const importOf = (body: string) => client.operate('importDeviceInventory', body)
  for (const [what, text] of hostile) expect((await holdsNobodyUp(what, () => importOf(text))).status, what).toBe(400)
  const batchOf = (devices: object[]) => () => client.operate('createDevices', { appId, devices })
  const { data } = await holdsNobodyUp('1,000 faulty rows', batchOf(times(1000, () => faultyDevice)))
  expect(data?.results.filter(({ code }) => code === 10001)).toHaveLength(1000)
  const large = times(1000, () => ({ ...deviceBody(appId), appId: undefined, more: 'x'.repeat(3000) }))
  expect((await holdsNobodyUp('1,000 large rows', batchOf(large))).status).toBe(200)
  const model = { serialPrefix: 'L', modelName: 'Barrier', deviceType: 'barrier', deviceTypeName: 'Barrier' }
  expect((await client.operate('saveDeviceModel', model)).code).toBe(0)
  const bodies = Array.from({ length: 15 }, (_, at) => JSON.stringify({ entries: entriesOf(at) }))
  const answers = await holdsNobodyUp('fifteen imports', () => Promise.all(bodies.map(importOf)))
  const statuses = answers.map(({ status }) => status)
  // On a slow machine, fifteen bodies may take longer than a request may.
  expect(statuses.filter((status) => ![200, 408, 503].includes(status))).toEqual([])
  expect(statuses).toContain(200)
  expect(await service.stop()).toBe(0)
})

test('of a thousand faults and more a thousand are told', async () => {
  const entries = times(20_000, () => ({ deviceNo: 'a b', modelName: '' }))
  const { code, data } = await (await target()).operate('importDeviceInventory', { entries })
  const { errors } = data as unknown as Faults
  expect([code, errors.length, errors.at(-1)?.field]).toEqual([10001, 1000, 'entries[499].modelName'])
})

/** Node collects later than Bun: its memory rises in the first third of the file, and no more after it. */
const mostMegabytes = runtime === 'node' ? 350 : 250

/** A file of about 1 GB, generated while it is uploaded. */
function* rows(): Generator<Uint8Array> {
  const encoder = new TextEncoder()
  yield encoder.encode('deviceNo,deviceName,districtCode,coordinates,detailAddress\n')
  const filler = 'x'.repeat(200)
  for (let portion = 0; portion < 4200; portion++) {
    const lines = Array.from({ length: 1000 }, (_, n) => `BIG-${portion}-${n},Gate,360102,"115.9,28.6",${filler}\n`)
    yield encoder.encode(lines.join(''))
  }
}

longTest('a file of 1 GB is taken in little memory', async () => {
  // On the disk, not in memory.
  const disk = new Workplace(onDisk)
  const { service, client } = await disk.start()
  const { appId } = await newApplication(client)
  const made = rows()
  let bytes = 0
  const file = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = made.next()
      if (done) return controller.close()
      bytes += value.byteLength
      controller.enqueue(value)
    },
  })
  const taken = await client.operate('createImport', { appId, kind: 'devices', dryRun: 'true', file })
  expect([taken.code, taken.data.bytes]).toEqual([0, bytes])
  expect(bytes).toBeGreaterThan(1e9)
  const peak = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))?.[1]) / 1024
  expect(peak).toBeLessThan(mostMegabytes)
  await disk.clear()
})
