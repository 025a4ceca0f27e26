import { ForecourtError } from './error.ts'

/** What one request needs to know of an operation. */
export interface Target {
  method: 'GET' | 'POST'
  path: string
}

export interface Answered<Data> {
  data: Data
  /** The entity tag, for `If-Match`; null where the operation answers none. */
  etag: string | null
}

interface ExchangeOptions {
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
  { method, path }: Target,
  input: object,
  { headers, signal, names = {} }: ExchangeOptions = {},
): Promise<Answered<unknown>> {
  const request: RequestInit = { method, headers: { ...headers }, signal: signal ?? null }
  if (method === 'POST') {
    request.headers = { ...headers, 'content-type': 'application/json' }
    request.body = JSON.stringify(input)
  }
  let response: Response
  let text: string
  try {
    response = await fetch(baseUrl + path + (method === 'GET' ? queryOf(input) : ''), request)
    text = await response.text()
  } catch (error) {
    signal?.throwIfAborted()
    throw new ForecourtError(`no answer: ${(error as Error).message}`, { code: 0, status: 0 })
  }
  const answer = jsonOf(text)
  const envelope = answer as Envelope | undefined
  if (response.ok && envelope?.code === undefined) return { data: answer ?? text, etag: response.headers.get('etag') }
  if (envelope?.code === 0) return { data: envelope.data, etag: response.headers.get('etag') }
  const { code = 0, msg = response.statusText, data } = envelope ?? {}
  throw new ForecourtError(msg, {
    code,
    name: names[code],
    status: response.status,
    errors: (data as Pick<ForecourtError, 'errors'> | null | undefined)?.errors ?? [],
    requestId: response.headers.get('x-request-id'),
    retryAfterSeconds: secondsOf(response.headers.get('retry-after')),
  })
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

function secondsOf(header: string | null): number | null {
  const seconds = Number(header ?? Number.NaN)
  return Number.isFinite(seconds) ? seconds : null
}

/** What is not given is left out. */
function queryOf(input: object): string {
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}
