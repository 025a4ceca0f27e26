import { afterAll, expect } from 'bun:test'
import { createDevices } from '../../src/devices/contract.ts'
import { importDeviceInventory } from '../../src/devices/inventory/contract.ts'
import { saveDeviceModel } from '../../src/devices/models/contract.ts'
import { Client, deviceBody, newApplication } from '../harness.ts'
import { longTest } from '../long.ts'
import { heldAtMostMs, heldMs, watchedEnvironment } from './held-loop.ts'
import { atScale, tell, Workplace } from './support.ts'

const place = new Workplace()
afterAll(() => place.clear(), 60_000)

const runtime = process.env.FORECOURT_TEST_RUNTIME === 'node' ? 'node' : 'bun'

const entries = (prefix: string) =>
  Array.from({ length: 20_000 }, (_, index) => ({
    deviceNo: `${prefix}${String(index).padStart(8, '0')}`,
    modelName: 'Barrier',
    remark: 'x'.repeat(300),
  }))

longTest(
  'fifteen bodies of 7 MB at once never hold the event loop for long',
  async () => {
    const env = watchedEnvironment(place.home, runtime)
    const service = await place.startService({ env })
    const client = new Client(service)
    const { appId, token } = await newApplication(client)
    const model = { serialPrefix: 'L', modelName: 'Barrier', deviceType: 'barrier', deviceTypeName: 'Barrier' }
    expect((await client.operate(saveDeviceModel, model)).text).toContain('"code":0')

    const bodies = Array.from({ length: 15 }, (_, at) => JSON.stringify({ entries: entries(`L${at}-`) }))
    expect(bodies[0]?.length).toBeGreaterThan(7_000_000)
    const faulty = JSON.stringify({ entries: entries('L f').map((entry) => ({ ...entry, modelName: '' })) })
    const devices = Array.from({ length: 1000 }, () => ({ ...deviceBody(appId), detailAddress: '路'.repeat(100) }))
    const batch = JSON.stringify({ appId, devices: devices.map((row) => ({ ...row, more: 'x'.repeat(3000) })) })
    const import15 = () => Promise.all(bodies.map((body) => client.operate(importDeviceInventory, body)))
    // This text is not JSON and is refused early, so only the time that the runtime needs to receive bodies is
    // measured.
    const noJson = 'x'.repeat(7_600_000)
    const receive15 = () => Promise.all(bodies.map(() => client.operate(importDeviceInventory, noJson)))
    const again = atScale(4, 15)
    const works: [what: string, work: () => Promise<{ status: number }[]>, status: number][] = [
      ['fifteen to receive', receive15, 400],
      ['fifteen to receive again', receive15, 400],
      ['one import', async () => [await client.operate(importDeviceInventory, bodies[0])], 200],
      ['fifteen imports', import15, 200],
      [
        `${again} of them again`,
        () => Promise.all(bodies.slice(0, again).map((body) => client.operate(importDeviceInventory, body))),
        200,
      ],
      ['a faulty import', async () => [await client.operate(importDeviceInventory, faulty)], 400],
      ['a batch of 1,000 devices', async () => [await client.call(createDevices, batch, { token })], 200],
    ]
    // Once to warm up: a runtime compiles what runs often.
    for (const at of [0, 2]) await works[at]?.[1]()
    let toReceive = 0
    for (const [what, work, status] of works) {
      await heldMs(service)
      const statuses = new Set((await work()).map((answer) => answer.status))
      const held = await heldMs(service)
      tell(`${what}: the event loop was held ${held.toFixed(1)} ms at most`)
      // On a slow machine, receiving or handling fifteen bodies may exceed the request timeout.
      expect(
        [...statuses].filter((each) => ![status, 408, 503].includes(each)),
        what,
      ).toEqual([])
      if (work === receive15) toReceive = Math.max(toReceive, held)
      else expect(held - toReceive, what).toBeLessThan(heldAtMostMs)
    }
    expect(await service.stop()).toBe(0)
  },
  300_000,
)
