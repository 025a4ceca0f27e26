import fc from 'fast-check'
import { refusals } from '../../src/vocabulary/refusals.ts'
import { contractRefusals } from '../conformance/refusals.ts'
import type { Client } from '../kit/client.ts'
import { besides, expectWhole, type Moment, refused, settled, succeeded, timed } from './answers.ts'
import { serial } from './creates.ts'
import { deviceOf } from './devices.ts'
import {
  type Asking,
  type AskingOfSerial,
  actorOf,
  ask,
  command,
  type DeviceState,
  logEvent,
  type ModelDevice,
  meant,
  type Shown,
  serialOf,
  shownDevice,
  type WeightedCommand,
  type World,
} from './world.ts'

type Report = { [Member in keyof DeviceState]?: DeviceState[Member] | '' | null }

const report: fc.Arbitrary<Report> = fc.record(
  {
    status: fc.constantFrom(1, 2, null, ''),
    onlineStatus: fc.constantFrom(1, 2, null),
    runStatus: fc.constantFrom(0, 1, 2),
    statusRemark: fc.constantFrom('E17', '', null),
    version: fc.constantFrom('1.0', '1.1', null),
    batteryStatus: fc.constantFrom(0, 2_147_483_647, null),
    batteryEnergy: fc.constantFrom('87.5%', '5', null),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Report>

/**
 * The state after a report: members that always have a value keep it when none is given, the others are cleared. The
 * report makes its device online.
 */
function reported(state: DeviceState, report: Report): DeviceState {
  const given = Object.entries(report).flatMap(([member, value]) => {
    const isGiven = value !== '' && value !== null
    if (!isGiven && ['status', 'onlineStatus', 'runStatus'].includes(member)) return []
    return [[member, isGiven ? value : null]]
  })
  return { ...state, onlineStatus: 1, ...Object.fromEntries(given) }
}

/** How a report's time compares with the last known time of its device; undefined for a report without a time. */
type Age = 'older' | 'same' | 'newer' | undefined
const age: fc.Arbitrary<Age> = fc.constantFrom(undefined, undefined, 'older', 'same', 'newer')

/** The report's own time. The last known time is either exact or lies within a request. */
function timeOf(device: ModelDevice | undefined, age: Age): number | undefined {
  const known = device?.reportedAt ?? { from: Date.now() - 1000, to: Date.now() - 1000 }
  if (age === 'older') return known.from - 5000
  if (age === 'newer') return known.to < Date.now() + 30_000 ? known.to + 5 : undefined
  return age === 'same' && known.from === known.to ? known.from : undefined
}

/** The last known time after a report without a time, which counts as the newest, whatever time other reports had. */
function latest(known: Moment | undefined, at: Moment): Moment {
  if (known === undefined || known.to < at.from) return besides(at)
  return known.from > at.to
    ? known
    : { from: Math.max(known.from, at.from), to: Math.max(known.to, at.to), told: undefined }
}

/** Applies a report to the model, and returns the record. */
function receive(
  world: World,
  device: ModelDevice,
  {
    report,
    time,
    at,
    actor,
    group,
  }: { report: Report; time: number | undefined; at: Moment; actor: string; group?: number },
): Shown {
  if (time !== undefined && device.reportedAt !== undefined && time < device.reportedAt.from) return shownDevice(device)
  const state = reported(device.state, report)
  const reportedAt = time === undefined ? latest(device.reportedAt, at) : { from: time, to: time, told: undefined }
  const after = { ...device, state, reportedAt }
  world.devices.set(device.deviceNo, after)
  const data = shownDevice(after)
  const changed = Object.entries(device.state).filter(([member, value]) => state[member as keyof DeviceState] !== value)
  const change = (told: unknown) => ({
    appId: device.app.appId,
    deviceNo: device.deviceNo,
    ...state,
    lastReportTime: settled(reportedAt, (told as { lastReportTime?: unknown } | null)?.lastReportTime),
    before: Object.fromEntries(changed),
  })
  const event = { type: 'device.stateChanged', at: besides(at), actor, subject: device.deviceNo, data: change } as const
  if (changed.length > 0) logEvent(device.app, { ...event, ...(group ? { group } : {}) })
  return data
}

const sentTime = (time: number | undefined) => (time === undefined ? {} : { reportTime: new Date(time).toISOString() })

interface StateReport {
  of: AskingOfSerial
  report: Report
  age: Age
}

async function reportState(world: World, client: Client, { of, report, age }: StateReport): Promise<void> {
  const { asking, deviceNo } = meant(world, of)
  const time = timeOf(world.devices.get(deviceNo), age)
  const sent = { deviceNo, ...report, ...sentTime(time) }
  const { answer, at } = await timed(() => ask(world, client, asking, 'reportDeviceState', sent))
  if (asking.how === 'stranger') return expectWhole(answer, refused('notPermitted'))
  const device = deviceOf(world, asking, deviceNo)
  if (device === undefined) return expectWhole(answer, refused('deviceNotFound'))
  const data = receive(world, device, { report, time, at, actor: actorOf(world, asking) })
  expectWhole(answer, succeeded(data(answer.data)))
}

interface StateReports {
  asking: Asking
  rows: { serial: number; report: Report; age: Age }[]
}

async function reportStates(world: World, client: Client, { asking, rows }: StateReports): Promise<void> {
  // Times are chosen relative to those known when the batch is sent; rows of one device take effect in order.
  const now = new Set<string>()
  const reports = rows.map(({ serial, report, age }) => {
    const deviceNo = serialOf(world, serial)
    const known = timeOf(world.devices.get(deviceNo), age)
    // A row without a time counts with the request's time. For a later row of its device, only a time well before or
    // after that of the request has a certain result.
    const isNear = known !== undefined && Math.abs(known - Date.now()) < 4000
    const time = now.has(deviceNo) && isNear ? undefined : known
    if (time === undefined) now.add(deviceNo)
    return { deviceNo, report, time }
  })
  const sent = { reports: reports.map(({ deviceNo, report, time }) => ({ deviceNo, ...report, ...sentTime(time) })) }
  const { answer, at } = await timed(() => ask(world, client, asking, 'reportDeviceStates', sent))
  if (asking.how === 'stranger') return expectWhole(answer, refused('notPermitted'))
  const told = (answer.data as { results?: { data: unknown }[] } | null)?.results
  const group = ++world.groups
  const results = reports.map(({ deviceNo, report, time }, index) => {
    const device = deviceOf(world, asking, deviceNo)
    if (device === undefined) {
      return { deviceNo, code: contractRefusals.deviceNotFound.code, msg: refusals.deviceNotFound.en, data: null }
    }
    const record = receive(world, device, { report, time, at, actor: actorOf(world, asking), group })
    return { deviceNo, code: 0, msg: 'success', data: record(told?.[index]?.data) }
  })
  expectWhole(answer, succeeded({ results }))
}

async function readState(world: World, client: Client, of: AskingOfSerial): Promise<void> {
  const { asking, deviceNo } = meant(world, of)
  const answer = await ask(world, client, asking, 'getDeviceState', { deviceNo })
  if (asking.how === 'stranger') return expectWhole(answer, refused('notPermitted'))
  const device = deviceOf(world, asking, deviceNo)
  if (device === undefined) return expectWhole(answer, refused('deviceNotFound'))
  const { app, state, reportedAt } = device
  const told = (answer.data as { lastReportTime?: string } | null)?.lastReportTime
  const lastReportTime = reportedAt === undefined ? null : settled(reportedAt, told)
  expectWhole(answer, succeeded({ appId: app.appId, deviceNo, ...state, lastReportTime }))
}

export function stateCommands(of: fc.Arbitrary<AskingOfSerial>, asking: fc.Arbitrary<Asking>): WeightedCommand[] {
  const rows = fc.array(fc.record({ serial, report, age }), { minLength: 1, maxLength: 8 })
  return [
    { weight: 8, arbitrary: fc.record({ of, report, age }).map((input) => command('state', input, reportState)) },
    { weight: 4, arbitrary: fc.record({ asking, rows }).map((input) => command('stateBatch', input, reportStates)) },
    { weight: 4, arbitrary: of.map((input) => command('getState', input, readState)) },
  ]
}
