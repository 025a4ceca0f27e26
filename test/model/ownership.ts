import fc from 'fast-check'
import type { Binding } from '../../src/devices/ownership/contract.ts'
import { refusals } from '../../src/vocabulary/refusals.ts'
import { contractRefusals } from '../conformance/refusals.ts'
import type { Client } from '../kit/client.ts'
import { besides, expectWhole, type Moment, refused, settled, succeeded, timed } from './answers.ts'
import { type Condition, condition } from './conditions.ts'
import { serial } from './creates.ts'
import { conditionOnDevice, deviceOf } from './devices.ts'
import {
  type Asking,
  type AskingOfSerial,
  actorOf,
  ask,
  askedOf,
  command,
  logEvent,
  type ModelApplication,
  type ModelDevice,
  meant,
  type Shown,
  serialOf,
  shownDevice,
  type WeightedCommand,
  type World,
} from './world.ts'

const operator = 'operator:operator'

/** Ends a binding, after which the serial number is free. Returns the last record. */
function endBinding(world: World, device: ModelDevice, at: Moment, by: string, reason: string | null): Shown {
  const { app, deviceNo, boundAt } = device
  world.devices.delete(deviceNo)
  world.bindings.push({ app, deviceNo, boundAt, unboundAt: at, unboundBy: by, reason })
  return shownDevice(device)
}

interface Unbind {
  of: AskingOfSerial
  reason: string | null | undefined
  condition: Condition
}

async function unbind(world: World, client: Client, { of, reason, condition }: Unbind): Promise<void> {
  const { asking, deviceNo } = meant(world, of)
  const { headers, isMet } = await conditionOnDevice(world, client, asking, deviceNo, condition)
  const { answer, at } = await timed(() => ask(world, client, asking, 'unbindDevice', { deviceNo, reason }, headers))
  if (asking.how === 'stranger') return expectWhole(answer, refused('notPermitted'))
  const device = deviceOf(world, asking, deviceNo)
  if (device === undefined) return expectWhole(answer, refused('deviceNotFound'))
  if (!isMet) return expectWhole(answer, refused('preconditionFailed'))
  const actor = actorOf(world, asking)
  const data = endBinding(world, device, at, actor, reason || null)
  logEvent(device.app, { type: 'device.unbound', at, actor, subject: deviceNo, data })
  expectWhole(answer, succeeded(data(answer.data)))
}

async function forceUnbind(world: World, client: Client, { serial, reason }: { serial: number; reason: string }) {
  const deviceNo = serialOf(world, serial)
  const { answer, at } = await timed(() => client.operate('forceUnbindDevice', { deviceNo, reason }))
  const device = world.devices.get(deviceNo)
  if (device === undefined) return expectWhole(answer, refused('deviceNotFound'))
  const data = endBinding(world, device, at, operator, reason)
  logEvent(device.app, { type: 'device.unbound', at, actor: operator, subject: deviceNo, data })
  expectWhole(answer, succeeded(data(answer.data)))
}

interface Transfer {
  serial: number
  target: number
  reason: string
}

async function transfer(world: World, client: Client, { serial, target, reason }: Transfer): Promise<void> {
  const deviceNo = serialOf(world, serial)
  const app = askedOf(world, { app: target, how: 'own' })
  const sent = { deviceNo, targetAppId: app.appId, reason }
  const { answer, at } = await timed(() => client.operate('transferDevice', sent))
  const refusal = transferRefusal(world, deviceNo, app)
  if (refusal !== undefined) return expectWhole(answer, refused(refusal))
  expectWhole(answer, succeeded(moveDevice(world, deviceNo, app, at, reason)(answer.data)))
}

function transferRefusal(world: World, deviceNo: string, app: ModelApplication) {
  const device = world.devices.get(deviceNo)
  if (device === undefined) return 'deviceNotFound'
  if (!app.isOnline) return 'applicationOffline'
  return device.app === app ? 'deviceAlreadyYours' : undefined
}

/** Returns the record as its new owner sees it. */
function moveDevice(
  world: World,
  deviceNo: string,
  app: ModelApplication,
  at: Moment,
  reason: string,
  group?: number,
): Shown {
  const device = world.devices.get(deviceNo) as ModelDevice
  const before = endBinding(world, device, at, operator, reason)
  const moved = { ...device, app, boundAt: at }
  world.devices.set(deviceNo, moved)
  const after = shownDevice(moved)
  const event = {
    type: 'device.transferred',
    at,
    actor: operator,
    subject: deviceNo,
    ...(group ? { group } : {}),
  } as const
  // The former owner does not learn the new owner.
  logEvent(device.app, { ...event, data: (told) => ({ ...(before(told) as object), appId: null }) })
  logEvent(app, { ...event, data: after })
  return after
}

interface Batch {
  serials: number[]
  reason: string
}

const notFound = { code: contractRefusals.deviceNotFound.code, msg: refusals.deviceNotFound.en, data: null }
const succeededRow = (record: Shown, told: unknown) => ({ code: 0, msg: 'success', data: record(told) })
const toldOf = (answer: { data: unknown }) =>
  (answer.data as { results?: { data: unknown }[] } | null)?.results?.map(({ data }) => data)

async function unbindMany(world: World, client: Client, { asking, serials, reason }: Batch & { asking: Asking }) {
  const deviceNos = serials.map((serial) => serialOf(world, serial))
  const { answer, at } = await timed(() => ask(world, client, asking, 'unbindDevices', { deviceNos, reason }))
  if (asking.how === 'stranger') return expectWhole(answer, refused('notPermitted'))
  const group = ++world.groups
  const actor = actorOf(world, asking)
  const results = deviceNos.map((deviceNo, index) => {
    const device = deviceOf(world, asking, deviceNo)
    if (device === undefined) return { deviceNo, ...notFound }
    const moment = besides(at)
    const data = endBinding(world, device, moment, actor, reason)
    logEvent(device.app, { type: 'device.unbound', at: moment, actor, subject: deviceNo, data, group })
    return { deviceNo, ...succeededRow(data, toldOf(answer)?.[index]) }
  })
  expectWhole(answer, succeeded({ results }))
}

async function transferMany(world: World, client: Client, { serials, target, reason }: Batch & { target: number }) {
  const deviceNos = serials.map((serial) => serialOf(world, serial))
  const app = askedOf(world, { app: target, how: 'own' })
  const sent = { deviceNos, targetAppId: app.appId, reason }
  const { answer, at } = await timed(() => client.operate('transferDevices', sent))
  const group = ++world.groups
  const results = deviceNos.map((deviceNo, index) => {
    const refusal = transferRefusal(world, deviceNo, app)
    if (refusal !== undefined) {
      return { deviceNo, code: contractRefusals[refusal].code, msg: refusals[refusal].en, data: null }
    }
    const data = moveDevice(world, deviceNo, app, besides(at), reason, group)
    return { deviceNo, ...succeededRow(data, toldOf(answer)?.[index]) }
  })
  expectWhole(answer, succeeded({ results }))
}

/** Reads the owners of a serial number: an operator sees all applications, an application its own bindings only. */
export async function readHistory(world: World, client: Client, asking: Asking | 'anyone', deviceNo: string) {
  const answer =
    asking === 'anyone'
      ? await client.operate('getDeviceHistory', { deviceNo })
      : await ask(world, client, asking, 'getDeviceHistory', { deviceNo })
  if (asking !== 'anyone' && asking.how === 'stranger') return expectWhole(answer, refused('notPermitted'))
  const lasting = world.devices.get(deviceNo)
  const ended = world.bindings.filter((binding) => binding.deviceNo === deviceNo).reverse()
  const bindings = [...(lasting === undefined ? [] : [lasting]), ...ended].filter(
    ({ app }) => asking === 'anyone' || app === askedOf(world, asking),
  )
  if (bindings.length === 0) return expectWhole(answer, refused('deviceNotFound'))
  const told = (answer.data as { list: Binding[] } | null)?.list
  const list = bindings.map((binding, index) => {
    const boundAt = settled(binding.boundAt, told?.[index]?.boundAt)
    const { appId } = binding.app
    if (!('unboundAt' in binding)) return { appId, boundAt, unboundAt: null, unboundBy: null, reason: null }
    const { unboundBy, reason } = binding
    return { appId, boundAt, unboundAt: settled(binding.unboundAt, told?.[index]?.unboundAt), unboundBy, reason }
  })
  expectWhole(answer, succeeded({ list }))
}

export function ownershipCommands(of: fc.Arbitrary<AskingOfSerial>, asking: fc.Arbitrary<Asking>): WeightedCommand[] {
  const serials = fc.array(serial, { minLength: 1, maxLength: 6 })
  const reason = fc.constantFrom('sold', 'court order "7"')
  const anyReason = fc.constantFrom(undefined, null, '', 'moved')
  const target = fc.nat(2)
  return [
    {
      weight: 4,
      arbitrary: fc.record({ of, reason: anyReason, condition }).map((input) => command('unbind', input, unbind)),
    },
    { weight: 1, arbitrary: fc.record({ serial, reason }).map((input) => command('forceUnbind', input, forceUnbind)) },
    {
      weight: 6,
      arbitrary: fc.record({ serial, target, reason }).map((input) => command('transfer', input, transfer)),
    },
    {
      weight: 2,
      arbitrary: fc.record({ asking, serials, reason }).map((input) => command('unbindBatch', input, unbindMany)),
    },
    {
      weight: 2,
      arbitrary: fc.record({ serials, target, reason }).map((input) => command('transferBatch', input, transferMany)),
    },
    {
      weight: 2,
      arbitrary: of.map((input) =>
        command('history', input, (world, client, input) => {
          const { asking, deviceNo } = meant(world, input)
          return readHistory(world, client, asking, deviceNo)
        }),
      ),
    },
    {
      weight: 1,
      arbitrary: serial.map((input) =>
        command('wholeHistory', input, (world, client, serial) =>
          readHistory(world, client, 'anyone', serialOf(world, serial)),
        ),
      ),
    },
  ]
}
