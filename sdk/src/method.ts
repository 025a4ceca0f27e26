import type { FileAnswer, FileInput } from './file.ts'

/** Options of a call, beside its input. */
export interface CallOptions {
  /** Aborts the call, also between two attempts. */
  signal?: AbortSignal | undefined
  /** For idempotent writes: your own key, to repeat the call after a restart. By default each call has a new one. */
  idempotencyKey?: string | undefined
  /** For updates: the entity tag that the record must still have. */
  ifMatch?: string | undefined
  /** Receives the entity tag of the answer, for the `ifMatch` of a later update; null if the answer has none. */
  onEtag?: ((etag: string | null) => void) | undefined
}

/** Calls an operation with its body or query, and returns the response's `data`. Throws `ForecourtError`. */
export type Method<Input, Data> = object extends Input
  ? (input?: Input, options?: CallOptions) => Promise<Data>
  : (input: Input, options?: CallOptions) => Promise<Data>

/** A page operation: the method itself returns one page. */
export type PageMethod<Query, Page extends { list: unknown[] }> = Method<Query, Page> & {
  /** Every matching row, by cursor: a row that exists throughout is never skipped. */
  all(query?: Omit<Query, 'pageNo' | 'cursor'>, options?: CallOptions): AsyncGenerator<Page['list'][number], void>
}

/** A file of rows, and the encoding of a CSV file: `utf-8` or `gb18030`, for one that can be read as both. */
interface SentFile {
  file: FileInput
  charset?: string | undefined
}

/** Calls an operation that takes a file of rows in addition to its query. */
export type FileMethod<Query, Data> = (input: Query & SentFile, options?: CallOptions) => Promise<Data>

/** Calls an operation that responds with a file. Resolves when the headers have arrived. */
export type ExportMethod<Query> = Method<Query, FileAnswer>
