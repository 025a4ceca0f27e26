import { faultKind } from '../vocabulary/faults.ts'

/** A request as both runtimes can give it without a conversion. */
export interface HttpRequest {
  method: string
  /** Without the query, percent-encoded: every known path is plain ASCII. */
  path: string
  /** Without the question mark. */
  query: string
  version: string
  /** `x-forwarded-proto` is null if the peer is no trusted proxy. */
  header(name: string): string | null
  /** The address of the other end of the connection: a caller's own, or a proxy's. */
  peerAddress(): string
  /** Once, when the caller has closed the connection before the end of its response. */
  onHangUp(listener: () => void): void
  isGone(): boolean
  /** Undefined if some of the body is still to come. */
  arrivedBody(): Uint8Array | undefined
  /** Throws `bodyTooLarge` past `limitBytes`, and if the request was answered before. */
  body(limitBytes: number): Promise<Uint8Array>
  /** The body as it arrives, no faster than it is read. Throws if it breaks off. */
  stream(): AsyncIterable<Uint8Array>
}

/** Produced while it is sent, no faster than the caller reads it. If it throws, the connection is closed. */
export type Streamed = AsyncIterable<Uint8Array>

/** Lasts until its caller leaves: a stop of the service ends it, and does not wait for it. */
export interface Live {
  /** Asks for the next piece, or null at the end. It is asked for when the caller has taken the one before. */
  pull(take: (piece: Uint8Array | null) => void): void
}

export interface HttpAnswer {
  status: number
  headers: Record<string, string>
  cookies?: string[]
  body: string | Uint8Array | Streamed | Live
  /** When aborted, closes the connection of a streamed body, even if its reader reads nothing. */
  cut?: AbortSignal
}

export function isStreamed(body: HttpAnswer['body']): body is Streamed {
  return typeof body === 'object' && Symbol.asyncIterator in body
}

/** Whether its length isn't known when it begins. */
export function comesInPieces(body: HttpAnswer['body']): body is Streamed | Live {
  return isStreamed(body) || isLive(body)
}

export function isLive(body: HttpAnswer['body']): body is Live {
  return typeof body === 'object' && 'pull' in body
}

export type HttpHandler = (request: HttpRequest) => Promise<HttpAnswer>

export const bodyTooLarge = faultKind<number>('bodyTooLarge', (limit) => `over ${limit} bytes`)
