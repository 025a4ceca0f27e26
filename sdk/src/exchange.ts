import { ForecourtError, type ForecourtErrorName } from './error.ts'
import { FileAnswer, type FileInput, mediaTypeOf } from './file.ts'

/** The members of an operation that a request needs. */
export interface Target {
  method: 'GET' | 'POST'
  path: string
  /** The request's body is the input's `file`, and the rest of the input its query. */
  takesFile?: true
  /** The media type of a response without the envelope; of a file, all that it can have. */
  answers?: string | readonly string[]
}

/** The response of an operation, with what its headers say. */
export interface Answered<Data> {
  data: Data
  /** The entity tag, for `If-Match`; null if the response has none. */
  etag: string | null
  /** The id by which the operator finds the request in the log. */
  requestId: string | null
  /** Whether the response is the stored one of an earlier request with the same idempotency key. */
  replayed: boolean
  /** The application's rate limit: requests in the window, how many are left, and when it is full again. */
  rateLimit: { limit: number; remaining: number; resetSeconds: number } | null
}

interface ExchangeOptions {
  /** The operation's id, which errors name. */
  operation: string
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** The names of the refusals, by their codes. */
  names?: Record<number, ForecourtErrorName>
  /** Sends the request in place of the global `fetch`. */
  fetch?: Fetch
}

/** What the SDK needs of `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/**
 * Sends one request and reads its response: `input` is the body of a POST or the query of a GET. Throws
 * `ForecourtError`, or the signal's reason when it is aborted.
 */
export async function exchange(
  baseUrl: string,
  target: Target,
  input: object,
  options: ExchangeOptions,
): Promise<Answered<unknown>> {
  const { operation, headers = {}, signal, fetch: send = fetch } = options
  const { url, ...request } = requestOf(target, input, headers)
  let response: Response
  let text: string
  try {
    response = await send(baseUrl + url, { ...request, signal: signal ?? null })
    if (typeof target.answers === 'object' && hasMediaType(response, target.answers))
      return answered(response, new FileAnswer(response))
    text = await response.text()
  } catch (error) {
    signal?.throwIfAborted()
    throw new ForecourtError(`no answer: ${causeOf(error)}`, { code: 0, status: 0, operation, cause: error })
  }
  const answer = jsonOf(text)
  if (isSuccess(response, answer)) return answered(response, answer.data)
  if (typeof target.answers === 'string' && hasMediaType(response, [target.answers])) {
    if (target.answers !== jsonType) return answered(response, text)
    if (answer !== undefined) return answered(response, answer)
  }
  throw refusalOf(response, answer, options)
}

/** The error of a response that is no success: the service's refusal, a redirect, or somebody else's response. */
function refusalOf(response: Response, answer: object | undefined, { operation, names = {} }: ExchangeOptions) {
  if (isRedirect(response)) {
    const to = response.headers.get('location')
    const reason = `the service redirects${to === null ? '' : ` to ${to}`}; redirects are not followed: set baseUrl to the final address`
    return new ForecourtError(reason, { code: 0, name: 'notForecourt', status: response.status || 302, operation })
  }
  const refusal = isRefusal(response, answer) ? answer : undefined
  return new ForecourtError(refusal?.msg ?? strangerWords(response), {
    code: refusal?.code ?? 0,
    name: refusal === undefined ? 'notForecourt' : (names[refusal.code] ?? 'unknownRefusal'),
    status: response.status,
    errors: (refusal?.data as Pick<ForecourtError, 'errors'> | null | undefined)?.errors ?? [],
    operation,
    requestId: response.headers.get('x-request-id'),
    retryAfterSeconds: secondsOf(response.headers.get('retry-after')),
  })
}

const jsonType = 'application/json'

/**
 * Whether a response has one of these media types and comes from Forecourt, whose every response has a request id: without
 * an envelope, nothing else tells it from another program's.
 */
function hasMediaType({ status, headers }: Response, mediaTypes: readonly string[]): boolean {
  const mediaType = headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return status === 200 && headers.has('x-request-id') && mediaTypes.includes(mediaType)
}

/** Whether a response is the service's own envelope of a success: proxies and other programs answer 200 too. */
function isSuccess({ status }: Response, answer: object | undefined): answer is { data: unknown } {
  const { code, msg, data } = (answer ?? {}) as Record<string, unknown>
  return status === 200 && code === 0 && msg === 'success' && typeof data === 'object' && data !== null
}

function isRefusal(
  { status }: Response,
  answer: object | undefined,
): answer is { code: number; msg: string; data: unknown } {
  const { code, msg } = (answer ?? {}) as Record<string, unknown>
  return status >= 400 && Number.isInteger(code) && (code as number) >= 10_000 && typeof msg === 'string'
}

/** What is known of a response that is not Forecourt's. */
function strangerWords({ status, statusText, headers }: Response): string {
  const facts = [`HTTP ${status}`, statusText, headers.get('content-type') ?? ''].filter((fact) => fact !== '')
  return `the response is not Forecourt’s (${facts.join(', ')})`
}

function answered<Data>({ headers }: Response, data: Data): Answered<Data> {
  return {
    data,
    etag: headers.get('etag'),
    requestId: headers.get('x-request-id'),
    replayed: headers.get('idempotency-replayed') === 'true',
    rateLimit: rateLimitOf(headers),
  }
}

/** Reads `RateLimit-Policy` and `RateLimit` (IETF httpapi draft): `"default";q=1000;w=1` and `"default";r=998;t=1`. */
function rateLimitOf(headers: Headers): Answered<unknown>['rateLimit'] {
  const numberOf = (header: string, parameter: string) =>
    Number(new RegExp(`;\\s*${parameter}=(\\d+)`).exec(headers.get(header) ?? '')?.[1] ?? Number.NaN)
  const limit = numberOf('ratelimit-policy', 'q')
  const remaining = numberOf('ratelimit', 'r')
  if (Number.isNaN(limit) || Number.isNaN(remaining)) return null
  return { limit, remaining, resetSeconds: numberOf('ratelimit', 't') || 0 }
}

function requestOf(
  { method, path, takesFile }: Target,
  input: object,
  headers: Record<string, string>,
): RequestInit & { url: string } {
  // The service never redirects. To follow one would send the body, with its secrets, to another host.
  const redirect = 'manual'
  if (method === 'GET') return { method, redirect, url: path + queryOf(input), headers }
  if (!takesFile) {
    return {
      method,
      redirect,
      url: path,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    }
  }
  const { file, charset, ...query } = input as { file: FileInput; charset?: string; format?: unknown }
  const type = { 'content-type': mediaTypeOf(file, query.format, charset) }
  const request = { method, url: path + queryOf(query), headers: { ...headers, ...type }, body: file as string }
  // To send a stream, Node and browsers need `duplex`. Without the other two Node buffers it all, for a redirect.
  return { ...request, ...({ duplex: 'half', redirect: 'error', window: null } as object) }
}

/** Browsers report a redirect as `opaqueredirect`, and hide its status and target. */
const isRedirect = ({ status, type }: Response) => (status >= 300 && status < 400) || type === 'opaqueredirect'

/** Why a connection failed. Node has it in the error's cause only; for several addresses, in an `AggregateError`. */
function causeOf(error: unknown): string {
  const { message, code, cause } = error as Error & { code?: unknown }
  const inner = cause === undefined || cause === null ? undefined : (cause as Error & { code?: unknown })
  const text = inner?.message ? `${message}: ${inner.message}` : message
  const known = inner?.code ?? code
  return typeof known === 'string' && !text.includes(known) ? `${text} (${known})` : text
}

/** Returns undefined if the text is not a JSON object. */
function jsonOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** The seconds of a `Retry-After`, which a proxy may write as a date. */
function secondsOf(header: string | null): number | null {
  if (header === null) return null
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

/** Members that are undefined, null or empty are left out. */
function queryOf(input: object): string {
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}
