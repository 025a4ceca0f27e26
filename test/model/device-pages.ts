import { expect } from 'bun:test'
import fc from 'fast-check'
import { type DeviceRecord, pageDevices } from '../../src/devices/contract.ts'
import type { Client } from '../kit/client.ts'
import { expectWhole, refused } from './answers.ts'
import { serial } from './creates.ts'
import { expectWalk, pageWalk, type Walk } from './pages.ts'
import {
  type Asking,
  ask,
  askedOf,
  command,
  type ModelDevice,
  serialOf,
  shownDevice,
  type WeightedCommand,
  type World,
} from './world.ts'

interface Filter {
  status?: 1 | 2
  onlineStatus?: 1 | 2
  runStatus?: 0 | 1 | 2
  /** A part of the name, in upper or lower case other than its own. */
  deviceName?: string
  provinceCode?: string
  districtCode?: string
  serial?: number
  bbox?: 'shenzhen' | 'world'
  /** Serial numbers whose times of binding are the bounds, if these are known. */
  from?: number
  to?: number
}

const boxes = { shenzhen: '113,22,115,23', world: '-180,-90,180,90' }

/** The filter's members whose values depend on the world. */
interface Bounds {
  deviceNo: string | undefined
  timeFrom: string | undefined
  timeTo: string | undefined
}

function boundsOf(world: World, { serial, from, to }: Filter): Bounds {
  const momentOf = (serial: number | undefined) =>
    serial === undefined ? undefined : world.devices.get(serialOf(world, serial))?.boundAt.told
  // Long enough that no two serial numbers of the world begin with it.
  const deviceNo = serial === undefined ? undefined : serialOf(world, serial).slice(0, 12)
  return { deviceNo, timeFrom: momentOf(from), timeTo: momentOf(to) }
}

function fits({ members, state, deviceNo, boundAt }: ModelDevice, filter: Filter, bounds: Bounds): boolean {
  const { status, onlineStatus, runStatus, deviceName, provinceCode, districtCode, bbox } = filter
  const shown = boundAt.told as string
  return (
    (status ?? state.status) === state.status &&
    (onlineStatus ?? state.onlineStatus) === state.onlineStatus &&
    (runStatus ?? state.runStatus) === state.runStatus &&
    members.deviceName.toLowerCase().includes((deviceName ?? '').toLowerCase()) &&
    (provinceCode ?? members.provinceCode) === members.provinceCode &&
    (districtCode ?? members.districtCode) === members.districtCode &&
    deviceNo.toLowerCase().includes((bounds.deviceNo ?? '').toLowerCase()) &&
    (bounds.timeFrom ?? shown) <= shown &&
    shown <= (bounds.timeTo ?? shown) &&
    (bbox !== 'shenzhen' || members.coordinates.startsWith('114.05'))
  )
}

/** Reads all pages of an application's devices and expects the newest first, as far as a client can know the order. */
export async function readPages(
  world: World,
  client: Client,
  asking: Asking,
  walk: Walk,
  filter: Filter,
): Promise<void> {
  const { serial, from, to, bbox, ...query } = filter
  const bounds = boundsOf(world, filter)
  const all = { ...query, ...bounds, bbox: bbox && boxes[bbox] }
  const send = (page: object) => ask(world, client, asking, pageDevices, { ...all, ...page })
  if (asking.how === 'stranger') return expectWhole(await send({}), refused('notPermitted'))
  const app = askedOf(world, asking)
  const fitting = [...world.devices.values()].filter((device) => device.app === app && fits(device, filter, bounds))
  const walked: ModelDevice[] = []
  await expectWalk(
    walk,
    send,
    (told, from) => {
      const size = Math.min(walk.pageSize, fitting.length - from)
      return Array.from({ length: size }, (_, at) => {
        const record = told[at] as DeviceRecord | undefined
        const device = fitting.find(({ deviceNo }) => deviceNo === record?.deviceNo)
        if (device === undefined || walked.includes(device)) return 'a device that fits and was not told yet'
        walked.push(device)
        return shownDevice(device)(record)
      })
    },
    fitting.length,
  )
  for (const [at, device] of walked.entries()) {
    const before = walked[at - 1]
    if (before === undefined) continue
    // Devices of the same millisecond are sorted by serial number, the last one first.
    const isNewer = before.boundAt.to >= device.boundAt.from
    expect(`${before.deviceNo} before ${device.deviceNo}: ${isNewer}`).toEndWith('true')
  }
}

const filter: fc.Arbitrary<Filter> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.record(
      {
        status: fc.constantFrom(1 as const, 2 as const),
        onlineStatus: fc.constantFrom(1 as const, 2 as const),
        runStatus: fc.constantFrom(0 as const, 1 as const, 2 as const),
        deviceName: fc.constantFrom('GATE', 'east', '门'),
        provinceCode: fc.constantFrom('360000', '440000'),
        districtCode: fc.constantFrom('440304', '999999'),
        serial,
        bbox: fc.constantFrom('shenzhen' as const, 'world' as const),
        from: serial,
        to: serial,
      },
      { requiredKeys: [] },
    ),
  },
)

export function devicePageCommands(asking: fc.Arbitrary<Asking>): WeightedCommand[] {
  return [
    {
      weight: 3,
      arbitrary: fc
        .record({ asking, walk: pageWalk, filter })
        .map((input) =>
          command('page', input, (world, client, { asking, walk, filter }) =>
            readPages(world, client, asking, walk, filter),
          ),
        ),
    },
  ]
}
