import type { Static, TObject, TSchema } from 'typebox'
import type { Caller } from '../callers/caller.ts'
import type { RequestKey } from '../database/idempotency.ts'
import type { Sql } from '../database/open.ts'
import type { Pending } from '../database/pending.ts'
import type { Operation } from '../vocabulary/operation.ts'
import type { FieldFault, Refusal } from '../vocabulary/refusals.ts'
import type { Admission } from '../vocabulary/roles.ts'
import type { JsonText, Reply } from './answer.ts'
import type { FileBody } from './body.ts'

export interface OperationRequest<Body = unknown, Query = unknown> {
  caller: Caller
  actor: string
  body: Body
  query: Query
  idempotency: RequestKey | undefined
  requestId: string
  isHead: boolean
  /** For as long as its work may begin; writes run in its transactions. */
  pending: Pending
  header(name: string): string | null
  /** The caller's own, behind trusted proxies as well. */
  sourceAddress(): string
  /** For a request that is not refused as a whole. */
  noteRefusedRow(refusal: Refusal, subject: string | null): void
}

/** `sql` is a connection for this request alone. */
export interface ReadRequest<Query = unknown> extends OperationRequest<undefined, Query> {
  sql: Sql
}

export interface FileRequest<Query = unknown> extends OperationRequest<undefined, Query> {
  file: FileBody
}

export interface StreamRequest<Query = unknown> extends OperationRequest<undefined, Query> {
  /** Waits for a turn. Throws 10002, 10003 and 10005 if the caller has lost its access meanwhile. */
  readNext<Answer>(read: (sql: Sql) => Promise<Answer>): Promise<Answer>
  /** Returns the function that ends the watch. */
  watchAccess(onLoss: (refusal: Refusal) => void): () => void
}

export interface Handler {
  operation: Operation
  run(
    request: OperationRequest & { sql?: Sql; file?: FileBody; readNext?: StreamRequest['readNext'] },
  ): Promise<unknown>
  /** If the query decides what is read: the operation whose callers alone may send it. */
  admission?: (query: unknown) => Admission
  /** Faults of headers that the operation takes; reported with those of the query. */
  headFaults?: (header: (name: string) => string | null) => FieldFault[]
  /** Of a GET: in a turn of reads, or in turns that it takes itself; by default only its response takes one. */
  reads?: 'now' | 'itself'
  isOutOfTurn?: boolean
  /** Owner of a request without a token, by what it says of itself; by default its source. */
  ownerOf?: (body: unknown, header: (name: string) => string | null) => string
  /** What a schema cannot express: fields that depend on each other or on a setting. Gets no `faulty` fields. */
  check?: (body: Record<string, unknown>, faulty: readonly string[]) => FieldFault[]
  /** The same of a query. */
  queryCheck?: (query: Record<string, unknown>, faulty: readonly string[]) => FieldFault[]
  /** Whether a request, by its query, is about no application, so that an operator names none. */
  isPlatforms?: (query: Record<string, unknown>) => boolean
  /** Added to refusals, if a standard asks for members of its own. */
  refusalMembers?: (refusal: Refusal) => Record<string, unknown>
}

type HandlerExtras<Body> = Pick<Handler, 'refusalMembers' | 'ownerOf'> & {
  check?: (body: Partial<Body>, faulty: readonly string[]) => FieldFault[]
}

interface QueryExtras<Query extends TObject> {
  queryCheck?: (query: Partial<Static<Query>>, faulty: readonly string[]) => FieldFault[]
}

/** The schemas check what a request holds, so its types end here. */
function handlerOf(operation: unknown, run: unknown, extras: object = {}): Handler {
  return { operation: operation as Operation, run: run as Handler['run'], ...extras }
}

/** A write runs in its owner's turn: it takes connections and locks only when earlier writes have ended. */
export function handle<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  run: (request: OperationRequest<Static<Body>, Static<Query>>) => Promise<Static<Data> | JsonText | Reply>,
  extras: HandlerExtras<Static<Body>> = {},
): Handler {
  return handlerOf(operation, run, extras)
}

/** For a write that waits for something else: for its lane, which takes turns itself, or for a receiver. */
export function handleOutOfTurn<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  run: (request: OperationRequest<Static<Body>, Static<Query>>) => Promise<Static<Data> | JsonText | Reply>,
  extras: HandlerExtras<Static<Body>> = {},
): Handler {
  return { ...handle(operation, run, extras), isOutOfTurn: true }
}

/** An application runs few reads at once. A read ends when the client has disconnected or has its response. */
export function read<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  run: (request: ReadRequest<Static<Query>>) => Promise<Static<Data> | JsonText>,
  extras: QueryExtras<Query> = {},
): Handler {
  return handlerOf(operation, run, { reads: 'now', ...extras })
}

/** For a response that waits for something first, and takes a connection only then. */
export function readAfter<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  wait: () => Promise<unknown>,
  run: (request: ReadRequest<Static<Query>>) => Promise<Static<Data> | JsonText>,
): Handler {
  const waitAndRead = async ({ readNext, ...request }: StreamRequest<Static<Query>>) => {
    await wait()
    return readNext((sql) => run({ ...request, sql }))
  }
  return handlerOf(operation, waitAndRead, { reads: 'itself' })
}

export function takeFile<Query extends TObject, Data extends TSchema>(
  operation: Operation<TObject, Query, Data>,
  run: (request: FileRequest<Static<Query>>) => Promise<Static<Data> | JsonText>,
  extras: Pick<Handler, 'isPlatforms'> = {},
): Handler {
  return handlerOf(operation, run, extras)
}

/** For a response that takes its turns itself, such as a file that is read from the database a page at a time. */
export function stream<Query extends TObject, Data extends TSchema>(
  operation: Operation<TObject, Query, Data>,
  run: (request: StreamRequest<Static<Query>>) => Promise<Reply>,
  extras: { admission?: (query: Static<Query>) => Admission; headFaults?: Handler['headFaults'] } = {},
): Handler {
  return handlerOf(operation, run, { reads: 'itself', ...extras })
}
