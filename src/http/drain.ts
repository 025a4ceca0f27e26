import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { refusals } from '../vocabulary/refusals.ts'
import { forwardedScheme } from './listener.ts'
import { type HttpAnswer, type HttpHandler, type HttpRequest, isStreamed, type Streamed } from './message.ts'

/**
 * A server that stops listening closes kept-alive connections at once, even while a request arrives on one. So for this
 * long, while the server still listens, the responses ask clients to close their connections.
 */
export const farewellMs = 400
/** After the last answer, clients get this long to read `connection: close` before their connection is cut. */
const lastWordsMs = 50
const drainMs = 5_500
/** How long requests that were given up may take to be answered. */
const givenUpMs = 1_000

const json = { 'content-type': 'application/json' }
const oneYear = 'max-age=31536000'
/** For a browser that opens a response of the API as a page: it must load nothing, and must not be framed. */
export const nothingLoaded = "default-src 'none'; frame-ancestors 'none'"
const { code, en } = refusals.internalFault
const faultBody = JSON.stringify({ code, msg: en, data: null })

/** Counts requests under way, answers errors that a handler throws, and closes connections once the service stops. */
export class Drain {
  /** Requests without an answer. */
  private unanswered = 0
  /** Streamed answers that are being sent. */
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

  /** Answers a request in the runtime's own form. Never rejects. */
  answer<Form>(request: HttpRequest, toForm: (answer: HttpAnswer) => Form): Promise<Form> {
    this.unanswered++
    return this.handle(request).then(
      (answer) => this.finish(request, answer, toForm),
      (error: unknown) => this.finish(request, this.fault(error), toForm),
    )
  }

  /** The answer to an unexpected error: one fixed sentence. The log has the error. */
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
    if (isStreamed(answer.body) && !answer.isLive) answer.body = this.counted(request, answer.body)
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

  /** From now on every answer closes its connection. Resolves when active clients have had such an answer. */
  async begin(): Promise<void> {
    this.stopping = true
    await new Promise((resolve) => setTimeout(resolve, farewellMs))
  }

  /**
   * Resolves when no request has been under way for a moment, or no more can be waited for: then the requests that are
   * left are answered with 50003, and the listener cuts the streamed answers.
   */
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
