import { createDevice, getDevice } from '../../src/devices/contract.ts'
import { transferDevice, unbindDevice } from '../../src/devices/ownership/contract.ts'
import { randomNumbers, sleep } from '../faults/support.ts'
import { deviceBody, newSerial } from '../harness.ts'
import type { Exchange } from './checker.ts'
import type { Answer, Request } from './model.ts'

export interface Recording {
  /** The addresses of the running processes. */
  addresses: () => string[]
  operatorKey: string
  apps: { appId: string; token: string }[]
  clients: number
  /** How many serial numbers the clients use at a time. */
  serials: number
  /** After about this many exchanges a serial number is replaced by a new one. */
  exchangesOfASerial: number
  seed: number
  /** How long a client waits for a response. */
  patienceMs: number
  /** The longest pause of a client after a missing response. */
  pauseMs: number
}

const operations = { create: createDevice, unbind: unbindDevice, transfer: transferDevice, detail: getDevice }
/** Codes of responses that do not say whether the request took effect. */
const openCodes = [50003, 49999]
const triesWithAKey = 40

/** Clients that use few serial numbers at the same time, and record their requests and responses. */
export class Recorder {
  readonly histories = new Map<string, Exchange[]>()
  answered = 0
  unknown = 0
  replayed = 0
  readonly codes: Record<string, number> = {}
  private readonly recording: Recording
  private readonly current: string[]
  private clock = 0
  private requests = 0
  private running = true
  private readonly all: Promise<unknown>

  constructor(recording: Recording) {
    this.recording = recording
    this.current = Array.from({ length: recording.serials }, () => this.newHistory())
    this.all = Promise.all(Array.from({ length: recording.clients }, (_, index) => this.run(index)))
  }

  /** Resolves when all clients have their last responses. */
  async finish(): Promise<void> {
    this.running = false
    await this.all
  }

  private newHistory(): string {
    const serial = newSerial()
    this.histories.set(serial, [])
    return serial
  }

  private async run(client: number): Promise<void> {
    const random = randomNumbers(this.recording.seed + client)
    const anyOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item
    while (this.running) {
      const slot = Math.floor(random() * this.current.length)
      const serial = this.current[slot] as string
      const request = this.compose(random, anyOf(this.recording.apps).appId)
      await this.settle(client, serial, request, random, anyOf)
      const length = this.histories.get(serial)?.length ?? 0
      if (length > this.recording.exchangesOfASerial && this.current[slot] === serial) {
        this.current[slot] = this.newHistory()
      }
    }
  }

  private compose(random: () => number, app: string): Request {
    const share = random()
    if (share < 0.35) return { action: 'detail', app: random() < 0.5 ? undefined : app }
    const action = share < 0.7 ? 'create' : share < 0.88 ? 'unbind' : 'transfer'
    this.requests++
    return {
      action,
      app,
      ...(action === 'create' && { tag: `t${this.requests}` }),
      ...(random() < 0.7 && { key: `k${this.requests}` }),
    }
  }

  /** Sends a request, and repeats it with its key until there is a response; sometimes once more after a success. */
  private async settle(
    client: number,
    serial: string,
    request: Request,
    random: () => number,
    anyOf: <Item>(items: readonly Item[]) => Item,
  ): Promise<void> {
    for (let tries = 1; tries <= triesWithAKey; tries++) {
      const { answer } = await this.exchange(client, serial, request, anyOf(this.recording.addresses()))
      if (answer === undefined) await sleep(random() * this.recording.pauseMs)
      const isWanted = answer === undefined ? this.running : answer.code === 0 && random() < 0.25
      if (request.key === undefined || !isWanted) return
    }
  }

  private async exchange(client: number, serial: string, request: Request, address: string): Promise<Exchange> {
    const calledAt = ++this.clock
    const history = this.histories.get(serial) as Exchange[]
    const exchange: Exchange = { client, request, calledAt, answer: undefined, answeredAt: Number.POSITIVE_INFINITY }
    history.push(exchange)
    const answer = await this.send(serial, request, address)
    if (answer === undefined || openCodes.includes(answer.code)) {
      this.unknown++
      return exchange
    }
    this.answered++
    if (answer.isReplayed) this.replayed++
    const told = `${request.action} ${answer.code}`
    this.codes[told] = (this.codes[told] ?? 0) + 1
    exchange.answer = answer
    exchange.answeredAt = ++this.clock
    return exchange
  }

  /** Undefined when the connection was lost or the client's time was over. */
  private async send(serial: string, request: Request, address: string): Promise<Answer | undefined> {
    const { method, path } = operations[request.action]
    const { operatorKey, apps, patienceMs } = this.recording
    const isOperators = request.action === 'transfer' || request.app === undefined
    const token = isOperators ? operatorKey : apps.find(({ appId }) => appId === request.app)?.token
    const headers: Record<string, string> = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(request.key !== undefined && { 'idempotency-key': `${request.key}-of-${serial}` }),
    }
    const target = method === 'GET' ? `${path}?deviceNo=${serial}` : path
    const body = method === 'GET' ? null : JSON.stringify(bodyOf(serial, request))
    try {
      const signal = AbortSignal.timeout(patienceMs)
      const response = await fetch(address + target, { method, headers, body, signal })
      const text = await response.text()
      const { code, data } = JSON.parse(text)
      const isReplayed = response.headers.get('idempotency-replayed') === 'true'
      return { code, isReplayed, ...(code === 0 && { app: data.appId, tag: data.tag }) }
    } catch {
      return undefined
    }
  }
}

function bodyOf(deviceNo: string, { action, app, tag }: Request): object {
  if (action === 'create') return deviceBody(String(app), { deviceNo, tag })
  return action === 'transfer' ? { deviceNo, targetAppId: app, reason: 'race' } : { deviceNo }
}
