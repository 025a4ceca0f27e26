import type { Answered, Fetch } from './exchange.ts'
import type { FileAnswer, FileInput } from './file.ts'

/** How requests are sent: options of the client, and of each call. */
export interface SendOptions {
  /** How often a request is repeated that got no response, or one that a repetition can change; 4 by default. */
  retries?: number | undefined
  /** How long one request may take, in milliseconds; 60,000 by default. Not for uploads. */
  timeoutMs?: number | undefined
  /** Sends the requests in place of the global `fetch`: through a proxy, with tracing, in tests. */
  fetch?: Fetch | undefined
}

/** Options of a call, beside its input. */
export interface CallOptions extends SendOptions {
  /** Aborts the call, also between two attempts. */
  signal?: AbortSignal | undefined
  /** For idempotent writes: your own key, to repeat the call after a restart. By default each call has a new one. */
  idempotencyKey?: string | undefined
  /** For updates: the entity tag that the record must still have. */
  ifMatch?: string | undefined
}

type Call<Input, Answer> = object extends Input
  ? (input?: Input, options?: CallOptions) => Promise<Answer>
  : (input: Input, options?: CallOptions) => Promise<Answer>

/**
 * Calls an operation with its body or query, and returns the response's `data`. Throws `ForecourtError`. `raw` is the same
 * call, which returns what the headers say too: `{ data, etag, requestId, replayed, rateLimit }`.
 */
export type Method<Input, Data> = Call<Input, Data> & { raw: Call<Input, Answered<Data>> }

/** A page operation: the method itself returns one page. */
export type PageMethod<Query, Page extends { list: unknown[] }> = Method<Query, Page> & {
  /** Every matching row, by cursor: a row that exists throughout is never skipped. */
  all(query?: Omit<Query, 'pageNo' | 'cursor'>, options?: CallOptions): AsyncGenerator<Page['list'][number], void>
}

/** Options of a stream. */
export type StreamOptions = Pick<CallOptions, 'signal' | 'timeoutMs' | 'fetch'>

/** A page operation whose rows can be followed. */
export interface Followed<Query, Row> {
  /**
   * The rows as they are written, from `afterId` on, else from now on. Never ends by itself: it connects again from the
   * last id when the connection or the service ends. Throws refusals that no retry can change, and the signal's reason
   * when it is aborted.
   */
  stream(query?: Query, options?: StreamOptions): AsyncGenerator<Row, never>
}

/**
 * A file of rows, and the encoding of the bytes of a CSV file: `utf-8` or `gb18030`, for one that can be read as both. A
 * string is always sent as UTF-8.
 */
export interface SentFile {
  file: FileInput
  charset?: string | undefined
}

/** Calls an operation that takes a file of rows in addition to its query. */
export type FileMethod<Query, Data> = Method<Query & SentFile, Data>

/** Calls an operation that responds with a file. Resolves when the headers have arrived. */
export type ExportMethod<Query> = Method<Query, FileAnswer>
