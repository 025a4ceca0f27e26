import { readAddress } from './address.ts'
import {
  type CreateImportQuery,
  codeNames,
  type Import,
  ImportStatus,
  type Methods,
  operations,
  sdkVersion,
} from './api.ts'
import { ForecourtError } from './error.ts'
import { type Answered, exchange, type Target } from './exchange.ts'
import type { FileAnswer } from './file.ts'
import { FollowedStream } from './followed-stream.ts'
import type { CallOptions, SendOptions, SentFile } from './method.ts'

interface Address extends SendOptions {
  /** The address of the service, such as https://forecourt.example.com. */
  baseUrl: string
  /** The language of messages: zh or en; default en. */
  language?: string
  /** Allows http:// to another machine: secrets and tokens then travel in plain text. */
  allowHttp?: boolean
}

/** Authenticates an application by its secret, an operator by a key, or any caller by a token. */
export type ForecourtOptions = Address &
  ({ appId: string; appSecret: string } | { operatorKey: string } | { token: string })

/** A file of rows and how to import it. */
export type ImportedFile = CreateImportQuery & SentFile

interface Call extends Target {
  id: string
  isIdempotent?: true
  isOpen?: true
  isPage?: true
}

const defaultRetries = 4
const firstPauseMs = 250
/** A request without a response after this time is aborted, and counts as unanswered. */
const defaultTimeoutMs = 60_000
/** The longest wait that a `Retry-After` may ask for; for a longer one the call fails at once. */
const longestPauseMs = 60_000
/** Timers of a longer time fire at once. */
const longestTimerMs = 2 ** 31 - 1
/** How soon `importFile` asks for the progress, at first and later. */
const lookMs = { first: 100, longest: 2_000 }
/** The last part of a token's lifetime in which it is not used: a request has to arrive before the token expires. */
const spareOfToken = 0.1

/** Makes the calls: adds the token, and retries where that can help. */
class Caller {
  private readonly options: ForecourtOptions
  private readonly baseUrl: string
  private token: { fetched: Promise<string>; text?: string; until: number } | undefined

  constructor(options: ForecourtOptions) {
    requireCaller(options)
    this.options = options
    this.baseUrl = readAddress(options.baseUrl, options.allowHttp === true)
    for (const [id, declared] of Object.entries<Omit<Call, 'id'>>(operations)) {
      const operation = { id, ...declared }
      const raw = (input: object = {}, given: CallOptions = {}) => this.call(operation, input, given)
      const method = async (input?: object, given?: CallOptions) => (await raw(input, given)).data
      const all = (query: object = {}, given?: CallOptions) => this.rows(operation, query, given)
      const streamed = streamOf(id)
      const stream = streamed && ((query: object = {}, given?: CallOptions) => this.follow(streamed, query, given))
      const more = { ...(operation.isPage && { all }), ...(stream && { stream }) }
      Object.assign(this, { [id]: Object.assign(method, { raw, ...more }) })
    }
  }

  private async call(operation: Call, input: object, given: CallOptions): Promise<Answered<unknown>> {
    const options = withDefaults(given, this.options)
    const headers = this.headersOf(operation, options)
    let hasRenewed = false
    for (let attempt = 1; ; attempt++) {
      // Outside the `try`: fetching a token is a call of its own, with its own retries.
      const token = operation.isOpen ? undefined : await unlessAborted(this.credential(), options.signal)
      try {
        return await this.send(operation, input, headers, token, options)
      } catch (thrown) {
        options.signal?.throwIfAborted()
        const error = asError(thrown, operation.id, options.timeoutMs)
        const isRenewed = error.name === 'tokenInvalid' && !hasRenewed && canSendAgain(input) && this.dropToken(token)
        if (isRenewed) hasRenewed = true
        else if (attempt <= options.retries && isTransient(error) && canSendAgain(input))
          await pause(attempt, error, options.signal)
        else throw error
      }
    }
  }

  private headersOf({ isIdempotent }: Call, { idempotencyKey, ifMatch }: CallOptions): Record<string, string> {
    const { language } = this.options
    const key = idempotencyKey ?? (isIdempotent ? crypto.randomUUID() : undefined)
    return {
      // Browsers name themselves.
      ...(!('document' in globalThis) && { 'user-agent': `forecourt-sdk/${sdkVersion}` }),
      ...(language !== undefined && { 'accept-language': language }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    }
  }

  private async send(
    operation: Call,
    input: object,
    headers: Record<string, string>,
    token: string | undefined,
    { signal, timeoutMs, fetch }: Sending,
  ): Promise<Answered<unknown>> {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const late = new AbortController()
    // An upload may take any time. For a download the timeout covers the headers only.
    const isTimed = !operation.takesFile && timeoutMs <= longestTimerMs
    const timer = isTimed ? setTimeout(() => late.abort(tooLate()), timeoutMs) : undefined
    try {
      return await exchange(this.baseUrl, operation, input, {
        operation: operation.id,
        headers: { ...headers, ...authorization },
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
        names: codeNames,
        ...(fetch !== undefined && { fetch }),
      })
    } finally {
      clearTimeout(timer)
    }
  }

  /** Drops a refused token, which may have been revoked early. Returns whether a new one can be fetched. */
  private dropToken(token: string | undefined): boolean {
    if (!('appSecret' in this.options)) return false
    // Another call may have dropped it already.
    if (this.token?.text === token) this.token = undefined
    return true
  }

  /** Sends a file and waits until the service has processed its rows. */
  async importFile(input: ImportedFile, given: CallOptions = {}): Promise<Import> {
    const { createImport, getImport } = this as unknown as Methods
    const { signal } = given
    let found = await createImport(input, given)
    const asked = { id: found.id, ...(input.appId !== undefined && { appId: input.appId }) }
    for (let restMs = lookMs.first; found.status < ImportStatus.done; restMs = Math.min(2 * restMs, lookMs.longest)) {
      await wait(restMs, signal)
      found = await getImport(asked, { ...given, idempotencyKey: undefined })
    }
    return found
  }

  /** Every row, from page to page. */
  private async *rows(operation: Call, query: object, options: CallOptions = {}): AsyncGenerator<unknown> {
    let cursor: string | null | undefined
    do {
      const input = { pageSize: 100, ...query, ...(cursor !== undefined && { cursor }) }
      const { data } = await this.call(operation, input, options)
      const page = data as { list: unknown[]; nextCursor: string | null }
      yield* page.list
      cursor = page.nextCursor
    } while (cursor !== null)
  }

  /** The events of a stream, over any number of connections. */
  private async *follow(operation: Call, query: object, options: CallOptions = {}): AsyncGenerator<unknown, never> {
    const stream = new FollowedStream()
    for (;;) {
      let failure: ForecourtError | undefined
      try {
        const input = { ...query, ...stream.position }
        const { data } = await this.call(operation, input, { ...options, retries: 0 })
        failure = yield* stream.events(data as FileAnswer, operation.id)
      } catch (thrown) {
        if (!(thrown instanceof ForecourtError)) throw thrown
        failure = thrown
      }
      options.signal?.throwIfAborted()
      if (failure?.name === 'tokenInvalid' && stream.mayRenew() && this.dropToken(this.token?.text)) continue
      if (failure !== undefined && !mayPass(failure)) throw failure
      await wait(stream.reconnects.next(failure?.retryAfterSeconds), options.signal)
    }
  }

  private async credential(): Promise<string> {
    const { options } = this
    if ('operatorKey' in options) return options.operatorKey
    if ('token' in options) return options.token
    // Concurrent calls wait for the same token.
    if (this.token === undefined || Date.now() >= this.token.until) this.token = this.obtain(options)
    return this.token.fetched
  }

  private obtain({ appId, appSecret }: { appId: string; appSecret: string }): NonNullable<Caller['token']> {
    const body = { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }
    const askedAt = Date.now()
    const issue = async () => {
      try {
        const { data } = await this.call({ id: 'issueToken', ...operations.issueToken }, body, {})
        const { accessToken, expiresIn } = data as { accessToken: string; expiresIn: number }
        Object.assign(token, { text: accessToken, until: askedAt + expiresIn * 1000 * (1 - spareOfToken) })
        return accessToken
      } catch (error) {
        token.until = 0
        throw error
      }
    }
    const token = { fetched: issue(), until: Number.POSITIVE_INFINITY }
    return token
  }
}

/** The stream of a page operation's rows, if there is one. */
function streamOf(id: string): Call | undefined {
  if (id !== 'pageEvents') return undefined
  return { id: 'streamEvents', ...operations.streamEvents }
}

/** Waits for a promise that other callers may share: an abort rejects for this caller only. */
async function unlessAborted<Value>(awaited: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return awaited
  const given = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    const options = { once: true, signal: given.signal }
    signal.addEventListener('abort', () => reject(signal.reason), options)
    if (signal.aborted) reject(signal.reason)
  })
  return Promise.race([awaited, aborted]).finally(() => given.abort())
}

const tooLate = () => new DOMException('no answer', 'TimeoutError')

/** A stream can be sent only once. */
const canSendAgain = (input: object) => !((input as { file?: unknown }).file instanceof ReadableStream)

/** Whether a retry may succeed, and need not wait for long. */
function isTransient(error: ForecourtError): boolean {
  return mayPass(error) && (error.retryAfterSeconds ?? 0) * 1000 <= longestPauseMs
}

/** Whether the same request may succeed later. */
const mayPass = ({ status }: ForecourtError) => [0, 408, 429, 500, 502, 503, 504].includes(status)

/** The options of a call with those of the client, and the defaults. */
type Sending = CallOptions & { retries: number; timeoutMs: number }

function withDefaults(call: CallOptions, client: SendOptions): Sending {
  return {
    ...call,
    retries: call.retries ?? client.retries ?? defaultRetries,
    timeoutMs: call.timeoutMs ?? client.timeoutMs ?? defaultTimeoutMs,
    fetch: call.fetch ?? client.fetch,
  }
}

function asError(thrown: unknown, operation: string, timeoutMs: number): ForecourtError {
  if (thrown instanceof ForecourtError) return thrown
  if ((thrown as Error).name !== 'TimeoutError') throw thrown
  const details = { code: 0, status: 0, operation, cause: thrown }
  return new ForecourtError(`no answer within ${timeoutMs / 1000} s`, details)
}

/** Checks the options at run time, because programs in JavaScript have no compiler to do it. */
function requireCaller(options: Partial<Record<'appId' | 'appSecret' | 'operatorKey' | 'token', unknown>>): void {
  const isGiven = (value: unknown) => typeof value === 'string' && value !== ''
  const { appId, appSecret, operatorKey, token } = options ?? {}
  if ((isGiven(appId) && isGiven(appSecret)) || isGiven(operatorKey) || isGiven(token)) return
  throw new TypeError('Forecourt needs { baseUrl } and one of { appId, appSecret }, { operatorKey } and { token }.')
}

/** Waits before a retry: exponential backoff, or the service's `Retry-After`, plus jitter. Rejects when aborted. */
function pause(attempt: number, { retryAfterSeconds }: ForecourtError, signal: AbortSignal | undefined): Promise<void> {
  const least = retryAfterSeconds === null ? (firstPauseMs * 2 ** attempt) / 4 : retryAfterSeconds * 1000
  return wait(least + Math.random() * firstPauseMs * 2 ** (attempt - 1), signal)
}

/** Rejects when aborted. */
function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/**
 * The client: one method for each operation of the API, named by the operation's id, which returns the `data` of the
 * response; `.raw(…)` returns the headers' values too. It fetches and renews tokens. It makes up to five attempts, under one
 * `Idempotency-Key`, if no response arrives or the status is 408, 429, 500, 502, 503 or 504; a `Retry-After` above 60 s is
 * thrown at once. Throws `ForecourtError`. A page operation has `.all(query)` for every row; `pageEvents.stream(query)`
 * follows the events as they are written.
 */
export type Forecourt = Methods & {
  /**
   * Creates an import, and resolves with it when it has ended: `status` says whether it was processed, failed or was
   * cancelled, and `refused` how many rows were refused; `getImportResult` has the reasons. An abort ends the waiting, not
   * the import.
   */
  importFile(input: ImportedFile, options?: CallOptions): Promise<Import>
}
export const Forecourt = Caller as unknown as new (options: ForecourtOptions) => Forecourt
