import type { LookupAddress } from 'node:dns'
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { limits } from '../vocabulary/limits.ts'
import { isPrivateAddress } from './callback-url.ts'
import { Names, nameFault } from './names.ts'
import { type AttemptResult, readRetryAfter, storable } from './rules.ts'

/** `asker` is the application on whose behalf the name is looked up. */
export type Resolve = (hostname: string, asker: string) => Promise<LookupAddress[]>

export interface CallbackClientOptions {
  privateCallbacks: 'refuse' | 'allow'
  resolve?: Resolve
  nameServers?: string[]
  isPrivate?: (address: string) => boolean
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
  send(request: CallbackRequest): Promise<AttemptResult | undefined>
  isBusy(): boolean
  close(): void
}

const privateAddress = 'PRIVATE_ADDRESS'

/** Each connection looks its host up once, and connects to the very addresses that were checked. */
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
          if (first === undefined) throw nameFault('ENOTFOUND')
          if (addresses.some(({ address }) => isRefused(address))) throw nameFault(privateAddress)
          // Outside the promise, whose `catch` would take an exception of the connection for one of the look-up.
          setImmediate(() => (all ? callback(null, addresses) : callback(null, first.address, first.family)))
        })
        .catch((error: NodeJS.ErrnoException) => callback(error, ''))
    }

  const connection = {
    timeout: limits.receiverIdleMs,
    noDelay: true,
    // How long each of several addresses is tried.
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
    return new Promise((done) => {
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
        done(outcome)
      }
      const abandon = () => {
        finish({ kind: 'abandoned' })
        outgoing.destroy()
      }
      const timeOut = () => {
        failed('no answer in time')
        outgoing.destroy()
      }
      let timer = setTimeout(timeOut, deadline - performance.now())
      abandonAll.add(abandon)
      // Once there is a status, the receiver has decided, whatever follows: bad headers, or a closed connection.
      let answered: (() => void) | undefined
      let head = ''
      const hear = (piece: Buffer) => {
        if (head.length < statusLineBytes) head += piece.toString('latin1', 0, statusLineBytes)
      }
      // A server may close a kept-alive connection just as it is reused; then the request never reached it.
      const failed = (error: string) => {
        const status = statusOf(head)
        if (answered !== undefined) answered()
        else if (status !== undefined) finish({ kind: 'answered', status, retryAfter: undefined, response: '' })
        else finish({ kind: 'failed', error, isStale: outgoing.reusedSocket })
      }
      outgoing.on('socket', (socket) => {
        socket.prependListener('data', hear)
        outgoing.once('close', () => socket.off('data', hear))
      })
      outgoing.on('response', (incoming) => {
        clearTimeout(timer)
        answered = readBody(outgoing, incoming, finish)
        timer = setTimeout(answered, Math.min(limits.responseBodyMs, deadline - performance.now()))
      })
      outgoing.on('error', (error) => failed(describeFailure(error)))
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
      // A URL with an IP address causes no look-up, so the address is checked here.
      if (isIP(host) !== 0 && isRefused(host)) return result({ error: describeFailure(nameFault(privateAddress)) })
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

/** A longer or endless body closes the connection, but the attempt counts. */
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

/** So many bytes of a response hold its status: `HTTP/1.1 200 `. */
const statusLineBytes = 13

function statusOf(head: string): number | undefined {
  const [, status] = /^HTTP\/1\.[01] ([2-5]\d\d)[ \r\n]/.exec(head) ?? []
  return status === undefined ? undefined : Number(status)
}

/** The host as certificates have it: without brackets and without a final dot. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$|\.$/g, '')
}

function describeFailure(error: unknown): string {
  if (!nameFault.is(error)) return `the connection failed (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`
  if (error.detail === privateAddress) return 'the address is private, local or reserved'
  return error.detail === 'ETIMEOUT' ? 'the name server did not answer' : `the name was not found (${error.detail})`
}
