import type { TObject, TSchema } from 'typebox'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { randomNumbers } from '../kit/scale.ts'
import { sleep } from '../kit/waits.ts'
import type { Asked, Exchange, Told } from './checker.ts'

/** What clients ask about objects of one kind, and how. */
export interface Subject<Request extends Asked, Answer extends Told> {
  /** The name of an object that nobody has used yet; undefined when there is none left. */
  begin(): string | undefined
  /** Undefined where the choice is not possible now. `count` is another number each time. */
  compose(random: () => number, object: string, count: number): Request | undefined
  wire(
    object: string,
    request: Request,
  ): { operation: Operation<TObject, TObject, TSchema>; input: object; token: string }
  /** What a success shows; `data` is the record that the request's operation answers with. */
  shown(request: Request, data: unknown): Omit<Answer, 'code' | 'isReplayed'>
}

export interface Recording {
  /** The addresses of the running processes. */
  addresses: () => string[]
  clients: number
  /** How many objects the clients use at a time. */
  objects: number
  /** After about this many exchanges an object is replaced by a new one. */
  exchangesOfAnObject: number
  seed: number
  /** How long a client waits for a response. */
  patienceMs: number
  /** The longest pause of a client after a missing response. */
  pauseMs: number
  /** The longest pause between two requests of a client. */
  breatheMs?: number
}

/** Codes of responses that do not say whether the request took effect. */
const openCodes = [50003, 49999, 10007]
const triesWithAKey = 40

/** Clients that use few objects at the same time, and record their requests and responses. */
export class Recorder<Request extends Asked, Answer extends Told> {
  readonly histories = new Map<string, Exchange<Request, Answer>[]>()
  answered = 0
  unknown = 0
  replayed = 0
  readonly codes: Record<string, number> = {}
  private readonly subject: Subject<Request, Answer>
  private readonly recording: Recording
  private readonly current: string[]
  private clock = 0
  private requests = 0
  private running = true
  private readonly all: Promise<unknown>

  constructor(subject: Subject<Request, Answer>, recording: Recording) {
    this.subject = subject
    this.recording = recording
    this.current = Array.from({ length: recording.objects }, () => this.newHistory() as string)
    this.all = Promise.all(Array.from({ length: recording.clients }, (_, index) => this.run(index)))
  }

  /** Resolves when all clients have their last responses. */
  async finish(): Promise<void> {
    this.running = false
    await this.all
  }

  private newHistory(): string | undefined {
    const object = this.subject.begin()
    if (object !== undefined) this.histories.set(object, [])
    return object
  }

  /** The machine's clock, in which no two moments are the same. */
  private now(): number {
    this.clock = Math.max(this.clock + 0.0001, Date.now())
    return this.clock
  }

  private async run(client: number): Promise<void> {
    const { seed, exchangesOfAnObject, breatheMs = 0 } = this.recording
    const random = randomNumbers(seed + client)
    while (this.running) {
      const slot = Math.floor(random() * this.current.length)
      const object = this.current[slot] as string
      const request = this.subject.compose(random, object, ++this.requests)
      if (request !== undefined) await this.settle(client, object, request, random)
      const length = this.histories.get(object)?.length ?? 0
      if (length > exchangesOfAnObject && this.current[slot] === object) {
        this.current[slot] = this.newHistory() ?? object
      }
      if (breatheMs > 0) await sleep(random() * breatheMs)
    }
  }

  /** Sends a request, and repeats it with its key until there is a response; sometimes once more after a success. */
  private async settle(client: number, object: string, request: Request, random: () => number): Promise<void> {
    for (let tries = 1; tries <= triesWithAKey; tries++) {
      const addresses = this.recording.addresses()
      const address = addresses[Math.floor(random() * addresses.length)] as string
      const { answer } = await this.exchange(client, object, request, address)
      if (answer === undefined) await sleep(random() * this.recording.pauseMs)
      const isWanted = answer === undefined ? this.running : answer.code === 0 && random() < 0.25
      if (request.key === undefined || !isWanted) return
    }
  }

  private async exchange(client: number, object: string, request: Request, address: string) {
    const exchange: Exchange<Request, Answer> = {
      client,
      request,
      calledAt: this.now(),
      answer: undefined,
      answeredAt: Number.POSITIVE_INFINITY,
    }
    this.histories.get(object)?.push(exchange)
    const answer = await this.send(object, request, address)
    if (answer === undefined || openCodes.includes(answer.code)) {
      this.unknown++
      return exchange
    }
    this.answered++
    if (answer.isReplayed) this.replayed++
    const told = `${request.action} ${answer.code}`
    this.codes[told] = (this.codes[told] ?? 0) + 1
    exchange.answer = answer
    exchange.answeredAt = this.now()
    return exchange
  }

  /** Undefined when the connection was lost or the client's time was over. */
  async send(object: string, request: Request, address: string): Promise<Answer | undefined> {
    const { operation, input, token } = this.subject.wire(object, request)
    const { method, path } = operation
    const headers: Record<string, string> = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(request.key !== undefined && { 'idempotency-key': `${request.key}-of-${object}` }),
    }
    const isGet = method === 'GET'
    const target = isGet ? `${path}?${new URLSearchParams(input as Record<string, string>)}` : path
    const body = isGet ? null : JSON.stringify(input)
    try {
      const signal = AbortSignal.timeout(this.recording.patienceMs)
      const response = await fetch(address + target, { method, headers, body, signal })
      const { code, data } = (await response.json()) as { code: number; data: object }
      const isReplayed = response.headers.get('idempotency-replayed') === 'true'
      return { code, isReplayed, ...(code === 0 && this.subject.shown(request, data)) } as Answer
    } catch {
      return undefined
    }
  }
}
