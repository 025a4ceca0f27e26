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

// An operation and the function that carries it out.

/** A handler's input: checked, from a caller of a kind that the operation admits. */
export interface OperationRequest<Body = unknown, Query = unknown> {
  caller: Caller
  /** The actor for the event log. */
  actor: string
  body: Body
  query: Query
  /** The idempotency key of a write, with the SHA-256 of its body. */
  idempotency: RequestKey | undefined
  requestId: string
  /** Whether the response has no body, because the method is HEAD. */
  isHead: boolean
  /** The request as long as its work may begin; writes run in its transactions. */
  pending: Pending
  header(name: string): string | null
  /** The caller's address, behind trusted proxies as well. */
  sourceAddress(): string
  /** Reports a refused row of a request that is not refused as a whole. */
  noteRefusedRow(refusal: Refusal, subject: string | null): void
}

/** The input of a handler that reads: with a connection for this request alone. */
export interface ReadRequest<Query = unknown> extends OperationRequest<undefined, Query> {
  sql: Sql
}

/** The input of a handler whose body is a file: its hash is known at the file's end. */
export interface FileRequest<Query = unknown> extends OperationRequest<undefined, Query> {
  /** The file, piece by piece. */
  file: FileBody
}

/** The input of a handler that streams its response: with connections for one read after the other. */
export interface StreamRequest<Query = unknown> extends OperationRequest<undefined, Query> {
  /**
   * Runs a read when its turn has come. Throws 10002, 10003 and 10005 when the caller has lost its access meanwhile.
   */
  readNext<Answer>(read: (sql: Sql) => Promise<Answer>): Promise<Answer>
  /** Calls back when the caller has lost its access. Returns the function that ends this. */
  watchAccess(onLoss: (refusal: Refusal) => void): () => void
}

export interface Handler {
  operation: Operation
  run(
    request: OperationRequest & { sql?: Sql; file?: FileBody; readNext?: StreamRequest['readNext'] },
  ): Promise<unknown>
  /** The operation whose callers alone may make a request with this query, where the query decides what is read. */
  admission?: (query: unknown) => Admission
  /** Checks the headers that the operation takes; their faults are reported with those of the query. */
  headFaults?: (header: (name: string) => string | null) => FieldFault[]
  /** Whether the handler gets a connection to read with. */
  reads?: boolean
  /** Whether the handler of a write does not run in its owner's turn (`handleOutOfTurn`). */
  isOutOfTurn?: boolean
  /** Names the owner of a request that needs no token, by what it says of itself; otherwise its source is its owner. */
  ownerOf?: (body: unknown, header: (name: string) => string | null) => string
  /**
   * Checks what a schema cannot express: members that depend on each other or on a setting. It gets the body without
   * its `faulty` members.
   */
  check?: (body: Record<string, unknown>, faulty: readonly string[]) => FieldFault[]
  /** Adds to the body of each of the operation's refusals, where a standard asks for members of its own. */
  refusalMembers?: (refusal: Refusal) => Record<string, unknown>
}

type HandlerExtras<Body> = Pick<Handler, 'refusalMembers' | 'ownerOf'> & {
  check?: (body: Partial<Body>, faulty: readonly string[]) => FieldFault[]
}

/**
 * Joins an operation and the function that carries it out; the contract's types reach the function. A write runs in the
 * turn of its owner, so that it takes connections and locks only when the owner's writes before it have ended.
 */
export function handle<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  run: (request: OperationRequest<Static<Body>, Static<Query>>) => Promise<Static<Data> | JsonText | Reply>,
  extras: HandlerExtras<Static<Body>> = {},
): Handler {
  return {
    operation: operation as unknown as Operation,
    run: run as Handler['run'],
    ...(extras as Partial<Handler>),
  }
}

/**
 * Like `handle`, for a write that waits for something else than its owner's other writes: for its lane, which takes
 * turns itself, or for a receiver of callbacks. Its other transactions take their turns by `pending`.
 */
export function handleOutOfTurn<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  run: (request: OperationRequest<Static<Body>, Static<Query>>) => Promise<Static<Data> | JsonText | Reply>,
  extras: HandlerExtras<Static<Body>> = {},
): Handler {
  return { ...handle(operation, run, extras), isOutOfTurn: true }
}

/**
 * Joins an operation and the function that reads its response from the database. An application runs few reads at once;
 * the read is cancelled when the client has disconnected or has already got a response.
 */
export function read<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  run: (request: ReadRequest<Static<Query>>) => Promise<Static<Data> | JsonText>,
): Handler {
  return { operation: operation as unknown as Operation, run: run as Handler['run'], reads: true }
}

/** Like `read`, for a response that waits for something first, and takes a connection only then. */
export function readAfter<Body extends TObject, Query extends TObject, Data extends TSchema>(
  operation: Operation<Body, Query, Data>,
  wait: () => Promise<unknown>,
  run: (request: ReadRequest<Static<Query>>) => Promise<Static<Data> | JsonText>,
): Handler {
  const waitAndRead = async ({ readNext, ...request }: StreamRequest<Static<Query>>) => {
    await wait()
    return readNext((sql) => run({ ...request, sql }))
  }
  return { operation: operation as unknown as Operation, run: waitAndRead as Handler['run'] }
}

/** Joins an operation whose body is a file and the function that takes it. */
export function takeFile<Query extends TObject, Data extends TSchema>(
  operation: Operation<TObject, Query, Data>,
  run: (request: FileRequest<Static<Query>>) => Promise<Static<Data> | JsonText>,
): Handler {
  return { operation: operation as unknown as Operation, run: run as Handler['run'] }
}

/** Joins an operation and the function that answers it with a file, which reads the database a page at a time. */
export function stream<Query extends TObject, Data extends TSchema>(
  operation: Operation<TObject, Query, Data>,
  run: (request: StreamRequest<Static<Query>>) => Promise<Reply>,
  extras: { admission?: (query: Static<Query>) => Admission; headFaults?: Handler['headFaults'] } = {},
): Handler {
  return { operation: operation as unknown as Operation, run: run as Handler['run'], ...(extras as Partial<Handler>) }
}
