import type { Static, TObject, TSchema } from 'typebox'
import { issueToken } from '../../src/applications/tokens/contract.ts'
import { saveBillingRule, updateBillingRule } from '../../src/billing-rules/contract.ts'
import { createAct, getAct } from '../../src/bulk/acts/contract.ts'
import { createDevice, createDevices, getDevice, pageDevices, updateDevice } from '../../src/devices/contract.ts'
import { unbindDevice } from '../../src/devices/ownership/contract.ts'
import { getPlacement, removePlacement, savePlacement } from '../../src/devices/placement/contract.ts'
import { getDeviceState, reportDeviceState, reportDeviceStates } from '../../src/devices/state/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { getSite, pageSites, saveSite, updateSite } from '../../src/sites/contract.ts'
import { cancelPriceChange, getPriceChange, schedulePriceChange } from '../../src/sites/price-changes/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import type { Client } from '../kit/client.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication } from '../kit/records.ts'
import { distribution } from '../kit/scale.ts'
import { becomesTrue, sleep } from '../kit/waits.ts'

/** What a caller knows about a device that it owns. */
interface Known {
  tag: string
  remark: string | null
  /** The site at which the device stands; null if it stands at none. */
  siteId: number | null
}

const triesMs = 120_000
const periods = (electricityPrice: string) => [{ startTime: '00:00:00', electricityPrice, servicePrice: '0.3' }]
const inAWeek = () => new Date(Date.now() + 7 * 86_400_000).toISOString().replace(/\.\d+/, '')
const rowOf = (deviceNo: string) => {
  const { appId: _, ...row } = deviceBody('', { deviceNo, tag: 'new' })
  return row
}

/**
 * An integrator's program: sends requests of every kind for an application of its own, one after the other, and repeats
 * those that are refused with 50003 as their `Retry-After` says. It knows what must be there afterwards.
 */
export class Caller {
  /** How often each operation succeeded. */
  readonly succeeded = new Map<string, number>()
  /** How many requests were refused with 50003, and then repeated. */
  repeated = 0
  /** All other refusals, which are always wrong, as are requests that were refused for two minutes. */
  readonly wrong: string[] = []
  private readonly tookMs: number[] = []
  private readonly client: Client
  private readonly app: TestApplication
  private readonly devices = new Map<string, Known>()
  private readonly freed: string[] = []
  private readonly sites = new Map<number, string>()
  private readonly cancelled: number[] = []
  private isRunning = true
  private readonly ended: Promise<void>

  private constructor(client: Client, app: TestApplication, pauseMs: number) {
    this.client = client
    this.app = app
    this.ended = this.run(pauseMs)
  }

  /** Starts a caller with a new application. It waits `pauseMs` after each request. */
  static async start(client: Client, pauseMs: number): Promise<Caller> {
    return new Caller(client, await newApplication(client), pauseMs)
  }

  /** Resolves when the requests under way have their responses. */
  async stop(): Promise<void> {
    this.isRunning = false
    await this.ended
  }

  /** How many requests succeeded, how many were repeated, and how long they took with their repeats, as text. */
  get summary(): string {
    const all = [...this.succeeded.values()].reduce((sum, count) => sum + count, 0)
    const rows = `${this.devices.size + this.freed.length} devices, ${this.sites.size} sites, ${this.cancelled.length} price changes`
    return `${all} requests of ${this.succeeded.size} kinds, ${this.repeated} repeated; ${distribution(this.tookMs)}; ${rows}`
  }

  /** Compares all that was acknowledged with what the service answers now. Returns the differences. */
  async differences(): Promise<string[]> {
    const found: string[] = []
    const compare = (what: string, is: unknown, wanted: unknown) => {
      if (is !== wanted) found.push(`${what}: ${is} and not ${wanted}`)
    }
    const ask = <Body extends TObject, Query extends TObject, Data extends TSchema>(
      operation: Operation<Body, Query, Data>,
      input: object,
    ) => this.client.call(operation, input, { token: this.app.token })
    for (const [deviceNo, { tag, remark, siteId }] of this.devices) {
      const device = await ask(getDevice, { deviceNo })
      compare(`tag of ${deviceNo}`, device.data?.tag, tag)
      compare(`remark of ${deviceNo}`, device.data?.statusRemark, remark)
      const placement = await ask(getPlacement, { deviceNo })
      compare(`site of ${deviceNo}`, placement.data?.siteId ?? null, siteId)
    }
    for (const deviceNo of this.freed) {
      const { data } = await ask(pageEvents, { deviceNo, type: 'device.unbound' })
      compare(`unbound events of ${deviceNo}`, data.total, 1)
      compare(`device ${deviceNo}`, (await ask(getDevice, { deviceNo })).code, 20002)
    }
    for (const [id, name] of this.sites) compare(`site ${id}`, (await ask(getSite, { id })).data?.siteName, name)
    for (const id of this.cancelled) compare(`change ${id}`, (await ask(getPriceChange, { id })).data?.status, 3)
    const bound = new Map<string, number>()
    for (let afterId = 0, full = true; full; ) {
      const { list } = (await ask(pageEvents, { type: 'device.bound', afterId, pageSize: 100 })).data
      for (const { data } of list) {
        const { deviceNo } = data as { deviceNo: string }
        bound.set(deviceNo, (bound.get(deviceNo) ?? 0) + 1)
      }
      afterId = list.at(-1)?.id ?? afterId
      full = list.length === 100
    }
    for (const deviceNo of [...this.devices.keys(), ...this.freed]) {
      compare(`bound events of ${deviceNo}`, bound.get(deviceNo), 1)
    }
    compare('devices on pages', (await ask(pageDevices, {})).data.total, this.devices.size)
    return found
  }

  /** Sends a request until it has an outcome. */
  private async ask<Body extends TObject, Query extends TObject, Data extends TSchema>(
    operation: Operation<Body, Query, Data>,
    input: object,
  ): Promise<Static<Data>> {
    const headers: Record<string, string> = operation.idempotent ? { 'idempotency-key': newSerial('KEY') } : {}
    const began = performance.now()
    for (;;) {
      const answer = await this.client.call(operation, input, { token: this.app.token, headers })
      const tookMs = performance.now() - began
      if (answer.code === 0) {
        this.tookMs.push(tookMs)
        this.succeeded.set(operation.id, (this.succeeded.get(operation.id) ?? 0) + 1)
        return answer.data
      }
      if (answer.code !== 50003 || tookMs > triesMs) {
        const told = `${operation.id} after ${Math.round(tookMs)} ms: ${answer.status} ${answer.text}`
        this.wrong.push(told)
        throw new Error(told)
      }
      this.repeated++
      await sleep(Number(answer.headers.get('retry-after')) * 1000)
    }
  }

  private async run(pauseMs: number): Promise<void> {
    const ruleId = (await this.ask(saveBillingRule, { ruleName: 'day', ruleType: 1, periods: periods('0.5') })).id
    for (let round = 0; this.isRunning; round++) {
      for (const step of this.steps(ruleId, round)) {
        // What a caller asks next does not depend on a request that was refused.
        await step().catch(() => {})
        if (!this.isRunning) return
        await sleep(pauseMs)
      }
    }
  }

  /** The requests of one round: every kind, the dear ones in some rounds only. */
  private steps(ruleId: number, round: number): (() => Promise<unknown>)[] {
    const deviceNo = newSerial()
    const [rest = '', gone = ''] = [newSerial(), newSerial()]
    const { appId, appSecret } = this.app
    const siteName = newSerial('site')
    const remark = `in round ${round}`
    let siteId = 0
    return [
      async () => {
        await this.ask(createDevice, deviceBody(appId, { deviceNo, tag: 'new' }))
        this.devices.set(deviceNo, { tag: 'new', remark: null, siteId: null })
      },
      async () => {
        const { results } = await this.ask(createDevices, { devices: [rowOf(rest), rowOf(gone)] })
        if (results.some(({ code }) => code !== 0)) this.wrong.push(`createDevices: ${JSON.stringify(results)}`)
        for (const one of [rest, gone]) this.devices.set(one, { tag: 'new', remark: null, siteId: null })
      },
      async () => {
        siteId = (await this.ask(saveSite, siteBody(appId, { siteName }))).id
        this.sites.set(siteId, siteName)
      },
      async () => {
        await this.ask(updateSite, { id: siteId, siteName: `${siteName}, north` })
        this.sites.set(siteId, `${siteName}, north`)
      },
      async () => {
        await this.ask(savePlacement, { deviceNo, siteId, laneType: 1 })
        this.learn(deviceNo, { siteId })
      },
      async () => {
        await this.ask(reportDeviceState, { deviceNo, statusRemark: remark })
        this.learn(deviceNo, { remark })
      },
      async () => {
        const known = [...this.devices.keys()].slice(-50)
        const reports = known.map((one) => ({ deviceNo: one, statusRemark: remark, runStatus: 1 }))
        const { results } = await this.ask(reportDeviceStates, { reports })
        if (results.some(({ code }) => code !== 0)) this.wrong.push(`reportDeviceStates: ${JSON.stringify(results)}`)
        for (const one of known) this.learn(one, { remark })
      },
      async () => {
        await this.ask(updateDevice, { deviceNo: rest, tag: remark })
        this.learn(rest, { tag: remark })
      },
      async () => {
        await this.ask(unbindDevice, { deviceNo: gone })
        this.devices.delete(gone)
        this.freed.push(gone)
      },
      async () => {
        if (round % 2 === 0) return
        await this.ask(removePlacement, { deviceNo })
        this.learn(deviceNo, { siteId: null })
      },
      () => this.ask(updateBillingRule, { id: ruleId, periods: periods(`0.${(round % 8) + 1}`) }),
      async () => {
        const change = { effectiveTime: inAWeek(), sites: { ids: [siteId] }, rules: { fastChargeBillRuleId: ruleId } }
        const { id } = await this.ask(schedulePriceChange, change)
        await this.ask(cancelPriceChange, { id, reason: 'test' })
        this.cancelled.push(id as number)
      },
      () => this.act(round),
      () => this.ask(getDevice, { deviceNo }),
      () => this.ask(getDeviceState, { deviceNo }),
      () => this.ask(pageDevices, { pageSize: 20 }),
      () => this.ask(pageSites, { siteName }),
      () => this.ask(pageEvents, { order: 'desc', pageSize: 20 }),
      () => this.ask(issueToken, { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }),
    ]
  }

  /** In every tenth round: changes all devices that match. */
  private async act(round: number): Promise<void> {
    if (round % 10 !== 9) return
    const tag = `by act ${round}`
    const matching = [...this.devices].filter(([, known]) => known.tag === 'new').map(([deviceNo]) => deviceNo)
    const { id } = await this.ask(createAct, { kind: 'devices', act: 'update', filter: { tag: 'new' }, set: { tag } })
    let act = await this.ask(getAct, { id })
    await becomesTrue(async () => {
      act = await this.ask(getAct, { id })
      return act.finishTime !== null
    }, triesMs)
    const { status, done, refused } = act
    if (status !== 3 || refused !== 0 || done !== matching.length) this.wrong.push(`createAct: ${JSON.stringify(act)}`)
    for (const deviceNo of matching) this.learn(deviceNo, { tag })
  }

  private learn(deviceNo: string, members: Partial<Known>): void {
    const known = this.devices.get(deviceNo)
    if (known !== undefined) Object.assign(known, members)
  }
}
