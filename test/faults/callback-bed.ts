import { expect } from 'bun:test'
import { getMetrics } from '../../src/service/contract.ts'
import { Client } from '../kit/client.ts'
import { type Answer, type Received, Receiver } from '../kit/receiver.ts'
import { deviceBody, newApplication, type TestApplication } from '../kit/records.ts'
import type { Service } from '../kit/service.ts'
import { becomesTrue } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

export interface Endpoint extends TestApplication {
  path: string
  secret: string
}

export const serialOf = (received: { body: { data: Record<string, unknown> } }) => received.body.data.deviceNo

/**
 * A proxy address at which no process listens. A callback that used a proxy from the environment would skip the check
 * of its address; here it would fail.
 */
const proxies = Object.fromEntries(
  ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) =>
    [name, name.toUpperCase()].map((each) => [each, 'http://127.0.0.1:1']),
  ),
)

let paths = 0

/** A separate service, a receiver of callbacks on this machine, and helpers for tests with both. */
export class CallbackBed {
  readonly place: Workplace
  readonly service: Service
  readonly client: Client
  readonly receiver: Receiver

  private constructor(place: Workplace, service: Service, receiver: Receiver) {
    this.place = place
    this.service = service
    this.client = new Client(service)
    this.receiver = receiver
  }

  static async start(env: Record<string, string> = {}): Promise<CallbackBed> {
    const place = new Workplace()
    const service = await place.startService({ env: { FORECOURT_PRIVATE_CALLBACKS: 'allow', ...proxies, ...env } })
    return new CallbackBed(place, service, await Receiver.start())
  }

  async stop(): Promise<void> {
    this.receiver.stop()
    await this.place.clear()
  }

  /** Creates an application with its own callback URL, and waits until the first event has been received. */
  async newEndpoint(
    answer?: Answer,
    members: Record<string, unknown> = {},
    at: Receiver = this.receiver,
  ): Promise<Endpoint> {
    const app = await newApplication(this.client, { thirdPartyConfig: null })
    const path = `/callback-${++paths}`
    const body = { appId: app.appId, operatorName: 'Operator', callbackUrl: at.url(path), ...members }
    const saved = await this.client.call('saveThirdPartyConfig', body, { token: app.token })
    expect(saved.code, saved.text).toBe(0)
    if (members.callbackEvents === undefined) expect(await at.waitFor(path, 1)).toHaveLength(1)
    at.url(path, answer)
    return { ...app, path, secret: String(saved.data.callbackSecret) }
  }

  async createDeviceOf({ appId, token }: TestApplication): Promise<string> {
    const answer = await this.client.call('createDevice', deviceBody(appId), { token })
    expect(answer.code, answer.text).toBe(0)
    return answer.data.deviceNo
  }

  async createDevicesOf(app: TestApplication, count: number): Promise<string[]> {
    const serials: string[] = []
    for (let made = 0; made < count; made++) serials.push(await this.createDeviceOf(app))
    return serials
  }

  /**
   * Creates one more device, and returns the callbacks that were received before this device's. Callbacks are sent in
   * order, so no earlier event can still be on its way.
   */
  async receivedBeforeNext(app: TestApplication, path: string): Promise<Received[]> {
    const deviceNo = await this.createDeviceOf(app)
    const place = () => this.receiver.at(path).findIndex(({ body }) => body.data?.deviceNo === deviceNo)
    await becomesTrue(() => place() >= 0)
    return this.receiver.at(path).slice(0, place())
  }

  async pageOf({ token }: TestApplication, filter: Record<string, unknown> = {}) {
    const answer = await this.client.call('pageDeliveries', { pageSize: 100, ...filter }, { token })
    expect(answer.code, answer.text).toBe(0)
    return answer.data
  }

  async deliveriesOf(app: TestApplication, filter: Record<string, unknown> = {}) {
    return (await this.pageOf(app, filter)).list
  }

  /** The delivery of the application's newest device, once the delivery has this status. */
  async deliveryOf(app: TestApplication, status: number) {
    const find = async () => (await this.deliveriesOf(app, { type: 'device.bound', status }))[0]
    await becomesTrue(async () => (await find()) !== undefined)
    const newest = await find()
    if (newest === undefined) throw new Error(`there is no delivery of status ${status}`)
    return newest
  }

  /** The metrics, read with the operator key. */
  async metrics(): Promise<string> {
    const headers = { authorization: `Bearer ${this.service.operatorKey}` }
    return (await this.client.send<unknown>(getMetrics.path, { headers })).text
  }
}
