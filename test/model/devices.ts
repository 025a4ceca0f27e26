import fc from 'fast-check'
import type { Client } from '../kit/client.ts'
import { expectWhole, refused, succeeded, timed } from './answers.ts'
import { type Condition, condition, conditionOn } from './conditions.ts'
import { names, tags } from './creates.ts'
import {
  type Asking,
  type AskingOfSerial,
  actorOf,
  ask,
  askedOf,
  command,
  type DeviceMembers,
  expectTag,
  logEvent,
  type ModelDevice,
  meant,
  shownDevice,
  type WeightedCommand,
  type World,
} from './world.ts'

/** The device, if it belongs to the application that the request is about. */
export function deviceOf(world: World, asking: Asking, deviceNo: string): ModelDevice | undefined {
  const device = world.devices.get(deviceNo)
  return device?.app === askedOf(world, asking) ? device : undefined
}

function expectDeviceTag({ app, deviceNo, members, boundAt }: ModelDevice, etag: string | null): string {
  return expectTag(app, { subject: deviceNo, content: JSON.stringify(members), since: boundAt }, etag)
}

/** Reads a device. Returns its entity tag if the device exists. */
async function readDevice(world: World, client: Client, asking: Asking, deviceNo: string): Promise<string | undefined> {
  const answer = await ask(world, client, asking, 'getDevice', { deviceNo })
  const device = deviceOf(world, asking, deviceNo)
  if (asking.how === 'stranger') expectWhole(answer, refused('notPermitted'))
  else if (device === undefined) expectWhole(answer, refused('deviceNotFound'))
  else {
    expectWhole(answer, succeeded(shownDevice(device)(answer.data)))
    return expectDeviceTag(device, answer.headers.get('etag'))
  }
  return undefined
}

/** The header of a condition on a device, and whether the device meets the condition. */
export function conditionOnDevice(
  world: World,
  client: Client,
  asking: Asking,
  deviceNo: string,
  condition: Condition,
): Promise<{ headers: Record<string, string>; isMet: boolean }> {
  const read = () => readDevice(world, client, { ...asking, how: 'named' }, deviceNo)
  return conditionOn(askedOf(world, asking), deviceNo, condition, read)
}

type Change = { [Member in keyof DeviceMembers]?: string | null }

const change: fc.Arbitrary<Change> = fc.record(
  {
    deviceName: fc.constantFrom(...names),
    tag: fc.constantFrom(...tags.slice(1), 'lane=2') as fc.Arbitrary<string | null>,
    provinceCode: fc.constantFrom('440000', '360000', '', null),
    cityCode: fc.constantFrom('440300', '360100', null),
    districtCode: fc.constantFrom('360102', '440304'),
    detailAddress: fc.constantFrom('No. 2', '', null),
    coordinates: fc.constantFrom('114.05,22.54', '0,0'),
  },
  { requiredKeys: [] },
)

/** The members after a change; a member that is given as null or empty is cleared or gets its default. */
function changed(members: DeviceMembers, change: Change): DeviceMembers {
  const cleared = { tag: null, detailAddress: null, provinceCode: '360000', cityCode: '360100' }
  const given = Object.entries(change).map(([member, value]) => [
    member,
    value || cleared[member as keyof typeof cleared],
  ])
  return { ...members, ...Object.fromEntries(given) }
}

interface Update {
  of: AskingOfSerial
  change: Change
  condition: Condition
}

async function update(world: World, client: Client, { of, change, condition }: Update): Promise<void> {
  const { asking, deviceNo } = meant(world, of)
  const { headers, isMet } = await conditionOnDevice(world, client, asking, deviceNo, condition)
  const sent = { deviceNo, ...change }
  const { answer, at } = await timed(() => ask(world, client, asking, 'updateDevice', sent, headers))
  if (asking.how === 'stranger') return expectWhole(answer, refused('notPermitted'))
  const device = deviceOf(world, asking, deviceNo)
  if (device === undefined) return expectWhole(answer, refused('deviceNotFound'))
  if (!isMet) return expectWhole(answer, refused('preconditionFailed'))
  const members = changed(device.members, change)
  const isChange = JSON.stringify(members) !== JSON.stringify(device.members)
  const after = { ...device, members }
  world.devices.set(deviceNo, after)
  const data = shownDevice(after)
  expectWhole(answer, succeeded(data(answer.data)))
  expectDeviceTag(after, answer.headers.get('etag'))
  if (!isChange) return
  logEvent(device.app, { type: 'device.updated', at, actor: actorOf(world, asking), subject: deviceNo, data })
}

export function deviceCommands(of: fc.Arbitrary<AskingOfSerial>): WeightedCommand[] {
  return [
    { weight: 6, arbitrary: fc.record({ of, change, condition }).map((input) => command('update', input, update)) },
    {
      weight: 3,
      arbitrary: of.map((input) =>
        command('detail', input, async (world, client, input) => {
          const { asking, deviceNo } = meant(world, input)
          await readDevice(world, client, asking, deviceNo)
        }),
      ),
    },
  ]
}
