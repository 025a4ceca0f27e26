import { ForecourtError } from './error.ts'
import { FileAnswer, type FileInput, mediaTypeOf } from './file.ts'

/** What one request needs to know of an operation. */
export interface Target {
  method: 'GET' | 'POST'
  path: string
  /** Its body is the input's `file`, and the rest of the input its query. */
  takesFile?: true
  /** Its answer is a file. */
  answersFile?: true
}

export interface Answered<Data> {
  data: Data
  /** The entity tag, for `If-Match`; null where the operation answers none. */
  etag: string | null
}

interface ExchangeOptions {
  /** The operation's id, which errors name. */
  operation: string
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  /** The names of the refusals, by their codes. */
  names?: Record<number, string>
}

interface Envelope {
  code?: number
  msg?: string
  data?: unknown
}

/**
 * One request, and its answer: `input` is the body of a POST or the query of a GET. Throws `ForecourtError`, and the
 * signal's reason when it is aborted.
 */
export async function exchange(
  baseUrl: string,
  target: Target,
  input: object,
  { operation, headers = {}, signal, names = {} }: ExchangeOptions,
): Promise<Answered<unknown>> {
  const { url, ...request } = requestOf(target, input, headers)
  let response: Response
  let isOurs: boolean
  let text: string
  try {
    response = await fetch(baseUrl + url, { ...request, signal: signal ?? null })
    // What has no request id is another program's page.
    isOurs = response.headers.has('x-request-id')
    if (target.answersFile && response.ok && isOurs) return { data: new FileAnswer(response), etag: null }
    text = await response.text()
  } catch (error) {
    signal?.throwIfAborted()
    throw new ForecourtError(`no answer: ${causeOf(error)}`, { code: 0, status: 0, operation, cause: error })
  }
  if (isRedirect(response)) {
    const to = response.headers.get('location')
    const reason = `the address redirects${to === null ? '' : ` to ${to}`}, which is not followed: give baseUrl as it ends`
    throw new ForecourtError(reason, { code: 0, name: 'notForecourt', status: response.status || 302, operation })
  }
  const answer = jsonOf(text)
  const envelope = answer as Envelope | undefined
  // Some operations answer without an envelope.
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
  // The service redirects nothing: to follow would take the body, with its secrets, to another host.
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
  const { file, ...query } = input as { file: FileInput; format?: unknown }
  const type = { 'content-type': mediaTypeOf(file, query.format) }
  const request = { method, url: path + queryOf(query), headers: { ...headers, ...type }, body: file as string }
  // Node and browsers want the first where a stream is sent; without the others Node keeps all of it, for a redirect.
  return { ...request, ...({ duplex: 'half', redirect: 'error', window: null } as object) }
}

/** Browsers hide its status and where it leads. */
const isRedirect = ({ status, type }: Response) => (status >= 300 && status < 400) || type === 'opaqueredirect'

/** Why a connection failed. Node tells it in the cause of the error alone, several addresses in an `AggregateError`. */
function causeOf(error: unknown): string {
  const { message, code, cause } = error as Error & { code?: unknown }
  const inner = cause === undefined || cause === null ? undefined : (cause as Error & { code?: unknown })
  const told = inner?.message ? `${message}: ${inner.message}` : message
  const known = inner?.code ?? code
  return typeof known === 'string' && !told.includes(known) ? `${told} (${known})` : told
}

/** Undefined for what is no JSON object. */
function jsonOf(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** Of a `Retry-After`, which a proxy may write as a date. */
function secondsOf(header: string | null): number | null {
  if (header === null) return null
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? null : Math.max(0, seconds)
}

/** What is not given is left out. */
function queryOf(input: object): string {
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}
