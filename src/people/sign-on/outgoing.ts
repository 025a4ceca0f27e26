import { lookup } from 'node:dns/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isPrivateAddress } from '../../deliveries/callback-url.ts'
import { Turns } from '../../runtime/turns.ts'
import { limits } from '../../vocabulary/limits.ts'

// Requests to the identity provider (contract §12.2). An admin chose its host, which may have any address. Other hosts
// that its discovery names must have public addresses, and connections go to the address that was checked.

const isLoopback = ({ hostname }: URL) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

export type OutgoingFetch = (
  url: string,
  init?: { method?: string; body?: unknown; headers?: unknown },
) => Promise<Response>

export function outgoingTo(issuer: URL): OutgoingFetch {
  const turns = new Turns({
    atOnce: limits.providerRequests,
    waiting: limits.providerRequestsWaiting,
    full: () => new Error('too many requests wait'),
  })

  return (address, init = {}) => {
    const url = new URL(address)
    const isIssuers = url.host === issuer.host
    if (isLoopback(issuer) ? !isIssuers : url.protocol !== 'https:') {
      return Promise.reject(
        new Error(
          `${url.origin} is not called: the provider’s addresses must be https, or on this machine like its issuer`,
        ),
      )
    }
    if (isLoopback(issuer) && url.protocol !== 'https:' && url.protocol !== 'http:') {
      return Promise.reject(new Error(`${url.protocol} is not called: the provider’s addresses must be http or https`))
    }
    return turns.run('', undefined, () => send(url, init, isIssuers))
  }
}

function send(url: URL, init: Parameters<OutgoingFetch>[1] & object, isIssuers: boolean): Promise<Response> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (!isIssuers && isIP(host) !== 0 && isPrivateAddress(host)) {
    return Promise.reject(new Error('the address is private, local or reserved'))
  }
  const body = init.body === undefined || init.body === null ? undefined : String(init.body)
  const headers = Object.fromEntries(new Headers((init.headers ?? {}) as Record<string, string>))
  return new Promise((resolve, reject) => {
    const outgoing = (url.protocol === 'https:' ? requestHttps : requestHttp)({
      method: init.method ?? 'GET',
      hostname: host,
      port: url.port,
      path: url.pathname + url.search,
      headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
      agent: false,
      lookup: checkedLookup(isIssuers),
    })
    const fail = (error: Error) => {
      clearTimeout(timer)
      outgoing.destroy()
      reject(error)
    }
    const timer = setTimeout(() => fail(new Error('no answer in time')), limits.providerMs)
    outgoing.on('error', fail)
    outgoing.on('close', () => fail(new Error('the connection was closed')))
    outgoing.on('response', (incoming) => {
      readWhole(incoming).then((bytes) => {
        clearTimeout(timer)
        resolve(responseOf(incoming, bytes))
        outgoing.destroy()
      }, fail)
    })
    outgoing.end(body)
  })
}

const checkedLookup =
  (isIssuers: boolean): LookupFunction =>
  (hostname, { all }, callback) => {
    lookup(hostname, { all: true })
      .then((addresses) => {
        const [first] = addresses
        if (first === undefined) throw new Error('the name was not found')
        if (!isIssuers && addresses.some(({ address }) => isPrivateAddress(address))) {
          throw new Error('the address is private, local or reserved')
        }
        setImmediate(() => (all ? callback(null, addresses) : callback(null, first.address, first.family)))
      })
      .catch((error: NodeJS.ErrnoException) => callback(error, ''))
  }

async function readWhole(incoming: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of incoming) {
    pieces.push(piece)
    size += piece.byteLength
    if (size > limits.providerBytes) throw new Error('the answer is too large')
  }
  return Buffer.concat(pieces)
}

/** Redirects are not followed. */
function responseOf({ statusCode = 0, headers }: IncomingMessage, bytes: Buffer): Response {
  const kept = new Headers()
  for (const name of ['content-type', 'www-authenticate'] as const) {
    const value = headers[name]
    if (typeof value === 'string') kept.set(name, value)
  }
  if (statusCode < 200 || statusCode > 599) throw new Error(`the answer has the status ${statusCode}`)
  const isEmpty = statusCode === 204 || statusCode === 304
  return new Response(isEmpty ? null : new Uint8Array(bytes), { status: statusCode, headers: kept })
}
