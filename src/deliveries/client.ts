import type { LookupAddress } from 'node:dns'
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { limits } from '../vocabulary/limits.ts'
import { isPrivateAddress } from './callback-url.ts'
import { NameFault, Names } from './names.ts'
import { type AttemptResult, readRetryAfter, storable } from './rules.ts'

/** Answers every address of a name; `asker` is the application that wants to know. */
export type Resolve = (hostname: string, asker: string) => Promise<LookupAddress[]>

export interface CallbackClientOptions {
  /** Whether a callback may go to a private address. */
  privateCallbacks: 'refuse' | 'allow'
  resolve?: Resolve
  /** Name servers to ask in the place of the system's. */
  nameServers?: string[]
  /** Which addresses are private. */
  isPrivate?: (address: string) => boolean
  /** Certificates to trust in the place of the system's. */
  ca?: string
  timeoutMs?: number
}

export interface CallbackRequest {
  appId: string
  url: URL
  headers: Record<string, string>
  body: string
}

export interface CallbackClient {
  /** Sends one attempt. Undefined when the service stopped before it had an answer. */
  send(request: CallbackRequest): Promise<AttemptResult | undefined>
  /** Whether an attempt is under way. */
  isBusy(): boolean
  /** Abandons what is under way and closes every connection. */
  close(): void
}

class PrivateAddress extends Error {
  readonly code = 'PRIVATE_ADDRESS'
}

/**
 * The client of callbacks. A name is looked up once for each connection, by the function that the connection itself
 * asks, and what is answered there is what was checked: there is no second look-up that could answer otherwise.
 */
export function openCallbackClient(options: CallbackClientOptions): CallbackClient {
  const { privateCallbacks, nameServers, ca, timeoutMs = limits.attemptMs } = options
  const names = new Names(nameServers && { nameServers })
  const resolve = options.resolve ?? ((hostname, asker) => names.find(hostname, asker))
  const isPrivate = options.isPrivate ?? isPrivateAddress
  const isRefused = (address: string) => privateCallbacks === 'refuse' && isPrivate(address)

  const checkedLookup =
    (appId: string): LookupFunction =>
    (hostname, { all }, callback) => {
      resolve(hostname, appId)
        .then((addresses) => {
          const [first] = addresses
          if (first === undefined) throw new NameFault('ENOTFOUND')
          if (addresses.some(({ address }) => isRefused(address))) throw new PrivateAddress()
          // Out of the promise: what the connection throws is not the look-up's error.
          setImmediate(() => (all ? callback(null, addresses) : callback(null, first.address, first.family)))
        })
        .catch((error: NodeJS.ErrnoException) => callback(error, ''))
    }

  const connection = {
    timeout: limits.receiverIdleMs,
    noDelay: true,
    // How long one of several addresses is tried before the next one.
    autoSelectFamilyAttemptTimeout: 2_000,
    ...(ca === undefined ? {} : { ca }),
  }
  const kept = {
    http: new HttpAgent({ ...connection, keepAlive: true }),
    https: new HttpsAgent({ ...connection, keepAlive: true }),
  }
  const fresh = { http: new HttpAgent(connection), https: new HttpsAgent(connection) }
  const abandonAll = new Set<() => void>()
  let isClosed = false

  function exchange(
    { appId, url, headers, body }: CallbackRequest,
    agents: typeof kept,
    deadline: number,
  ): Promise<Exchange> {
    return new Promise((settle) => {
      const isTls = url.protocol === 'https:'
      const outgoing = (isTls ? requestHttps : requestHttp)({
        method: 'POST',
        hostname: hostOf(url),
        port: url.port,
        path: url.pathname + url.search,
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
        agent: isTls ? agents.https : agents.http,
        lookup: checkedLookup(appId),
      })
      const finish = (outcome: Exchange) => {
        clearTimeout(timer)
        abandonAll.delete(abandon)
        settle(outcome)
      }
      const abandon = () => {
        finish({ kind: 'abandoned' })
        outgoing.destroy()
      }
      let timer = setTimeout(() => {
        finish({ kind: 'failed', error: 'no answer in time', isStale: false })
        outgoing.destroy()
      }, deadline - performance.now())
      abandonAll.add(abandon)
      outgoing.on('response', (incoming) => {
        clearTimeout(timer)
        const answered = readBody(outgoing, incoming, finish)
        timer = setTimeout(answered, Math.min(limits.responseBodyMs, deadline - performance.now()))
      })
      // A server may close a kept connection just when it is used again; then the attempt never reached it.
      const failed = (error: string) => finish({ kind: 'failed', error, isStale: outgoing.reusedSocket })
      outgoing.on('error', (error: NodeJS.ErrnoException) => failed(wordsOf(error)))
      outgoing.on('close', () => failed('the connection was closed'))
      outgoing.end(body)
    })
  }

  return {
    async send(request) {
      const startedAt = performance.now()
      const deadline = startedAt + timeoutMs
      const result = (result: Partial<AttemptResult>): AttemptResult => ({
        responseStatus: null,
        error: null,
        response: null,
        retryAfterMs: null,
        ...result,
        durationMs: Math.round(performance.now() - startedAt),
      })
      if (isClosed) return undefined
      const host = hostOf(request.url)
      // An address in the URL is never looked up, so it is checked here.
      if (isIP(host) !== 0 && isRefused(host)) return result({ error: wordsOf(new PrivateAddress()) })
      let outcome = await exchange(request, kept, deadline)
      if (outcome.kind === 'failed' && outcome.isStale && !isClosed) outcome = await exchange(request, fresh, deadline)
      if (outcome.kind === 'abandoned') return undefined
      if (outcome.kind === 'failed') return result({ error: outcome.error })
      const { status, retryAfter, response } = outcome
      const isSuccess = status >= 200 && status < 300
      return result({
        responseStatus: status,
        error: isSuccess ? null : `answered ${status}`,
        response,
        retryAfterMs: readRetryAfter(status, retryAfter),
      })
    },

    isBusy: () => abandonAll.size > 0,

    close() {
      isClosed = true
      for (const abandon of [...abandonAll]) abandon()
      for (const agent of [...Object.values(kept), ...Object.values(fresh)]) agent.destroy()
    },
  }
}

type Exchange =
  | { kind: 'answered'; status: number; retryAfter: string | undefined; response: string }
  | { kind: 'failed'; error: string; isStale: boolean }
  | { kind: 'abandoned' }

/** Reads the beginning of an answer; a body that is longer or does not end costs its connection, not the attempt. */
function readBody(outgoing: ClientRequest, incoming: IncomingMessage, finish: (answered: Exchange) => void) {
  const pieces: Buffer[] = []
  let size = 0
  const answered = () => {
    const response = storable(Buffer.concat(pieces).subarray(0, limits.responseBytesKept).toString())
    finish({
      kind: 'answered',
      status: incoming.statusCode ?? 0,
      retryAfter: incoming.headers['retry-after'],
      response,
    })
  }
  const cut = () => {
    answered()
    outgoing.destroy()
  }
  incoming.on('data', (piece: Buffer) => {
    pieces.push(piece)
    size += piece.byteLength
    if (size > limits.responseBytesKept) cut()
  })
  incoming.on('end', answered)
  incoming.on('error', cut)
  incoming.on('close', answered)
  return cut
}

/** The name as certificates have it, or the address: without brackets, and without the dot that ends a whole name. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$|\.$/g, '')
}

/** Why there was no answer, in few words, for the people of the callback. */
function wordsOf(error: NodeJS.ErrnoException): string {
  const { code = 'unknown' } = error
  if (error instanceof PrivateAddress) return 'the address is private, local or reserved'
  if (!(error instanceof NameFault)) return `the connection failed (${code})`
  return code === 'ETIMEOUT' ? 'the name server did not answer' : `the name was not found (${code})`
}
