// Keeps devices in sync between a system of yours and Forecourt: with the SDK, on Bun, Node 22.18 or Deno.
//   push FILE             sends the nightly file: what is new is created, what has changed is updated
//   pull COPY [RECEIPTS]  brings a copy up to date by the feed; with the ids of the callbacks that came, names those that did not
// FORECOURT_URL, APP_ID and APP_SECRET say where and who. The guide is docs/guides/en/sync.md.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Device, type Event, Forecourt } from 'forecourt-sdk'

const { FORECOURT_URL: baseUrl = 'http://127.0.0.1:8080', APP_ID: appId = '', APP_SECRET: appSecret = '' } = process.env
const forecourt = new Forecourt({ baseUrl, appId, appSecret })

async function push(file: string): Promise<void> {
  let job = await forecourt.createImport({ appId, kind: 'devices', mode: 'upsert', file: readFileSync(file) })
  for (; job.status <= 2; job = await forecourt.getImport({ appId, id: job.id })) await pause(500)
  const { created, updated, existing, refused } = job
  console.log(`created ${created}, updated ${updated}, existing ${existing}, refused ${refused}`)
  if (job.status !== 3) throw new Error(job.error ?? 'the import was cancelled')
  if (refused === 0) return
  const result = await forecourt.getImportResult({ appId, id: job.id, outcome: 'refused' })
  for await (const { line, code, msg } of result.rows<{ line: number; code: number; msg: string }>()) {
    console.log(`line ${line}: ${code} ${msg}`)
  }
  process.exitCode = 4
}

interface Copy {
  /** The feed's newest event that the copy has. */
  lastEventId: number
  devices: Record<string, Device>
  /** Events whose callback may still be on its way. */
  awaited: Pick<Event, 'id' | 'occurredAt'>[]
}

/** The first copy. The position comes first: what changes while the pages are read is in the feed behind it. */
async function firstCopy(): Promise<Copy> {
  const { list } = await forecourt.pageEvents({ appId, order: 'desc', pageSize: 1 })
  const copy: Copy = { lastEventId: list[0]?.id ?? 0, devices: {}, awaited: [] }
  for await (const device of forecourt.pageDevices.all({ appId })) copy.devices[device.deviceNo] = device
  return copy
}

/** An event carries the record as it is after the change, so applying one twice does no harm. */
function apply({ devices }: Copy, event: Event): void {
  if (event.type === 'device.bound' || event.type === 'device.updated') devices[event.data.deviceNo] = event.data
  if (event.type === 'device.unbound') delete devices[event.data.deviceNo]
  if (event.type === 'device.transferred') {
    const { appId: owner, ...device } = event.data
    if (owner === appId) devices[device.deviceNo] = { ...device, appId }
    else delete devices[device.deviceNo]
  }
  if (event.type === 'device.stateChanged') {
    const { deviceNo, status, onlineStatus, runStatus, statusRemark, version, batteryStatus, batteryEnergy } =
      event.data
    const device = devices[deviceNo]
    if (device === undefined) return
    Object.assign(device, { status, onlineStatus, runStatus, statusRemark, version })
    device.DeviceBatteryOutput = { batteryStatus, batteryEnergy }
  }
}

/** A callback may be on its way for so long. */
const graceMs = Number(process.env.GRACE_SECONDS ?? 300) * 1000

/** Names the events whose callback has not come, once it should have. `receipts` has a line for each webhook-id that came. */
function tellMissed(copy: Copy, receipts: string): void {
  const came = new Set(readFileSync(receipts, 'utf8').split('\n'))
  const isDue = ({ occurredAt }: Copy['awaited'][number]) => Date.now() - Date.parse(occurredAt) > graceMs
  for (const { id } of copy.awaited.filter(isDue)) if (!came.has(`evt_${id}`)) console.log(`missed evt_${id}`)
  copy.awaited = copy.awaited.filter((event) => !isDue(event))
}

async function pull(file: string, receipts?: string): Promise<void> {
  const copy: Copy = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : await firstCopy()
  let events = 0
  for await (const event of forecourt.pageEvents.all({ appId, afterId: copy.lastEventId, type: 'device.*' })) {
    apply(copy, event)
    copy.lastEventId = event.id
    events++
    if (receipts !== undefined) copy.awaited.push({ id: event.id, occurredAt: event.occurredAt })
  }
  if (receipts !== undefined) tellMissed(copy, receipts)
  // Records and position in one file, which is replaced at once: after a crash neither is ahead of the other.
  writeFileSync(`${file}.part`, JSON.stringify(copy))
  renameSync(`${file}.part`, file)
  console.log(`${events} events, ${Object.keys(copy.devices).length} devices`)
  if (receipts === undefined) return
  const { callbackStopTime } = await forecourt.getThirdPartyConfig({ appId })
  if (callbackStopTime !== null) console.log(`callbacks stopped ${callbackStopTime}`)
}

const [verb, file, receipts] = process.argv.slice(2)
if (verb === 'push' && file !== undefined) await push(file)
else if (verb === 'pull' && file !== undefined) await pull(file, receipts)
else throw new Error('say push FILE, or pull COPY [RECEIPTS]')
