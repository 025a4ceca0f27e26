import fc from 'fast-check'
import { refusals } from '../../src/vocabulary/refusals.ts'
import { contractRefusals, type RefusalName } from '../conformance/refusals.ts'
import type { Client } from '../kit/client.ts'
import { besides, expectWhole, refused, succeeded, timed } from './answers.ts'
import { type DeviceBody, register } from './register.ts'
import {
  type Asking,
  actorOf,
  ask,
  askedOf,
  command,
  type Shown,
  serialOf,
  type WeightedCommand,
  type World,
} from './world.ts'

/** The choices for a create. `serial` is the number of one of the world's serial numbers. */
interface NewDevice {
  serial: number
  name: string
  tag: string | null | undefined
  place: number
}

const places = [
  {
    provinceCode: '360000',
    cityCode: '360100',
    districtCode: '360102',
    detailAddress: 'No. 1 Yangming Road',
    coordinates: '115.899918,28.676493',
  },
  { districtCode: '440304', coordinates: '114.05 , 22.54' },
  {
    provinceCode: '440000',
    cityCode: '440300',
    districtCode: '440304',
    detailAddress: '',
    coordinates: '114.05,22.54',
  },
  { provinceCode: '', cityCode: null, districtCode: '999999', coordinates: '-0.5,-90' },
] as const

export const names = ['East gate', 'west GATE', '门 "1"'] as const
export const tags = [undefined, null, '', 'lane=1'] as const

export const serial = fc.nat(4)
const newDevice: fc.Arbitrary<NewDevice> = fc.record({
  serial,
  name: fc.constantFrom(...names),
  tag: fc.constantFrom(...tags),
  place: fc.nat(places.length - 1),
})
export const key = fc.option(fc.constantFrom('key-1', 'key-2', 'key-3'), { nil: undefined })

function bodyOf(world: World, { serial, name, tag, place }: NewDevice): DeviceBody {
  const tagged = tag === undefined ? {} : { tag }
  return { deviceNo: serialOf(world, serial), deviceName: name, ...tagged, ...(places[place] as (typeof places)[0]) }
}

const keyHeader = (name: string | undefined): Record<string, string> =>
  name === undefined ? {} : { 'idempotency-key': name }

async function create(world: World, client: Client, asking: Asking, body: DeviceBody, name: string | undefined) {
  // The document requires the appId even if an application means itself.
  const always = asking.how === 'own' ? { ...asking, how: 'named' as const } : asking
  const app = askedOf(world, asking)
  const { answer, at } = await timed(() => ask(world, client, always, 'createDevice', { ...body }, keyHeader(name)))
  if (asking.how === 'stranger') return expectWhole(answer, refused('notPermitted'))
  const kept = name === undefined ? undefined : { name: `one ${name}`, body: JSON.stringify(body) }
  const outcome = register(world, { app, body, actor: actorOf(world, asking), at, key: kept })
  if ('refusal' in outcome) expectWhole(answer, refused(outcome.refusal))
  else expectWhole(answer, succeeded(outcome.record(answer.data)))
}

/** A row of a batch: a device, or a row that is invalid. */
type Row = NewDevice | 'no device' | { serial: number; isNameless: true }

const faulty = (deviceNo: string | null, field: string, reason: string) => {
  const { code } = contractRefusals.invalidRequest
  return { deviceNo, code, msg: refusals.invalidRequest.en, data: { errors: [{ field, reason }] } }
}
const refusedRow = (deviceNo: string, name: RefusalName) => {
  const { code } = contractRefusals[name]
  return { deviceNo, code, msg: refusals[name].en, data: null }
}

function rowOf(world: World, row: Row): unknown {
  if (row === 'no device') return row
  if (!('isNameless' in row)) return bodyOf(world, row)
  return { deviceNo: serialOf(world, row.serial), districtCode: '360102', coordinates: '0,0' }
}

async function createMany(world: World, client: Client, asking: Asking, rows: unknown[], name: string | undefined) {
  const app = askedOf(world, asking)
  const sent = { devices: rows }
  const { answer, at } = await timed(() => ask(world, client, asking, 'createDevices', sent, keyHeader(name)))
  if (asking.how === 'stranger') return expectWhole(answer, refused('notPermitted'))
  // The key belongs to the body's exact bytes, and these differ when the application is named.
  const body = `${asking.how === 'own'} ${JSON.stringify(rows)}`
  const kept = name === undefined ? undefined : app.kept.get(`batch ${name}`)
  if (kept !== undefined) {
    const isSame = kept.body === body
    return expectWhole(answer, isSame ? succeeded(kept.record(answer.data)) : refused('idempotencyKeyReused'))
  }
  const group = ++world.groups
  const told = (answer.data as { results?: { data: unknown }[] } | null)?.results
  const results = rows.map((row, index) => {
    if (typeof row === 'string') return faulty(null, 'device', 'must be a JSON object')
    const device = row as DeviceBody
    if (device.deviceName === undefined) return faulty(device.deviceNo, 'deviceName', 'is required')
    const actor = actorOf(world, asking)
    const outcome = register(world, { app, body: device, actor, at: besides(at), key: undefined, group })
    if ('refusal' in outcome) return refusedRow(device.deviceNo, outcome.refusal)
    const record = (outcome.record as Shown)(told?.[index]?.data)
    return { deviceNo: device.deviceNo, code: 0, msg: 'success', data: record }
  })
  expectWhole(answer, succeeded({ results }))
  // The first response is returned again, including refused rows.
  if (name !== undefined) app.kept.set(`batch ${name}`, { body, record: () => answer.data })
}

export function createCommands(asking: fc.Arbitrary<Asking>): WeightedCommand[] {
  const row: fc.Arbitrary<Row> = fc.oneof(
    { weight: 8, arbitrary: newDevice },
    { weight: 1, arbitrary: fc.constant('no device' as const) },
    { weight: 1, arbitrary: serial.map((serial) => ({ serial, isNameless: true as const })) },
  )
  return [
    {
      weight: 12,
      arbitrary: fc.record({ asking, device: newDevice, key }).map((input) =>
        command('create', input, async (world, client, { asking, device, key }) => {
          const body = bodyOf(world, device)
          const send = (again: Client) => create(world, again, asking, body, key)
          if (key !== undefined) world.attempts.push({ send })
          await send(client)
        }),
      ),
    },
    {
      weight: 6,
      arbitrary: fc.record({ asking, rows: fc.array(row, { minLength: 1, maxLength: 8 }), key }).map((input) =>
        command('createBatch', input, async (world, client, { asking, rows, key }) => {
          const bodies = rows.map((row) => rowOf(world, row))
          const send = (again: Client) => createMany(world, again, asking, bodies, key)
          if (key !== undefined) world.attempts.push({ send })
          await send(client)
        }),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.record({ back: fc.nat(5) }).map((input) =>
        command('retry', input, async (world, client, { back }) => {
          await world.attempts.at(-1 - back)?.send(client)
        }),
      ),
    },
  ]
}
