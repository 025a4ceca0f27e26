import { ForecourtError } from './error.ts'
import { FileAnswer, type FileInput, mediaTypeOf } from './file.ts'

/** The members of an operation that a request needs. */
export interface Target {
  method: 'GET' | 'POST'
  path: string
  /** The request's body is the input's `file`, and the rest of the input its query. */
  takesFile?: true
  /** The response is a file. */
  answersFile?: true
}

export interface Answered<Data> {
  data: Data
  /** The entity tag, for `If-Match`; null if the response has none. */
  etag: string | null
}

interface ExchangeOptions {
  /** The operation's id, which errors name. */
  operation: string
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** The names of the refusals, by their codes. */
  names?: Record<number, string>
  /** Sends the request in place of the global `fetch`. */
  fetch?: typeof fetch
}

interface Envelope {
  code?: number
  msg?: string
  data?: unknown
}

/**
 * Sends one request and reads its response: `input` is the body of a POST or the query of a GET. Throws
 * `ForecourtError`, or the signal's reason when it is aborted.
 */
export async function exchange(
  baseUrl: string,
  target: Target,
  input: object,
  { operation, headers = {}, signal, names = {}, fetch: send = fetch }: ExchangeOptions,
): Promise<Answered<unknown>> {
  const { url, ...request } = requestOf(target, input, headers)
  let response: Response
  let isOurs: boolean
  let text: string
  try {
    response = await send(baseUrl + url, { ...request, signal: signal ?? null })
    // Every response of Forecourt has a request id; one without it comes from another program.
    isOurs = response.headers.has('x-request-id')
    if (target.answersFile && response.ok && isOurs) return { data: new FileAnswer(response), etag: null }
    text = await response.text()
  } catch (error) {
    signal?.throwIfAborted()
    throw new ForecourtError(`no answer: ${causeOf(error)}`, { code: 0, status: 0, operation, cause: error })
  }
  if (isRedirect(response)) {
    const to = response.headers.get('location')
    const reason = `the service redirects${to === null ? '' : ` to ${to}`}; redirects are not followed: set baseUrl to the final address`
    throw new ForecourtError(reason, { code: 0, name: 'notForecourt', status: response.status || 302, operation })
  }
  const answer = jsonOf(text)
  const envelope = answer as Envelope | undefined
  // Some operations respond without an envelope.
  if (response.ok && envelope?.code === undefined && isOurs)
    return { data: answer ?? text, etag: response.headers.get('etag') }
  if (envelope?.code === 0) return { data: envelope.data, etag: response.headers.get('etag') }
  const { code = 0, msg = response.statusText, data } = envelope ?? {}
  throw new ForecourtError(msg, {
    code,
    name: names[code],
    status: response.status,
    errors: (data as Pick<ForecourtError, 'errors'> | null | undefined)?.errors ?? [],
    operation,
    requestId: response.headers.get('x-request-id'),
    retryAfterSeconds: secondsOf(response.headers.get('retry-after')),
  })
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
