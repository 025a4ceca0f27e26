// Imports and exports of devices through the API of one service on its embedded database, alone and beside creates.
//
//   bun bench/bulk.ts [--rows 100000] [--gigabytes 1] [--runtime node] [--workers 2]
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createExport, createImport, getImport } from '../src/bulk/contract.ts'
import { createDevice } from '../src/devices/contract.ts'
import { Client, deviceBody, newApplication, newSerial, startService, type TestApplication } from '../test/harness.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    gigabytes: { type: 'string', default: '0' },
    runtime: { type: 'string', default: 'bun' },
    workers: { type: 'string', default: '1' },
  },
})
const count = Number(values.rows)
/** Clients that create beside an import, one device after the other each. */
const creators = 64

const service = await startService({
  runtime: values.runtime === 'node' ? 'node' : 'bun',
  env: { FORECOURT_WORKERS: values.workers },
})
const client = new Client(service)
const tell = (words: string) => process.stdout.write(`${words}\n`)

/** Resident memory of the serving process, in megabytes. */
const resident = () => {
  const status = readFileSync(`/proc/${service.process.pid}/status`, 'utf8')
  return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024)
}

let peak = 0
const watch = setInterval(() => {
  peak = Math.max(peak, resident())
}, 50)

function fileOf(rows: number, prefix: string): string {
  const lines = ['deviceNo,deviceName,tag,provinceCode,cityCode,districtCode,detailAddress,coordinates']
  for (let row = 0; row < rows; row++) {
    lines.push(
      `${prefix}-${row},东门道闸 ${row},lane=${row % 8},360000,360100,360102,"No. ${row}, Yangming Road","115.899918,28.676493"`,
    )
  }
  return lines.join('\n')
}

/** Sends a file and waits for its end. Answers the seconds of the upload, and of all. */
async function importOf({ token }: TestApplication, file: string | ReadableStream) {
  peak = resident()
  const beganAt = performance.now()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/csv' }
  const response = await fetch(`${service.url}${createImport.path}?kind=devices`, {
    method: 'POST',
    headers,
    body: file,
  })
  const { data, ...refused } = (await response.json()) as { data: { id: number } | null }
  if (!response.ok || data === null) throw new Error(JSON.stringify(refused))
  const uploaded = (performance.now() - beganAt) / 1000
  for (;;) {
    const told = (await client.call(getImport, { id: data.id }, { token })).data
    if (told.status > 2) return { uploaded, seconds: (performance.now() - beganAt) / 1000, ...told }
    await Bun.sleep(100)
  }
}

/** Creates devices until it is stopped. Answers how many a second. */
function createBeside({ appId, token }: TestApplication) {
  let isOver = false
  let created = 0
  const beganAt = performance.now()
  const running = Array.from({ length: creators }, async () => {
    while (!isOver) {
      const { status } = await client.call(createDevice, deviceBody(appId), { token })
      if (status === 200) created++
    }
  })
  return async () => {
    isOver = true
    await Promise.all(running)
    return Math.round((created * 1000) / (performance.now() - beganAt))
  }
}

async function rateFor(application: TestApplication, milliseconds: number): Promise<number> {
  const stop = createBeside(application)
  await Bun.sleep(milliseconds)
  return stop()
}

const [warm, own, beside] = [await newApplication(client), await newApplication(client), await newApplication(client)]
await importOf(warm, fileOf(5000, newSerial('W')))

const file = fileOf(count, newSerial('B'))
const alone = await importOf(own, file)
tell(
  `${count} devices (${(file.length / 1e6).toFixed(0)} MB): ${alone.seconds.toFixed(1)} s, of which upload ${alone.uploaded.toFixed(1)} s; created ${alone.created}; peak ${peak} MB`,
)
const again = await importOf(own, file)
tell(`the same again: ${again.seconds.toFixed(1)} s; existing ${again.existing}; peak ${peak} MB`)

for (const format of ['csv', 'ndjson', 'geojson']) {
  peak = resident()
  const beganAt = performance.now()
  const query = new URLSearchParams({ kind: 'devices', format })
  const headers = { authorization: `Bearer ${own.token}`, 'accept-encoding': 'identity' }
  const response = await fetch(`${service.url}${createExport.path}?${query}`, { headers })
  let bytes = 0
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) bytes += piece.byteLength
  tell(
    `export as ${format}: ${((performance.now() - beganAt) / 1000).toFixed(1)} s, ${(bytes / 1e6).toFixed(0)} MB; peak ${peak} MB`,
  )
}

for (const [whose, application] of [
  ['of the same application', own],
  ['of another', beside],
] as const) {
  const rate = await rateFor(application, 5000)
  const stop = createBeside(application)
  const busy = await importOf(own, fileOf(count, newSerial('B')))
  const kept = await stop()
  tell(
    `beside ${creators} creators ${whose}: ${busy.seconds.toFixed(1)} s; creates ${rate}/s alone, ${kept}/s beside it: ${(kept / rate).toFixed(2)}`,
  )
}

if (Number(values.gigabytes) > 0) {
  // Rows without a serial number, which are refused: it is the file that is measured.
  const row = new TextEncoder().encode(`${'x y'.padEnd(40)},${'name '.repeat(30)},,,,360102,,"1,2"\n`.repeat(5000))
  const head = new TextEncoder().encode(`${fileOf(0, '')}\n`)
  const most = Number(values.gigabytes) * 1024 ** 3 - row.byteLength - head.byteLength
  let sent = 0
  const body = new ReadableStream({
    pull(controller) {
      const piece = sent === 0 ? head : row
      if (sent > most) controller.close()
      else controller.enqueue(piece)
      sent += piece.byteLength
    },
  })
  const large = await importOf(warm, body)
  tell(
    `${(large.bytes / 1e9).toFixed(2)} GB, ${large.rows} rows: ${large.seconds.toFixed(0)} s, of which upload ${large.uploaded.toFixed(0)} s; peak ${peak} MB`,
  )
}
clearInterval(watch)
await service.stop()
