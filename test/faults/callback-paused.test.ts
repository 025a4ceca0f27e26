import { afterAll, expect } from 'bun:test'
import { pageDeliveries, replayDeliveries, testDelivery } from '../../src/deliveries/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { getReadiness } from '../../src/service/contract.ts'
import { getOverview } from '../../src/service/overview/contract.ts'
import { Client, deviceBody, newApplication } from '../harness.ts'
import { longTest } from '../long.ts'
import { Receiver } from './receiver.ts'
import { becomesTrue, staysTrue, Workplace } from './support.ts'

const place = new Workplace()
const receiver = await Receiver.start()
afterAll(async () => {
  receiver.stop()
  await place.clear()
}, 120_000)

const always = { timeFrom: '2000-01-01 00:00:00', timeTo: '2999-12-31 23:59:59' }

longTest(
  'a service whose callbacks are paused sends none, says so, and sends afterwards what happened meanwhile',
  async () => {
    const dataDir = place.newFolder()
    const start = async (env: Record<string, string>) => {
      const service = await place.startService({ dataDir, env: { FORECOURT_PRIVATE_CALLBACKS: 'allow', ...env } })
      return { service, client: new Client(service) }
    }
    const sending = await start({})
    const app = await newApplication(sending.client, {
      thirdPartyConfig: { operatorName: 'Operator', callbackUrl: receiver.url('/paused') },
    })
    const { appId, token } = app
    await sending.client.call(createDevice, deviceBody(appId), { token })
    const seen = (await receiver.waitFor('/paused', 2)).length
    expect(seen).toBe(2)
    await sending.service.stop()

    const { service, client } = await start({ FORECOURT_CALLBACKS: 'paused' })
    expect((await client.call(getReadiness, {})).data).toMatchObject({ ready: true, callbacks: 'paused' })
    expect((await client.operate(getOverview, {})).data.callbacks).toBe('paused')
    for (let made = 0; made < 3; made++) await client.call(createDevice, deviceBody(appId), { token })
    const replayed = await client.call(replayDeliveries, always, { token })
    expect(replayed.data).toEqual({ replayed: 2 })
    const tested = await client.call(testDelivery, {}, { token })
    expect([tested.status, tested.code]).toEqual([409, 10042])
    const page = async () => (await client.call(pageDeliveries, {}, { token })).data
    expect(await staysTrue(async () => (await page()).waitingEvents === 3, 3_000)).toBe(true)
    const data = await page()
    expect(data).toMatchObject({ waitingEvents: 3, callbacks: 'paused', heldUntil: null })
    expect(data.list.map(({ status, nextAttemptTime }) => [status, nextAttemptTime])).toEqual([
      [1, null],
      [1, null],
    ])
    expect(receiver.at('/paused')).toHaveLength(seen)
    const headers = { authorization: `Bearer ${service.operatorKey}` }
    expect((await client.send<unknown>('/metrics', { headers })).text).toContain('\nforecourt_callbacks_paused 1\n')
    await service.stop()

    const again = await start({})
    expect((await again.client.call(getReadiness, {})).data.callbacks).toBe('on')
    expect(await becomesTrue(() => receiver.at('/paused').length === seen + 5)).toBe(true)
    const ids = receiver.at('/paused').map(({ id }) => id)
    expect(new Set(ids).size).toBe(5)
    await again.service.stop()
  },
)
