import type { Operation } from '../../src/vocabulary/operation.ts'
import { contractOf, type DataOf, type OperationId } from './contracts.ts'
import { expectPublished } from './published.ts'
import { type Service, startService } from './service.ts'
import { sleep } from './waits.ts'

export interface Answer<Data> {
  status: number
  headers: Headers
  code: number
  msg: string
  data: Data
  /** The whole body as text. */
  text: string
}

export interface CallOptions {
  token?: string | undefined
  headers?: Record<string, string>
}

/** The data of a refusal, for tests that check it. */
export interface Faults {
  errors: { field: string; reason: string }[]
}

/** Calls operations over HTTP, by their IDs or contracts. */
export class Client {
  readonly url: string
  readonly operatorKey: string

  constructor(service: { url: string; operatorKey: string }) {
    this.url = service.url
    this.operatorKey = service.operatorKey
  }

  /**
   * Sends `input` as the body of a POST or as the query of a GET; for an operation that uploads a file, sends
   * `input.file` as the body. Returns the response, whatever its status.
   */
  async call<Called extends OperationId | Operation>(
    called: Called,
    input: unknown,
    options: CallOptions = {},
  ): Promise<Answer<DataOf<Called>>> {
    const operation = contractOf(called)
    const { method, path } = operation
    const headers: Record<string, string> = { ...options.headers }
    if (options.token !== undefined) headers.authorization = `Bearer ${options.token}`
    if (method === 'GET') {
      const query = new URLSearchParams(input as Record<string, string>).toString()
      return this.send(query === '' ? path : `${path}?${query}`, { method, headers })
    }
    if (operation.takes !== undefined) {
      const { file = '', ...asked } = input as { file?: RequestInit['body'] }
      headers['content-type'] ??= operation.takes[0] as string
      const query = new URLSearchParams(asked as Record<string, string>)
      return this.send(`${path}?${query}`, { method, headers, body: file })
    }
    headers['content-type'] ??= 'application/json'
    return this.send(path, { method, headers, body: typeof input === 'string' ? input : JSON.stringify(input) })
  }

  /** As `call`, with the operator key. */
  operate<Called extends OperationId | Operation>(
    called: Called,
    input: unknown,
    options: CallOptions = {},
  ): Promise<Answer<DataOf<Called>>> {
    return this.call(called, input, { token: this.operatorKey, ...options })
  }

  /**
   * Sends any request and parses the response's envelope, if it has one. Throws when openapi.json describes the request
   * or response differently.
   */
  async send<Data>(path: string, request: RequestInit): Promise<Answer<Data>> {
    const response = await fetch(this.url + path, { redirect: 'manual', ...request })
    const text = await textOf(response)
    const { status, headers } = response
    const { method = 'GET', body } = request
    // Only in tests: the benchmarks use this client too, and the checks would distort their times.
    if (process.env.NODE_ENV === 'test')
      expectPublished({
        method,
        path,
        requestHeaders: new Headers(request.headers),
        requestBody: body,
        status,
        headers,
        text,
      })
    const envelope = headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : {}
    return { status, headers, text, ...envelope }
  }
}

/** The body as text; of a stream, which has no end, its first blocks. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response.text()
  for await (const piece of response.body ?? []) return new TextDecoder().decode(piece)
  return ''
}

let shared: Promise<Service> | undefined

/**
 * The service that a test file calls. It is the deployment at FORECOURT_BASE_URL with FORECOURT_OPERATOR_KEY, when both
 * are set, so that these tests can check any deployment; else the service that scripts/test.ts started for all files;
 * else, when a file is run by itself, one that this process starts.
 */
export async function target(): Promise<Client> {
  const url = process.env.FORECOURT_BASE_URL
  const operatorKey = process.env.FORECOURT_OPERATOR_KEY
  if (url !== undefined && operatorKey !== undefined) return new Client({ url, operatorKey })
  const given = process.env.FORECOURT_TEST_TARGET
  if (given !== undefined) return new Client(JSON.parse(given))
  shared ??= startService()
  return new Client(await shared)
}

/** Stops the service that `target` started; the test runner's preload calls this after the last file. */
export async function stopTarget(): Promise<void> {
  if (shared !== undefined) await (await shared).stop()
}

/** How long a process remembers what a caller may do: what another process changes is in force by then. */
export const rememberedMs = 1000

/** Repeats a call while the rate limit refuses it (10007). */
export async function untilAdmitted<Answered extends { code: number }>(
  call: () => Promise<Answered>,
  pauseMs = 5,
): Promise<Answered> {
  let answer = await call()
  for (; answer.code === 10007; answer = await call()) await sleep(pauseMs)
  return answer
}
