// Imports, exports and acts on devices through the API of one service on its embedded database, alone and while others
// create.
//
//   bun bench/bulk.ts [--rows 100000] [--acted 20000] [--gigabytes 1] [--modes create,upsert] [--runtime node] [--workers 2]
//
// With --rows 0, only acts are measured; with --modes upsert, only files that update.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createExport, createImport } from '../src/bulk/contract.ts'
import { Client } from '../test/kit/client.ts'
import { deviceBody, newApplication, newSerial, type TestApplication } from '../test/kit/records.ts'
import { startService } from '../test/kit/service.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '100000' },
    acted: { type: 'string', default: '20000' },
    modes: { type: 'string', default: 'create,upsert' },
    gigabytes: { type: 'string', default: '0' },
    runtime: { type: 'string', default: 'bun' },
    workers: { type: 'string', default: '1' },
  },
})
const count = Number(values.rows)
const modes = (['create', 'upsert'] as const).filter((mode) => values.modes.split(',').includes(mode))
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

/** A file of devices. In every hundredth row `edit` is appended to the name. */
function fileOf(rows: number, prefix: string, edit = ''): string {
  const lines = ['deviceNo,deviceName,tag,provinceCode,cityCode,districtCode,detailAddress,coordinates']
  for (let row = 0; row < rows; row++) {
    lines.push(
      `${prefix}-${row},东门道闸 ${row}${row % 100 === 0 ? edit : ''},lane=${row % 8},360000,360100,360102,"No. ${row}, Yangming Road","115.899918,28.676493"`,
    )
  }
  return lines.join('\n')
}

/** Sends a file and waits for its end. Returns the seconds of the upload, and of the whole import. */
async function importOf({ token }: TestApplication, file: string | ReadableStream, mode = 'create') {
  peak = resident()
  const beganAt = performance.now()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/csv' }
  const response = await fetch(`${service.url}${createImport.path}?kind=devices&mode=${mode}`, {
    method: 'POST',
    headers,
    body: file,
  })
  const { data, ...refused } = (await response.json()) as { data: { id: number } | null }
  if (!response.ok || data === null) throw new Error(JSON.stringify(refused))
  const uploaded = (performance.now() - beganAt) / 1000
  for (;;) {
    const told = (await client.call('getImport', { id: data.id }, { token })).data
    if (told.status > 2) return { uploaded, seconds: (performance.now() - beganAt) / 1000, ...told }
    await Bun.sleep(100)
  }
}

/** Creates devices until it is stopped. Returns how many were created a second. */
function createBeside({ appId, token }: TestApplication) {
  let isOver = false
  let created = 0
  const beganAt = performance.now()
  const running = Array.from({ length: creators }, async () => {
    while (!isOver) {
      const { status } = await client.call('createDevice', deviceBody(appId), { token })
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

/** Measures a file whose rows exist already, and exports. */
async function measureWholeFiles(file: string) {
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
}

async function measureFiles() {
  const prefix = newSerial('B')
  const file = fileOf(count, prefix)
  const alone = await importOf(own, file)
  tell(
    `${count} devices (${(file.length / 1e6).toFixed(0)} MB): ${alone.seconds.toFixed(1)} s, of which upload ${alone.uploaded.toFixed(1)} s; created ${alone.created}; peak ${peak} MB`,
  )
  const synced = await importOf(own, fileOf(count, prefix, ' a'), 'upsert')
  tell(
    `the same with every hundredth changed, mode=upsert: ${synced.seconds.toFixed(1)} s; updated ${synced.updated}, existing ${synced.existing}; peak ${peak} MB`,
  )

  if (modes.includes('create')) await measureWholeFiles(file)

  for (const [whose, application, edit] of [
    ['of the same application', own, ' b'],
    ['of another', beside, ' c'],
  ] as const) {
    for (const mode of modes) {
      const rate = await rateFor(application, 5000)
      const stop = createBeside(application)
      const rows = mode === 'create' ? fileOf(count, newSerial('B')) : fileOf(count, prefix, edit)
      const busy = await importOf(own, rows, mode)
      const kept = await stop()
      tell(
        `mode=${mode} beside ${creators} creators ${whose}: ${busy.seconds.toFixed(1)} s; creates ${rate}/s alone, ${kept}/s beside it: ${(kept / rate).toFixed(2)}`,
      )
    }
  }
}

/**
 * The 95th percentile, in milliseconds, of the response times of another tenant: creates, updates and reads in turn.
 */
async function othersP95({ appId, token }: TestApplication, isOver: () => boolean): Promise<number> {
  const took: number[] = []
  const running = Array.from({ length: 4 }, async () => {
    while (!isOver()) {
      const body = deviceBody(appId)
      for (const send of [
        () => client.call('createDevice', body, { token }),
        () => client.call('updateDevice', { deviceNo: body.deviceNo, tag: newSerial('tag') }, { token }),
        () => client.call('getDevice', { deviceNo: body.deviceNo }, { token }),
      ]) {
        const beganAt = performance.now()
        const { status, text } = await send()
        if (status !== 200) throw new Error(text)
        took.push(performance.now() - beganAt)
      }
      await Bun.sleep(20)
    }
  })
  await Promise.all(running)
  return took.sort((a, b) => a - b)[Math.floor(took.length * 0.95)] ?? 0
}

/** Runs an act as an operator and waits for its end. Returns the seconds. */
async function act(body: object): Promise<number> {
  const beganAt = performance.now()
  const { data, text } = await client.operate('createAct', { kind: 'devices', filter: { all: true }, ...body })
  if (data === null) throw new Error(text)
  for (;;) {
    const told = (await client.operate('getAct', { id: data.id })).data
    if (told.status > 2) {
      if (told.done !== data.rows) throw new Error(JSON.stringify(told))
      return (performance.now() - beganAt) / 1000
    }
    await Bun.sleep(50)
  }
}

async function measureActs(count: number) {
  const from = await newApplication(client)
  const to = await newApplication(client)
  const other = await newApplication(client)
  await importOf(from, fileOf(count, newSerial('A')))
  const reason = 'bench'
  const updated = await act({ appId: from.appId, act: 'update', set: { tag: 'acted' } })
  tell(`update of ${count} devices, alone: ${updated.toFixed(1)} s`)
  const moved = await act({ appId: from.appId, act: 'transfer', targetAppId: to.appId, reason })
  tell(`transfer of ${count} devices, alone: ${moved.toFixed(1)} s`)
  const quietUntil = performance.now() + 10_000
  const quiet = await othersP95(other, () => performance.now() > quietUntil)
  let isOver = false
  const beside = othersP95(other, () => isOver)
  const back = await act({ appId: to.appId, act: 'transfer', targetAppId: from.appId, reason })
  isOver = true
  const busy = await beside
  tell(
    `transfer of ${count} devices beside another tenant: ${back.toFixed(1)} s; its p95 ${quiet.toFixed(1)} ms quiet, ${busy.toFixed(1)} ms beside it: ${(busy / quiet).toFixed(1)} times`,
  )
  const freed = await act({ appId: from.appId, act: 'unbind', reason })
  tell(`unbinding of ${count} devices, alone: ${freed.toFixed(1)} s`)
}

if (count > 0) await measureFiles()
if (Number(values.acted) > 0) await measureActs(Number(values.acted))

if (Number(values.gigabytes) > 0) {
  // Rows without a serial number, which are refused: only the reading of the file is to be measured.
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
