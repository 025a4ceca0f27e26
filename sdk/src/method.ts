import type { FileAnswer, FileInput } from './file.ts'

/** Beside what an operation takes. */
export interface CallOptions {
  /** Ends the call, also between two attempts. */
  signal?: AbortSignal | undefined
  /** Of a write that may be sent twice: your own, to send it again after a restart. Without one each call has its own. */
  idempotencyKey?: string | undefined
  /** The entity tag that the record must still have: of updates. */
  ifMatch?: string | undefined
}

/** A call of one operation: takes its body or its query, answers `data`. Throws `ForecourtError`. */
export type Method<Input, Data> = object extends Input
  ? (input?: Input, options?: CallOptions) => Promise<Data>
  : (input: Input, options?: CallOptions) => Promise<Data>

/** A page operation: as a method it answers one page. */
export type PageMethod<Query, Page extends { list: unknown[] }> = Method<Query, Page> & {
  /** Every row that fits, by cursor: nothing that exists throughout is skipped. */
  all(query?: Omit<Query, 'pageNo' | 'cursor'>, options?: CallOptions): AsyncGenerator<Page['list'][number], void>
}

/** A call that sends a file of rows beside its query. */
export type FileMethod<Query, Data> = (input: Query & { file: FileInput }, options?: CallOptions) => Promise<Data>

/** A call that answers a file, once its first bytes are there. */
export type ExportMethod<Query> = Method<Query, FileAnswer>
