/** A request as both runtimes can give it without a conversion. */
export interface HttpRequest {
  method: string
  /** The path without the query, with its percent-encoding: every known path is plain ASCII. */
  path: string
  /** The query without the question mark. */
  query: string
  /** The version of HTTP: 1.1 or 1.0. */
  version: string
  /** `x-forwarded-proto` is the client's scheme, and null where the peer is no trusted proxy. */
  header(name: string): string | null
  /** The address of the other end of the connection: a caller's own, or a proxy's. */
  peerAddress(): string
  /** Calls back once, when the caller has closed the connection before the end of its answer. */
  onHangUp(listener: () => void): void
  /** Whether the caller has closed the connection before the end of its answer. */
  isGone(): boolean
  /** Reads the whole body. Throws `BodyTooLarge` past `limitBytes`, and when the request was answered before. */
  body(limitBytes: number): Promise<Uint8Array>
  /** Yields the body as it arrives, no faster than it is read. Throws when it breaks off. */
  stream(): AsyncIterable<Uint8Array>
}

/**
 * A response that is produced while it is sent, no faster than the caller reads it. If it throws, the connection is
 * closed.
 */
export type Streamed = AsyncIterable<Uint8Array>

export interface HttpAnswer {
  status: number
  headers: Record<string, string>
  /** Each becomes a `Set-Cookie` header of its own. */
  cookies?: string[]
  body: string | Uint8Array | Streamed
  /** The body lasts until its caller leaves: a stop of the service ends it, and does not wait for it. */
  isLive?: boolean
  /** When this is aborted, the connection of a streamed body is closed, even if its reader reads nothing. */
  cut?: AbortSignal
}

/** Whether an answer is made while it is sent. */
export function isStreamed(body: HttpAnswer['body']): body is Streamed {
  return typeof body === 'object' && Symbol.asyncIterator in body
}

export type HttpHandler = (request: HttpRequest) => Promise<HttpAnswer>

export class BodyTooLarge extends Error {}
