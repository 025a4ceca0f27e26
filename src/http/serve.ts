import { randomUUID } from 'node:crypto'
import { databaseRefusal, failureClass } from '../database/failures.ts'
import { Refusal, refusals, unavailable } from '../vocabulary/refusals.ts'
import { compress, isLarge, render, renderRefusal } from './answer.ts'
import { answerFor, answerMsOf, inputOf } from './answer-operation.ts'
import { BodyReader } from './body.ts'
import { databaseAway } from './bounded-lines.ts'
import type { Handler } from './handler.ts'
import { headFault } from './head-fault.ts'
import { preferredLanguage } from './language.ts'
import { type HttpAnswer, type HttpHandler, type HttpRequest, isStreamed } from './message.ts'
import { Pace } from './pace.ts'
import { PendingRequest } from './pending-request.ts'
import { noteRefusedRequest } from './refusal-lines.ts'
import { type Route, routeTable, unknownTarget } from './route-table.ts'
import type { ServeOptions } from './serve-options.ts'

// From a request to its response, for every operation (decision 0017): finds the route, admits the caller, reads body
// or file and query, runs the handler and responds. A refusal can end it at each step. Past the deadline the response
// is 50003, and what the handler still returns is dropped. During a file or a stream the caller's access is checked
// again and again.
// Never: a handler for a caller that was not admitted or a body that was not checked; two responses to one request; the
// words of an unexpected error in a response; a refused write that is not noted.

const saneRequestId = /^[\w.:-]{1,128}$/

export function serve(handlers: readonly Handler[], options: ServeOptions): HttpHandler {
  const routes = routeTable(handlers)
  const { inFlight } = options
  const bodies = new BodyReader(inFlight.most)
  const pace = new Pace(options.company, inFlight.crowd)
  const logsRequests = options.log.isLevelEnabled('debug')

  return (request) => {
    const arrivedAt = performance.now()
    // By its own word, which is not checked yet. Strangers take turns by what they ask for, too.
    const known = request.header('authorization') ?? request.header('cookie')
    const wait = pace.wait(known ?? `${options.sourceOf(request)} ${request.path}`, known === null)
    return wait === undefined ? begin(request, arrivedAt) : wait.then(() => begin(request, arrivedAt))
  }

  function begin(request: HttpRequest, startedAt: number): Promise<HttpAnswer> {
    const requestId = requestIdOf(request)
    const route = routes.get(request.path)?.get(request.method === 'HEAD' ? 'GET' : request.method)

    // One promise for each request: every further one would cost as much as the routing.
    return new Promise((resolve, reject) => {
      const at = startedAt + answerMsOf(route?.handler.operation, options)
      const pending = new PendingRequest(request, requestId, at, options, bodies)
      pending.expire = () => {
        refuse(pending.late())
        pending.abort()
      }
      function finish(answer: HttpAnswer, code: number): void {
        if (pending.isAnswered) return
        pending.isAnswered = true
        pending.leave()
        options.deadlines.leave(pending)
        answer.headers['x-request-id'] = requestId
        // A response can hold secrets, setup links and personal data. Only its caller may store it.
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
      if (!isProbe) pending.enter()
      options.deadlines.enter(pending)
      answerFor({ route, request, options, bodies, pending }).then(
        (outcome) => {
          pending.leave()
          try {
            finish(render(outcome), 0)
          } catch (fault) {
            refuse(fault)
          }
        },
        (error: unknown) => {
          pending.leave()
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

/** The file of a HEAD is not started; nobody knows its length. */
function dropBodyOfHead({ method }: HttpRequest, answer: HttpAnswer): void {
  if (method === 'HEAD' && isStreamed(answer.body)) answer.body = nothing()
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** The caller's own, if it is well-formed. A generated ID is random, so that it reveals neither order nor volume. */
export function requestIdOf(request: HttpRequest): string {
  const sent = request.header('x-request-id')
  return sent !== null && saneRequestId.test(sent) ? sent : randomUUID()
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
