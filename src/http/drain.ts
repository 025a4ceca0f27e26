import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { refusals } from '../vocabulary/refusals.ts'
import { forwardedScheme } from './listener.ts'
import { type HttpAnswer, type HttpHandler, type HttpRequest, isStreamed, type Streamed } from './message.ts'

/** A server that stops listening cuts kept-alive connections, so responses first ask clients to close them. */
export const farewellMs = 400
/** For clients to read `connection: close` before their connection is cut. */
const lastWordsMs = 50
const drainMs = 5_500
const givenUpMs = 1_000

const json = { 'content-type': 'application/json' }
const oneYear = 'max-age=31536000'
/** For a browser that opens an API response as a page: it must load nothing, and must not be framed. */
export const nothingLoaded = "default-src 'none'; frame-ancestors 'none'"
const { code, en } = refusals.internalFault
const faultBody = JSON.stringify({ code, msg: en, data: null })

export class Drain {
  private unanswered = 0
  private streaming = 0
  private stopping = false
  private readonly handler: HttpHandler
  private readonly log: Logger
  private readonly giveUp: () => void

  constructor(handler: HttpHandler, log: Logger, giveUp: () => void = () => {}) {
    this.handler = handler
    this.log = log
    this.giveUp = giveUp
  }

  /** Never rejects. */
  answer<Form>(request: HttpRequest, toForm: (answer: HttpAnswer) => Form): Promise<Form> {
    this.unanswered++
    return this.handle(request).then(
      (answer) => this.finish(request, answer, toForm),
      (error: unknown) => this.finish(request, this.fault(error), toForm),
    )
  }

  /** One fixed sentence: the error itself goes to the log. */
  fault(error: unknown): HttpAnswer {
    const requestId = randomUUID()
    this.log.error({ requestId, err: error }, 'internal error')
    return {
      status: 500,
      headers: { ...json, 'cache-control': 'no-store', 'x-request-id': requestId },
      body: faultBody,
    }
  }

  private handle(request: HttpRequest): Promise<HttpAnswer> {
    try {
      return this.handler(request)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  private finish<Form>(request: HttpRequest, answer: HttpAnswer, toForm: (answer: HttpAnswer) => Form): Form {
    this.unanswered--
    try {
      return toForm(this.complete(request, answer))
    } catch (error) {
      return toForm(this.complete(request, this.fault(error)))
    }
  }

  private complete(request: HttpRequest, answer: HttpAnswer): HttpAnswer {
    const { headers } = answer
    if (isStreamed(answer.body)) answer.body = this.counted(request, answer.body)
    headers['x-content-type-options'] = 'nosniff'
    if (headers['content-type'] === 'application/json') headers['content-security-policy'] ??= nothingLoaded
    if (request.header(forwardedScheme) === 'https') headers['strict-transport-security'] = oneYear
    if (this.stopping) headers.connection = 'close'
    return answer
  }

  private async *counted(request: HttpRequest, pieces: Streamed): AsyncGenerator<Uint8Array> {
    this.streaming++
    let isTaken = true
    request.onHangUp(() => {
      isTaken = false
    })
    try {
      yield* pieces
    } catch (error) {
      if (isTaken) this.log.warn({ err: error }, 'streamed response was cut off')
      throw error
    } finally {
      this.streaming--
    }
  }

  /** Resolves when active clients have had a response that closes their connection. */
  async begin(): Promise<void> {
    this.stopping = true
    await new Promise((resolve) => setTimeout(resolve, farewellMs))
  }

  /** Resolves when no request is under way. Late ones are answered with 50003; the listener cuts streams. */
  async end(): Promise<void> {
    const isQuiet = await this.becomesQuiet(drainMs, () => this.unanswered + this.streaming)
    if (isQuiet) return
    this.giveUp()
    await this.becomesQuiet(givenUpMs, () => this.unanswered)
  }

  private async becomesQuiet(withinMs: number, left: () => number): Promise<boolean> {
    const deadline = performance.now() + withinMs
    let quiet = 0
    while (quiet < 3 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, lastWordsMs))
      quiet = left() === 0 ? quiet + 1 : 0
    }
    return quiet === 3
  }
}
