import { createHash } from 'node:crypto'
import { permitted } from '../callers/access-control.ts'
import { actorOf, type Caller, keyOwnerOf } from '../callers/caller.ts'
import { requireStillActingFor } from '../callers/permissions.ts'
import type { RequestKey } from '../database/idempotency.ts'
import { ownerOf as usageOwnerOf } from '../database/usage.ts'
import type { Operation } from '../vocabulary/operation.ts'
import { type FieldFault, Refusal, unavailable } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { endWithAccess } from './access-watch.ts'
import { JsonText, Replayed, Reply } from './answer.ts'
import { type BodyReader, bodyTooSlow, FileBody, isLarge, requireMediaType } from './body.ts'
import { downloads } from './file-places.ts'
import type { Handler, OperationRequest, StreamRequest } from './handler.ts'
import { type HttpRequest, isLive, isStreamed } from './message.ts'
import type { PendingRequest } from './pending-request.ts'
import { noteFaults, noting, readBody, readQuery, refusalOf, requestKeyOf } from './request-parts.ts'
import type { Route } from './route-table.ts'
import { requireStill, standsFor } from './second-look.ts'
import type { ServeOptions } from './serve-options.ts'
import { sourceNetwork } from './source-address.ts'

/** What names the records of a write: its body, or the query beside a file. */
export function inputOf({ takes }: Operation, { query }: HttpRequest, body: unknown): unknown {
  return takes === undefined ? body : Object.fromEntries(new URLSearchParams(query))
}

export const answerMsOf = (operation: Operation | undefined, options: ServeOptions) =>
  operation?.answerTimeoutMs ?? options.answerTimeoutMs

export interface Exchange {
  route: Route
  request: HttpRequest
  options: ServeOptions
  bodies: BodyReader
  pending: PendingRequest
}

interface Admitted {
  caller: Caller
  actor: string
  query: unknown
  /** By the monotonic clock. */
  at: number
}

/** Checks in the contract's order: the token, then the request, then what the operation itself decides. */
export function answerFor(exchange: Exchange): Promise<unknown> {
  // An async function would add a promise, and turns of the queue, to every request.
  try {
    const admitted = admit(exchange)
    return admitted instanceof Promise
      ? admitted.then((caller) => answerTo(exchange, caller))
      : answerTo(exchange, admitted)
  } catch (error) {
    return Promise.reject(error)
  }
}

/** Throws, or returns a promise. */
function answerTo(exchange: Exchange, caller: Caller): Promise<unknown> {
  const { route, request, options, pending } = exchange
  const { operation } = route.handler
  pending.caller = caller
  const actor = operation.callers.length === 0 ? 'anyone' : actorOf(caller)
  // Probes take nothing from anybody.
  if (request.path.startsWith('/api/')) options.company.note(actor)
  const admitted = { caller, actor, query: readQuery(route, request, caller), at: performance.now() }
  if (operation.method === 'GET' || operation.takes !== undefined) {
    pending.stands = standsFor(route, options, caller, admitted.query)
    const asked = askedOf(exchange, admitted, undefined, undefined)
    return operation.method === 'GET' ? answerRead(exchange, asked) : answerFile(exchange, asked)
  }

  const mediaType = requireMediaType(request, operation)
  if (!isLarge(request, operation)) return answerWrite(exchange, admitted, mediaType)
  return options.largeBodies.run(actor, pending, () => {
    pending.extend(answerMsOf(operation, options))
    return answerWrite(exchange, admitted, mediaType)
  })
}

async function answerWrite(exchange: Exchange, admitted: Admitted, mediaType: 'form' | 'json'): Promise<unknown> {
  const { route, request, options, bodies, pending } = exchange
  const { caller, at } = admitted
  const { operation, ownerOf } = route.handler
  const read = bodies.read(request, operation, pending)
  const bytes = read instanceof Promise ? await receive(exchange, read) : read
  // A body may take seconds, and a caller can lose its access meanwhile.
  const still = requireStill(operation, request, options, at, caller, undefined)
  if (still !== undefined) await still
  const faults: FieldFault[] = []
  const reading = noting(faults, () => readBody(route, bytes, mediaType, pending))
  const body = reading instanceof Promise ? await reading.catch((error) => noteFaults(faults, error)) : reading
  const key = operation.idempotent ? request.header('idempotency-key') : null
  const idempotency = key === null ? undefined : noting(faults, () => requestKeyOf(route, key))
  if (faults.length > 0) throw refusalOf(faults, route.appIdIn === 'body', caller, pending.body)
  // A dry run stores nothing, so its key stays free.
  const kept = isDryRun(operation, body) ? undefined : idempotency
  const asked = askedOf(exchange, admitted, body, kept)
  // A stranger owns what it asks for from the same address in the name that it gives.
  if (ownerOf !== undefined) pending.own(`${sourceNetwork(options.sourceOf(request))} ${ownerOf(body, asked.header)}`)
  pending.stands = standsFor(route, options, caller, body)
  // Returning a promise that is still pending would take three more turns of the queue.
  if (kept === undefined) return await runWrite(exchange, asked)
  kept.bodyHash = createHash('sha256').update(bytes).digest('base64')
  const appId = (body as { appId?: string | null } | undefined)?.appId
  return await keyed(options, asked, appId, kept, () => runWrite(exchange, asked))
}

/** Only where the operation has the member: elsewhere it is unknown and says nothing. */
const isDryRun = (operation: Operation, body: unknown) =>
  operation.body?.properties.dryRun !== undefined && (body as { dryRun?: unknown }).dryRun === true

type Asked = OperationRequest & { pending: PendingRequest }

/** Member by member: spreading objects costs more than the rest of it. */
function askedOf(
  { route, request, options, pending }: Exchange,
  { caller, actor, query }: Admitted,
  body: unknown,
  idempotency: RequestKey | undefined,
): Asked {
  const { requestId } = pending
  return {
    caller,
    actor,
    body,
    query,
    idempotency,
    requestId,
    pending,
    isHead: request.method === 'HEAD',
    header: (name) => request.header(name),
    sourceAddress: () => options.sourceOf(request),
    noteRefusedRow(refusal, subject) {
      const { operation } = route.handler
      const input = inputOf(operation, request, pending.body)
      options.noteRefusal({ refusal, operation, requestId, caller, input, subject })
    },
  }
}

async function receive({ route, options, pending }: Exchange, arriving: Promise<Uint8Array>): Promise<Uint8Array> {
  pending.extend(options.bodyTimeoutMs)
  pending.late = bodyTooSlow
  const bytes = await arriving
  pending.extend(answerMsOf(route.handler.operation, options))
  pending.late = unavailable
  return bytes
}

/** Counted for a response whose length is not known here. */
const answerBytes = 1_000

/** Counts what is kept for the key. `appId` is the named application. Throws 10007 if there is no room for it. */
async function keyed<Answer>(
  { keyUsage }: ServeOptions,
  { actor, caller }: Pick<Asked, 'actor' | 'caller'>,
  appId: string | null | undefined,
  idempotency: RequestKey,
  run: () => Promise<Answer>,
): Promise<Answer | Replayed> {
  const owner = usageOwnerOf(actor)
  if (owner !== undefined) {
    const keyOwners = [keyOwnerOf(caller), ...(typeof appId === 'string' ? [appId] : [])]
    await keyUsage.requireRoom(owner, idempotency, keyOwners)
  }
  const outcome = await run()
  if (idempotency.isReplayed) return new Replayed(outcome)
  const { keptRows = 0 } = idempotency
  // A batch keeps its rows' responses, and all of them together.
  const bytes = outcome instanceof JsonText ? outcome.text.length * (keptRows === 0 ? 1 : 2) : answerBytes
  if (owner !== undefined) keyUsage.note(owner, keptRows + 1, bytes)
  return outcome
}

function admit({ route, request, options, pending }: Exchange): Caller | Promise<Caller> {
  const { operation, ownerOf } = route.handler
  const isProbe = !request.path.startsWith('/api/')
  const known = (caller: Caller) => {
    // A refusal then names its caller.
    pending.caller = caller
    if (!isProbe) pending.own(actorOf(caller))
    return caller
  }
  if (operation.callers.length === 0 && !isProbe) {
    pending.enterStrangers()
    // A name in the body says more: a source may be a proxy with all clients behind it.
    if (ownerOf === undefined) pending.own(sourceNetwork(options.sourceOf(request)))
  }
  const admitted = options.admit(operation, request)
  if (operation.callers.length === 0) return admitted
  if (!(admitted instanceof Promise)) return known(admitted)
  if (!isProbe) pending.enterStrangers()
  return admitted.then(known).finally(() => pending.leaveStrangers())
}

/** In its owner's turn, before it takes a connection. Access is checked again, because a turn may take long. */
function runWrite({ route, request, options, pending }: Exchange, asked: Asked): Promise<unknown> {
  const { operation, run, isOutOfTurn } = route.handler
  const { caller } = asked
  const askedAt = performance.now()
  const operationOutOfTurn = isOutOfTurn || operation.callers.length === 0 ? operation.id : undefined
  const runStanding = () => {
    if (pending.isOver) throw unavailable()
    return run(asked)
  }
  return pending.inTurn(operationOutOfTurn, () => {
    const still = requireStill(operation, request, options, askedAt, caller, undefined)
    return still === undefined ? runStanding() : still.then(runStanding)
  })
}

/** Access is checked again before each read and while the response is sent. Throws 10003. */
async function answerRead({ route, request, options, pending }: Exchange, asked: Asked): Promise<unknown> {
  const { caller } = asked
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
  // What is checked of a caller without a named application depends on what it saw when it began.
  const isSame = narrower === undefined && (caller.kind === 'application' || given(named) !== null)
  const watch: StreamRequest['watchAccess'] = (onLoss) =>
    options.accessWatch.watch(
      request,
      caller,
      (now) => requireStillActingFor(caller, permitted(narrower ?? operation, now), named),
      onLoss,
      isSame ? `${operation.id} ${named}` : undefined,
    )
  const outcome = await answerGet(
    route.handler,
    { ...asked, readNext, watchAccess: watch } as OperationRequest,
    options,
  )
  // A live response watches by itself, and must begin, so that it ends.
  if (outcome instanceof Reply && isLive(outcome.answer.body)) return outcome
  // A read may wait for seconds; writes look again under their locks.
  await still()
  if (outcome instanceof Reply && isStreamed(outcome.answer.body) && !asked.isHead) {
    // Of a caller that has gone, the body would never begin, and so never give its place back.
    if (pending.isOver) throw unavailable()
    endWithAccess(outcome, watch, downloads.take({ actor: asked.actor, appId: appIdOf(caller, named) }))
  }
  return outcome
}

const appIdOf = (caller: Caller, named: string | null | undefined) =>
  named ?? (caller.kind === 'application' ? caller.appId : undefined)

async function answerFile({ route, request, options, pending }: Exchange, asked: Asked): Promise<unknown> {
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
  const owner = { actor: asked.actor, appId: appIdOf(caller, named) }
  const file = new FileBody(request, operation, pending, hears, owner)
  // While the file arrives, because a sender that pauses for long must be ended too.
  const endWatch = options.accessWatch.watch(
    request,
    caller,
    (now) => requireStillActingFor(caller, permitted(operation, now), named),
    (refusal) => file.end(refusal),
  )
  try {
    const outcome = () => run({ ...asked, idempotency, file })
    return await (idempotency === undefined ? outcome() : keyed(options, asked, named, idempotency, outcome))
  } catch (error) {
    if (error instanceof Refusal && file.isLeft) error.headers.connection = 'close'
    throw error
  } finally {
    endWatch()
    await file.close()
  }
}

async function answerGet(
  { operation, run, reads }: Handler,
  asked: OperationRequest,
  options: ServeOptions,
): Promise<unknown> {
  if (reads === 'now') return options.reads.run(asked.actor, asked.pending.signal, (sql) => run({ ...asked, sql }))
  if (reads === 'itself') return run(asked)
  const owner = operation.callers.length === 0 ? asked.sourceAddress() : asked.actor
  const outcome = await run(asked)
  await options.responses.run(`${owner} ${operation.id}`, asked.pending, async () => {})
  return outcome
}
