import { readAddress } from './address.ts'
import { codeNames, type Methods, operations } from './api.ts'
import { ForecourtError } from './error.ts'
import { exchange, type Target } from './exchange.ts'
import type { CallOptions } from './method.ts'

interface Address {
  /** Where the service answers: https://forecourt.example.com. */
  baseUrl: string
  /** The language of messages: zh, or en without it. */
  language?: string
  /** Allows http:// to another machine than this one: secrets and tokens then travel in plain text. */
  allowHttp?: boolean
}

/** An application by its secret, an operator by a key, or whoever a token is for. */
export type ForecourtOptions = Address &
  ({ appId: string; appSecret: string } | { operatorKey: string } | { token: string })

interface Call extends Target {
  id: string
  isIdempotent?: true
  isOpen?: true
  isPage?: true
}

const mostAttempts = 5
const firstPauseMs = 250
/** An answer that takes longer is taken for lost. */
const answerTimeoutMs = 60_000
/** Of its life, how much of a token is not used: the request has to arrive before its end. */
const spareOfToken = 0.1

/** Carries the calls out: with a token, and again where that can help. */
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
      const method = (input: object = {}, given: CallOptions = {}) => this.call(operation, input, given)
      Object.assign(this, {
        [id]: operation.isPage
          ? Object.assign(method, {
              all: (query: object = {}, given?: CallOptions) => this.rows(operation, query, given),
            })
          : method,
      })
    }
  }

  private async call(operation: Call, input: object, options: CallOptions): Promise<unknown> {
    const headers = this.headersOf(operation, options)
    let hasRenewed = false
    for (let attempt = 1; ; attempt++) {
      // Outside of what is tried again: to fetch a token is a call of its own, with its own tries.
      const token = operation.isOpen ? undefined : await unlessAborted(this.credential(), options.signal)
      try {
        return await this.send(operation, input, headers, token, options.signal)
      } catch (thrown) {
        options.signal?.throwIfAborted()
        const error = asError(thrown, operation.id)
        const isRenewed = error.name === 'tokenInvalid' && !hasRenewed && canSendAgain(input) && this.renews(token)
        if (isRenewed) hasRenewed = true
        else if (attempt < mostAttempts && isPassing(error) && canSendAgain(input))
          await pause(attempt, error, options.signal)
        else throw error
      }
    }
  }

  private headersOf({ isIdempotent }: Call, { idempotencyKey, ifMatch }: CallOptions): Record<string, string> {
    const { language } = this.options
    const key = idempotencyKey ?? (isIdempotent ? crypto.randomUUID() : undefined)
    return {
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
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const late = new AbortController()
    // A file takes as long as it takes; of one that is answered, its beginning is waited for.
    const timer = operation.takesFile ? undefined : setTimeout(() => late.abort(tooLate()), answerTimeoutMs)
    try {
      const answered = await exchange(this.baseUrl, operation, input, {
        operation: operation.id,
        headers: { ...headers, ...authorization },
        signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
        names: codeNames,
      })
      return answered.data
    } finally {
      clearTimeout(timer)
    }
  }

  /** Whether a token that was refused is fetched anew: it can end before its time, revoked or with its secret. */
  private renews(token: string | undefined): boolean {
    if (!('appSecret' in this.options)) return false
    // Another call may have done it already.
    if (this.token?.text === token) this.token = undefined
    return true
  }

  /** Every row, from page to page. */
  private async *rows(operation: Call, query: object, options: CallOptions = {}): AsyncGenerator<unknown> {
    let cursor: string | null | undefined
    do {
      const asked = { pageSize: 100, ...query, ...(cursor !== undefined && { cursor }) }
      const page = (await this.call(operation, asked, options)) as { list: unknown[]; nextCursor: string | null }
      yield* page.list
      cursor = page.nextCursor
    } while (cursor !== null)
  }

  private async credential(): Promise<string> {
    const { options } = this
    if ('operatorKey' in options) return options.operatorKey
    if ('token' in options) return options.token
    // Whoever comes while one is fetched waits for the same.
    if (this.token === undefined || Date.now() >= this.token.until) this.token = this.obtain(options)
    return this.token.fetched
  }

  private obtain({ appId, appSecret }: { appId: string; appSecret: string }): NonNullable<Caller['token']> {
    const body = { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }
    const askedAt = Date.now()
    const issue = async () => {
      try {
        const issued = await this.call({ id: 'issueToken', ...operations.issueToken }, body, {})
        const { accessToken, expiresIn } = issued as { accessToken: string; expiresIn: number }
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

/** Waits for what others may wait for as well, which goes on when this caller gives up. */
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

/** A stream is there once. */
const canSendAgain = (input: object) => !((input as { file?: unknown }).file instanceof ReadableStream)

/** What may be different the next time. */
function isPassing({ status }: ForecourtError): boolean {
  return [0, 408, 429, 503].includes(status)
}

function asError(thrown: unknown, operation: string): ForecourtError {
  if (thrown instanceof ForecourtError) return thrown
  if ((thrown as Error).name !== 'TimeoutError') throw thrown
  const details = { code: 0, status: 0, operation, cause: thrown }
  return new ForecourtError(`no answer within ${answerTimeoutMs / 1000} s`, details)
}

/** Programs in JavaScript have no compiler that tells them what is missing. */
function requireCaller(options: Partial<Record<'appId' | 'appSecret' | 'operatorKey' | 'token', unknown>>): void {
  const isGiven = (value: unknown) => typeof value === 'string' && value !== ''
  const { appId, appSecret, operatorKey, token } = options ?? {}
  if ((isGiven(appId) && isGiven(appSecret)) || isGiven(operatorKey) || isGiven(token)) return
  throw new TypeError('Forecourt needs { baseUrl } and one of { appId, appSecret }, { operatorKey } and { token }.')
}

/** Longer each time, or as long as the service asks; never all callers at once. Ends at once when it is aborted. */
function pause(attempt: number, { retryAfterSeconds }: ForecourtError, signal: AbortSignal | undefined): Promise<void> {
  const least = retryAfterSeconds === null ? (firstPauseMs * 2 ** attempt) / 4 : retryAfterSeconds * 1000
  const milliseconds = least + Math.random() * firstPauseMs * 2 ** (attempt - 1)
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
 * The service from a program: one method for each operation of the API, by its id, each answering the `data` of its
 * answer. Tokens are fetched and renewed. What did not arrive, and 408, 429 and 503, is tried again, five times in all
 * and under one `Idempotency-Key`. Throws `ForecourtError`. A page operation has `.all(query)` for every row.
 */
export type Forecourt = Methods
export const Forecourt = Caller as unknown as new (options: ForecourtOptions) => Forecourt
