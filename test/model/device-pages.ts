import { expect } from 'bun:test'
import fc from 'fast-check'
import type { DeviceRecord } from '../../src/devices/contract.ts'
import type { Client } from '../kit/client.ts'
import { expectWhole, refused } from './answers.ts'
import { expectWalk, pageWalk, type Walk } from './pages.ts'
import {
  type Asking,
  ask,
  askedOf,
  command,
  type ModelDevice,
  shownDevice,
  type WeightedCommand,
  type World,
} from './world.ts'

/** Reads all pages of an application's devices and expects the newest first, as far as a client can know the order. */
export async function readPages(world: World, client: Client, asking: Asking, walk: Walk): Promise<void> {
  const send = (page: object) => ask(world, client, asking, 'pageDevices', { ...page })
  if (asking.how === 'stranger') return expectWhole(await send({}), refused('notPermitted'))
  const app = askedOf(world, asking)
  const own = [...world.devices.values()].filter((device) => device.app === app)
  const walked: ModelDevice[] = []
  await expectWalk(
    walk,
    send,
    (told, from) => {
      const size = Math.min(walk.pageSize, own.length - from)
      return Array.from({ length: size }, (_, at) => {
        const record = told[at] as DeviceRecord | undefined
        const device = own.find(({ deviceNo }) => deviceNo === record?.deviceNo)
        if (device === undefined || walked.includes(device)) return 'a device that was not told yet'
        walked.push(device)
        return shownDevice(device)(record)
      })
    },
    own.length,
  )
  for (const [at, device] of walked.entries()) {
    const before = walked[at - 1]
    if (before === undefined) continue
    // Devices of the same millisecond are sorted by serial number, the last one first.
    const isNewer = before.boundAt.to >= device.boundAt.from
    expect(`${before.deviceNo} before ${device.deviceNo}: ${isNewer}`).toEndWith('true')
  }
}

export function devicePageCommands(asking: fc.Arbitrary<Asking>): WeightedCommand[] {
  return [
    {
      weight: 3,
      arbitrary: fc
        .record({ asking, walk: pageWalk })
        .map((input) =>
          command('page', input, (world, client, { asking, walk }) => readPages(world, client, asking, walk)),
        ),
    },
  ]
}
