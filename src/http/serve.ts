import { createHash, randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { permitted } from '../callers/access-control.ts'
import { type ApplicationCaller, actorOf, type Caller } from '../callers/caller.ts'
import { requireStillActingFor } from '../callers/permissions.ts'
import { databaseRefusal, failureClass } from '../database/failures.ts'
import type { RequestKey } from '../database/idempotency.ts'
import { type KeyUsage, ownerOf as usageOwnerOf } from '../database/usage.ts'
import type { Deadlines } from '../runtime/deadlines.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { Operation } from '../vocabulary/operation.ts'
import { type FieldFault, Refusal, refusals, unavailable } from '../vocabulary/refusals.ts'
import type { Admission } from '../vocabulary/roles.ts'
import { type AccessWatch, endWithAccess } from './access-watch.ts'
import { compress, isLarge, JsonText, Replayed, Reply, render, renderRefusal } from './answer.ts'
import { BodyReader, bodyTooSlow, FileBody, requireMediaType } from './body.ts'
import type { BoundedLines, LineKind } from './bounded-lines.ts'
import type { Handler, OperationRequest, StreamRequest } from './handler.ts'
import { headFault } from './head-fault.ts'
import { preferredLanguage } from './language.ts'
import { type HttpAnswer, type HttpHandler, type HttpRequest, isStreamed } from './message.ts'
import { PendingRequest, type Shares } from './pending-request.ts'
import { noteRefusedRequest } from './refusal-lines.ts'
import { noteFaults, noting, readBody, readQuery, refusalOf, requestKeyOf } from './request-parts.ts'
import { type Route, routeTable, unknownTarget } from './route-table.ts'

// From a request to its response, for every operation (decision 0017).
// The service finds the route of a request, admits it (who calls, and may they), reads its body or file and its query,
// runs the handler and responds. A refusal can end the request at each step. A deadline runs throughout: past it the
// response is 50003, and what the handler still returns is dropped. During a file or a stream the caller's access is
// checked again and again.
// Never: a handler for a caller that was not admitted or for a body that was not checked; two responses to one request;
// the words of an unexpected error in a response; a refused write that is not noted.

export interface RefusedWrite {
  refusal: Refusal
  operation: Operation
  requestId: string
  /** The caller; undefined if the request was refused before its caller was known. */
  caller: Caller | undefined
  /**
   * The body as it was sent, possibly faulty; of an operation that takes a file, its query. Undefined when it was not
   * read.
   */
  input: unknown
  /** The record that a refused row names, null if it names none; absent for a whole request, whose input names the record. */
  subject?: string | null
}

export interface ServeOptions extends Shares {
  /** Records a refused write. Must not throw, and the response does not wait for it. */
  noteRefusal(refused: RefusedWrite): void
  /** Returns the caller of an operation. Throws for one that may not call it. */
  admit(operation: Operation, request: HttpRequest): Caller | Promise<Caller>
  /** Returns the caller, or a promise of it when it must be looked up. */
  authenticate(request: HttpRequest): Caller | Promise<Caller>
  accessWatch: AccessWatch
  addRateHeaders(caller: ApplicationCaller, headers: Record<string, string>): void
  deadlines: Deadlines
  metrics: Metrics
  log: Logger
  /** Logs what clients can cause as often as they like. */
  lines: BoundedLines
  /** Returns the address that a request came from. */
  sourceOf(request: HttpRequest): string
  /** A request that has waited for the database for this long is answered with 50003. */
  answerTimeoutMs: number
  /** A body that has not arrived by then is refused. */
  bodyTimeoutMs: number
  /** Counts the idempotency keys that are stored. */
  keyUsage: KeyUsage
}

const tokenTrustedForMs = 50
const saneRequestId = /^[\w.:-]{1,128}$/

/** Turns the operations and their handlers into one function from request to answer. */
export function serve(handlers: readonly Handler[], options: ServeOptions): HttpHandler {
  const routes = routeTable(handlers)
  const { inFlight } = options
  const bodies = new BodyReader(inFlight.most)
  const logsRequests = options.log.isLevelEnabled('debug')

  return (request) => {
    const startedAt = performance.now()
    const requestId = requestIdOf(request)
    const route = routes.get(request.path)?.get(request.method === 'HEAD' ? 'GET' : request.method)

    // One promise for each request: every further one would cost as much as the routing.
    return new Promise((resolve, reject) => {
      const at = startedAt + (route?.handler.operation.answerTimeoutMs ?? options.answerTimeoutMs)
      const pending = new PendingRequest(request, requestId, at, options, bodies)
      pending.expire = () => {
        refuse(pending.late())
        pending.abort()
      }
      function finish(answer: HttpAnswer, code: number): void {
        if (pending.isAnswered) return
        pending.isAnswered = true
        options.deadlines.leave(pending)
        answer.headers['x-request-id'] = requestId
        // A response can hold secrets, set-up links, and names and telephone numbers of people. Only its caller may
        // store it.
        answer.headers['cache-control'] ??= 'no-store'
        if (pending.caller?.kind === 'application') options.addRateHeaders(pending.caller, answer.headers)
        observe(route, answer.status, code, requestId, performance.now() - startedAt)
        dropBodyOfHead(request, answer)
        if (isLarge(answer)) compress(answer, request).then(resolve, reject)
        else resolve(answer)
      }
      function tell(refusal: Refusal): void {
        const { caller } = pending
        const operation = route?.handler.operation
        if (operation?.method === 'POST') {
          const input = inputOf(operation, request, pending.body)
          options.noteRefusal({ refusal, operation, requestId, caller, input })
        }
        const address = () => options.sourceOf(request)
        noteRefusedRequest(options.lines, { refusal, requestId, operation, caller, address })
      }
      function refuse(error: unknown): void {
        try {
          const refusal = asRefusal(error, requestId, route, options)
          if (refusal.refusal === 'tooManyRequests' && refusal.appId) options.metrics.countRateLimited(refusal.appId)
          if (!pending.isAnswered) tell(refusal)
          const language = preferredLanguage(request.header('accept-language'))
          finish(
            renderRefusal(refusal, language, route?.handler.refusalMembers?.(refusal)),
            refusals[refusal.refusal].code,
          )
        } catch (fault) {
          reject(fault)
        }
      }

      const fault = headFault(request)
      if (fault !== undefined) return refuse(fault)
      if (route === undefined) return refuse(unknownTarget(routes.get(request.path)))
      // Probes get a response even if the service is overloaded.
      const isProbe = !request.path.startsWith('/api/')
      if (inFlight.isFull && !isProbe) return refuse(unavailable())
      const place = isProbe ? 0 : 1
      inFlight.count += place
      // A request that timed out with 503 counts until its work ends: the bound is on work, not on waiting.
      const leave = () => {
        inFlight.count -= place
        pending.leave()
      }
      options.deadlines.enter(pending)
      answerFor(route, request, options, bodies, pending).then(
        (outcome) => {
          leave()
          try {
            finish(render(outcome), 0)
          } catch (fault) {
            refuse(fault)
          }
        },
        (error: unknown) => {
          leave()
          refuse(error)
        },
      )
    })
  }

  function observe(route: Route | undefined, status: number, code: number, requestId: string, milliseconds: number) {
    const operation = route?.handler.operation.id ?? 'none'
    options.metrics.observe(operation, code, milliseconds / 1000)
    if (logsRequests) options.log.debug({ requestId, operation, status, code, milliseconds }, 'request')
  }
}

/** What names the records of a write: its body, or the query beside a file. */
function inputOf({ takes }: Operation, { query }: HttpRequest, body: unknown): unknown {
  return takes === undefined ? body : Object.fromEntries(new URLSearchParams(query))
}

/** The answer to a HEAD has no body, so its file is not started; nobody knows its length. */
function dropBodyOfHead({ method }: HttpRequest, answer: HttpAnswer): void {
  if (method === 'HEAD' && isStreamed(answer.body)) answer.body = nothing()
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** The caller's own, when it is well-formed. A generated id is random, so that it reveals neither order nor volume. */
export function requestIdOf(request: HttpRequest): string {
  const sent = request.header('x-request-id')
  return sent !== null && saneRequestId.test(sent) ? sent : randomUUID()
}

/** Checks in the contract's order: the token, then the request, then what the operation itself decides. */
async function answerFor(
  route: Route,
  request: HttpRequest,
  options: ServeOptions,
  bodies: BodyReader,
  pending: PendingRequest,
) {
  const { operation, ownerOf } = route.handler
  const admitted = admit(route, request, options, pending)
  const caller = admitted instanceof Promise ? await admitted : admitted
  pending.caller = caller
  const head = {
    requestId: pending.requestId,
    pending,
    isHead: request.method === 'HEAD',
    header: (name: string) => request.header(name),
    sourceAddress: () => options.sourceOf(request),
    noteRefusedRow(refusal: Refusal, subject: string | null) {
      const input = inputOf(operation, request, pending.body)
      options.noteRefusal({ refusal, operation, requestId: pending.requestId, caller, input, subject })
    },
  }
  const actor = operation.callers.length === 0 ? 'anyone' : actorOf(caller)
  options.reads.note(actor)
  const query = readQuery(route, request, caller)
  if (operation.method === 'GET' || operation.takes !== undefined) {
    const answer = operation.method === 'GET' ? answerRead : answerFile
    return answer(route, request, options, pending, { caller, actor, body: undefined, query, ...head })
  }

  const mediaType = requireMediaType(request, operation)
  pending.at = performance.now() + options.bodyTimeoutMs
  pending.late = bodyTooSlow
  const askedAt = performance.now()
  const bytes = await bodies.read(request, operation, pending)
  pending.at = performance.now() + (operation.answerTimeoutMs ?? options.answerTimeoutMs)
  pending.late = unavailable
  // A body may take seconds, and a caller can lose its access meanwhile.
  await requireStill(route.handler.operation, request, options, askedAt, caller, undefined)
  const faults: FieldFault[] = []
  const reading = noting(faults, () => readBody(route, bytes, mediaType, pending))
  const body = reading instanceof Promise ? await reading.catch((error) => noteFaults(faults, error)) : reading
  const key = operation.idempotent ? request.header('idempotency-key') : null
  const idempotency = key === null ? undefined : noting(faults, () => requestKeyOf(route, key))
  if (faults.length > 0) throw refusalOf(faults, route.appIdIn === 'body', caller, pending.body)
  // A stranger owns what it asks for from the same address in the name that it gives.
  if (ownerOf !== undefined) pending.own(`${options.sourceOf(request)} ${ownerOf(body, head.header)}`)
  const asked = { caller, actor, body, query, idempotency, ...head }
  if (idempotency === undefined) return runWrite(route, asked, request, options)
  idempotency.bodyHash = createHash('sha256').update(bytes).digest('base64')
  return keyed(options, actor, idempotency, () => runWrite(route, asked, request, options))
}

/** What an answer takes that is an object, for which its length is not known here. */
const answerBytes = 1_000

/** Runs a write whose response is kept for its key, and counts what is kept. Throws 10007 when there is no room for it. */
async function keyed<Answer>(
  { keyUsage }: ServeOptions,
  actor: string,
  idempotency: RequestKey,
  run: () => Promise<Answer>,
): Promise<Answer | Replayed> {
  const owner = usageOwnerOf(actor)
  if (owner !== undefined) await keyUsage.requireRoom(owner, idempotency)
  const outcome = await run()
  if (idempotency.isReplayed) return new Replayed(outcome)
  const { keptRows = 0 } = idempotency
  // A batch keeps its rows' responses, and once more all of them together.
  const bytes = outcome instanceof JsonText ? outcome.text.length * (keptRows === 0 ? 1 : 2) : answerBytes
  if (owner !== undefined) keyUsage.note(owner, keptRows + 1, bytes)
  return outcome
}

/** Finds the caller, and counts the request for its owner. */
function admit(route: Route, request: HttpRequest, options: ServeOptions, pending: PendingRequest) {
  const { operation, ownerOf } = route.handler
  const isProbe = !request.path.startsWith('/api/')
  const known = (caller: Caller) => {
    // A refusal of one who is known names its caller.
    pending.caller = caller
    if (!isProbe) pending.own(actorOf(caller))
    return caller
  }
  if (operation.callers.length === 0 && !isProbe) {
    pending.enterStrangers()
    // A name that the body gives says more: a source may be a proxy with all clients behind it.
    if (ownerOf === undefined) pending.own(options.sourceOf(request))
  }
  const admitted = options.admit(operation, request)
  if (operation.callers.length === 0) return admitted
  if (!(admitted instanceof Promise)) return known(admitted)
  if (!isProbe) pending.enterStrangers()
  return admitted.then(known).finally(() => pending.leaveStrangers())
}

/**
 * Runs a write in the turn of its owner, before it takes a connection. One that is over by then is dropped. The turn may
 * have been waited for, so the caller's access is checked again.
 */
function runWrite(
  route: Route,
  asked: OperationRequest & { pending: PendingRequest },
  request: HttpRequest,
  options: ServeOptions,
) {
  const { operation, run, isOutOfTurn } = route.handler
  if (isOutOfTurn || operation.callers.length === 0) return run(asked)
  const { caller, pending } = asked
  const askedAt = performance.now()
  return pending.inTurn(async () => {
    await requireStill(operation, request, options, askedAt, caller, undefined)
    if (pending.isOver) throw unavailable()
    return run(asked)
  })
}

/** Answers a GET. The caller's access is checked again before each read and while the answer is sent. Throws 10003. */
async function answerRead(
  route: Route,
  request: HttpRequest,
  options: ServeOptions,
  pending: PendingRequest,
  { caller, ...asked }: Omit<OperationRequest, 'idempotency'>,
): Promise<unknown> {
  const named = (asked.query as { appId?: string | null } | undefined)?.appId
  const askedAt = performance.now()
  const { operation, admission } = route.handler
  const narrower = admission?.(asked.query)
  if (narrower !== undefined) permitted(narrower, caller)
  const still = () => requireStill(narrower ?? operation, request, options, askedAt, caller, named)
  const readNext: StreamRequest['readNext'] = async (read) => {
    await still()
    return options.reads.run(asked.actor, pending.signal, read)
  }
  const watch: StreamRequest['watchAccess'] = (onLoss) =>
    options.accessWatch.watch(
      request,
      caller,
      (now) => requireStillActingFor(caller, permitted(narrower ?? operation, now), named),
      onLoss,
    )
  const outcome = await answerGet(
    route.handler,
    { caller, idempotency: undefined, readNext, watchAccess: watch, ...asked } as OperationRequest,
    options,
  )
  if (outcome instanceof Reply) {
    // A live response watches by itself, and must begin, so that it ends.
    if (outcome.answer.isLive) return outcome
    endWithAccess(outcome, watch)
  }
  // A read may wait for seconds; writes look again under their locks.
  await still()
  return outcome
}

/** Passes a file on as it arrives, and checks the caller's access again while it arrives and at its end. */
async function answerFile(
  route: Route,
  request: HttpRequest,
  options: ServeOptions,
  pending: PendingRequest,
  asked: Omit<OperationRequest, 'idempotency'>,
): Promise<unknown> {
  const { operation, run } = route.handler
  const askedAt = performance.now()
  const key = operation.idempotent ? request.header('idempotency-key') : null
  const idempotency = key === null ? undefined : requestKeyOf(route, key)
  // The address says what an upload becomes.
  const hash = idempotency && createHash('sha256').update(request.query)
  const hears = {
    piece: (bytes: Uint8Array) => void hash?.update(bytes),
    async end() {
      if (idempotency && hash) idempotency.bodyHash = hash.digest('base64')
      await still()
    },
  }
  const { caller } = asked
  const named = (asked.query as { appId?: string | null } | undefined)?.appId
  const still = () => requireStill(operation, request, options, askedAt, caller, named)
  const appId = named ?? (caller.kind === 'application' ? caller.appId : undefined)
  const file = new FileBody(request, operation, pending, hears, { actor: asked.actor, appId })
  // Access is checked while the file arrives, because a sender that pauses for long must be ended too.
  const endWatch = options.accessWatch.watch(
    request,
    caller,
    (now) => requireStillActingFor(caller, permitted(operation, now), named),
    (refusal) => file.end(refusal),
  )
  try {
    const outcome = () => run({ ...asked, idempotency, file })
    return await (idempotency === undefined ? outcome() : keyed(options, asked.actor, idempotency, outcome))
  } catch (error) {
    if (error instanceof Refusal && file.isLeft) error.headers.connection = 'close'
    throw error
  } finally {
    endWatch()
    await file.close()
  }
}

/** Answers a GET; one that reads the database waits for a connection of its own. */
function answerGet({ run, reads }: Handler, asked: OperationRequest, options: ServeOptions): Promise<unknown> {
  return reads ? options.reads.run(asked.actor, asked.pending.signal, (sql) => run({ ...asked, sql })) : run(asked)
}

/**
 * Checks again a caller that was admitted a while ago: who it is, what its role allows, and the applications that the
 * request is about. Throws 10002, 10003 and 10005.
 */
async function requireStill(
  operation: Admission & Pick<Operation, 'takes'>,
  request: HttpRequest,
  options: ServeOptions,
  admittedAt: number,
  before: Caller,
  named: string | null | undefined,
): Promise<void> {
  if (performance.now() - admittedAt <= tokenTrustedForMs || operation.callers.length === 0) return
  const now = permitted(operation, await options.authenticate(request))
  // The handler itself checks the applications that a JSON body names.
  if (operation.method === 'GET' || operation.takes !== undefined) requireStillActingFor(before, now, named)
}

const databaseAway: LineKind = {
  level: 'warn',
  line: 'the database did not respond',
  rest: 'the database did not respond to more requests in this minute',
}

/** Refusals go to the caller; any other error goes to the log alone, with everything that it says. */
function asRefusal(
  error: unknown,
  requestId: string,
  route: Route | undefined,
  { log, lines, metrics }: Pick<ServeOptions, 'log' | 'lines' | 'metrics'>,
): Refusal {
  if (error instanceof Refusal) return error
  const failure = failureClass(error)
  if (failure !== undefined) metrics.countDatabaseError(failure)
  const operation = route?.handler.operation.id
  const away = databaseRefusal(error)
  if (away !== undefined) {
    lines.note(databaseAway, () => ({ requestId, operation, err: error }))
    return away
  }
  log.error({ requestId, operation, err: error }, 'internal error')
  return new Refusal('internalFault')
}
