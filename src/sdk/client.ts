import type { Static, TObject, TSchema } from 'typebox'
import type { Operation } from '../http/operation.ts'

/** A refusal as a program meets it (contract §1), or an answer that is none: then `code` is 0. */
export class ForecourtError extends Error {
  readonly code: number
  /** The HTTP status; 0 when no answer came. */
  readonly status: number
  readonly requestId: string | null
  /** The faulty fields of code 10001, and of refusals that name fields. */
  readonly errors: { field: string; reason: string }[]

  constructor(message: string, details: Pick<ForecourtError, 'code' | 'status' | 'requestId' | 'errors'>) {
    super(message)
    this.code = details.code
    this.status = details.status
    this.requestId = details.requestId
    this.errors = details.errors
  }
}

export interface Answered<Data> {
  data: Data
  /** The entity tag, for `If-Match`; null where the operation answers none. */
  etag: string | null
}

export interface ClientOptions {
  /** The service's address; empty for the page's own. */
  url?: string
  /** Headers of every request: a token, a language. */
  headers?: () => Record<string, string>
}

/** What an operation takes: its body or its query, whichever it declares. */
export type Input<Body extends TObject, Query extends TObject> = (TObject extends Body ? unknown : Static<Body>) &
  (TObject extends Query ? unknown : Static<Query>)

interface Envelope {
  code?: number
  msg?: string
  data?: unknown
}

/** Calls operations by their contracts. */
export class Client {
  private readonly options: ClientOptions

  constructor(options: ClientOptions = {}) {
    this.options = options
  }

  /** Sends `input` as the body of a POST or as the query of a GET. Throws `ForecourtError`. */
  async call<Body extends TObject, Query extends TObject, Data extends TSchema>(
    { method, path }: Operation<Body, Query, Data>,
    input: Input<Body, Query>,
    headers: Record<string, string> = {},
  ): Promise<Answered<Static<Data>>> {
    const { url = '', headers: common } = this.options
    const query = method === 'GET' ? queryOf(input as object) : ''
    const request: RequestInit = { method, headers: { ...common?.(), ...headers } }
    if (method === 'POST') {
      request.headers = { ...request.headers, 'content-type': 'application/json' }
      request.body = JSON.stringify(input)
    }
    const response = await fetch(url + path + query, request).catch((error: Error) => {
      throw new ForecourtError(error.message, { code: 0, status: 0, requestId: null, errors: [] })
    })
    const requestId = response.headers.get('x-request-id')
    const envelope = (await response.json().catch(() => undefined)) as Envelope | undefined
    if (envelope?.code === 0) return { data: envelope.data as Static<Data>, etag: response.headers.get('etag') }
    const { code = 0, msg = response.statusText, data } = envelope ?? {}
    const errors = (data as Pick<ForecourtError, 'errors'> | null | undefined)?.errors ?? []
    throw new ForecourtError(msg, { code, status: response.status, requestId, errors })
  }
}

/** What is not given is left out. */
function queryOf(input: object): string {
  const given = Object.entries(input).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}
