import { permitted, requireProof } from '../../callers/access-control.ts'
import { operators } from '../../callers/cache.ts'
import { actorOf, type Caller, type OperatorCaller } from '../../callers/caller.ts'
import type { RequestHead } from '../../callers/cookies.ts'
import { hashSecret, newSecret } from '../../callers/credentials.ts'
import type { Context } from '../../context.ts'
import { databaseRefusal } from '../../database/failures.ts'
import { transaction } from '../../database/transaction.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { JsonText, Reply } from '../../http/answer.ts'
import { type BoundedLines, databaseAway, type LineKind } from '../../http/bounded-lines.ts'
import { type Handler, handle, type OperationRequest } from '../../http/handler.ts'
import type { Metrics } from '../../runtime/metrics.ts'
import { limits } from '../../vocabulary/limits.ts'
import { fieldFault, invalidRequest, Refusal, refusals } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import { changedAccount } from '../operators/rules.ts'
import { lockOperators, requireOperator, requireSetUp } from '../operators/store.ts'
import { relyingPartyOf } from '../second-factor/passkeys.ts'
import { endSessions, type Source } from '../sessions/sign-in.ts'
import { requireAccount } from '../sessions/store.ts'
import * as attempts from '../sign-in-attempts/store.ts'
import { isUsed, useOnce } from '../tickets/store.ts'
import { openTicket, sealTicket, type Ticket } from '../tickets/tickets.ts'
import { type Arrival, Arrivals, type Ended } from './arrivals.ts'
import * as contract from './contract.ts'
import type { Flow, Identity, Provider } from './provider.ts'
import { providerAway, signOnFault, within } from './provider-faults.ts'
import { claimAt } from './rules.ts'
import * as store from './store.ts'

export interface SealedFlow extends Flow {
  purpose: contract.Purpose
  returnTo: string | null
  /** When the flow began, in seconds since 1970. */
  startedAt: number
  /** For `setUp`: the hash of the setup link's token. */
  setUpHash: string | null
  /** For `link` and `confirm`. */
  sessionId: number | null
  /** The browser's session, which ends when the sign-on begins another one. */
  formerHash: string | null
}

interface SealedArrival extends Arrival {
  returnTo: string | null
}

const ticketPurpose = 'sign-on'
const arrivalPurpose = 'sign-on arrival'
const completingPage = '/console/account?signOn=complete'

const refusedLine: LineKind = {
  level: 'warn',
  line: 'single sign-on refused',
  rest: 'more sign-ons were refused in this minute',
}

type Callback = OperationRequest<unknown, unknown>

export function signOnRoutes(
  context: Context,
  provider: Provider | undefined,
  lines: BoundedLines,
  authenticate: (request: RequestHead) => Caller | Promise<Caller>,
): Handler[] {
  const { sql, secrets, cookies, config, callers, log, metrics } = context
  const arrivals = new Arrivals(context)
  const shown = new ShownFlows()

  function requireProvider(): Provider {
    if (provider === undefined) throw new Refusal('signOnOff')
    return provider
  }

  /** Throws 10002, 10003, 10034, 10035 and 10065. */
  async function requireSession(purpose: 'link' | 'confirm', header: RequestHead['header']) {
    const caller = (await authenticate({ method: 'POST', header })) as OperatorCaller
    const { sessionId = null, operatorId = null } = caller.kind === 'operator' ? caller : {}
    if (sessionId === null || operatorId === null) throw new Refusal('notPermitted', { actor: actorOf(caller) })
    if (purpose === 'confirm') return { sessionId }
    permitted(contract.unlinkSignOn, caller)
    requireProof(caller)
    const { source } = await requireOperator(sql, operatorId)
    if (source === 2) throw new Refusal('managedBySignOn')
    return { sessionId }
  }

  /** Null without the session's cookie. Throws 10002. */
  async function findSession({ header }: Callback): Promise<number | null> {
    if (cookies.find({ header }, 'session') === undefined) return null
    const own = (name: string) => (name === 'authorization' ? null : header(name))
    const caller = (await authenticate({ method: 'GET', header: own })) as OperatorCaller
    return caller.sessionId
  }

  /** Throws 10052, and 10032 for an account with a second factor, which the link would bypass. */
  async function requireLinkable(setUpHash: string): Promise<void> {
    const { id } = await requireSetUp(sql, setUpHash)
    if ((await requireAccount(sql, id)).hasFactor) throw new Refusal('secondFactorRequired')
  }

  /** The ticket stays usable. Throws `signOnFault` without a valid one, or for another `state` than its own. */
  function openFlow(source: Callback, query: URLSearchParams) {
    const text = cookies.find(source, 'signOn')
    const ticket = text === undefined ? undefined : openTicket<SealedFlow>(secrets, ticketPurpose, text)
    if (ticket === undefined) throw signOnFault('the callback has no cookie of a sign-in in progress')
    if (query.getAll('state').join() !== ticket.content.state)
      throw signOnFault('the state in the callback is not the one that was sent')
    return ticket
  }

  /** A refused callback counts like a wrong password, refused by the provider or by us. Throws 10007 and what `run` throws. */
  function counted<Result>(address: string, run: () => Promise<Result>): Promise<Result> {
    return attempts.judged(sql, attempts.attemptFrom(address, limits.signOnMs), run, isOfCaller)
  }

  /** Shows a flow's code to the provider once. Only a known person uses the ticket up: strangers leave no row. */
  async function identify(from: Provider, ticket: Ticket<SealedFlow>, parameters: URLSearchParams): Promise<Identity> {
    if (!shown.add(ticket.id) || (await isUsed(sql, ticket))) throw signOnFault(secondTime)
    const identity = await within(
      limits.signOnMs,
      from.identify(parameters, ticket.content, (claims) => claimAt(claims, config.oidcRoleClaim)),
    )
    if (!(await useOnce(sql, ticket))) throw signOnFault(secondTime)
    return identity
  }

  /**
   * Only for the session that began it. Browsers omit its cookie when they come from another site: the arrival is then
   * checked, and sealed for the page that completes it.
   */
  async function take(flow: SealedFlow, identity: Identity, request: Callback): Promise<Ended & { page?: string }> {
    const { purpose, startedAt, returnTo } = flow
    if (!needsSession(purpose)) return arrivals.enter(flow, identity, request)
    await arrivals.takeClaims(identity, request, false)
    const { issuer, subject, authTime } = identity
    const arrival: Arrival = { purpose, startedAt, sessionId: flow.sessionId ?? 0, who: { issuer, subject, authTime } }
    const sessionId = await findSession(request)
    if (sessionId !== null) {
      requireSame(arrival, sessionId)
      return arrivals.complete(arrival, request, 'whole')
    }
    await arrivals.complete(arrival, request, 'checked')
    const sealed = sealTicket(secrets, arrivalPurpose, { ...arrival, returnTo }, limits.signOnSeconds)
    return { cookies: [cookies.set(request, 'arrival', sealed, limits.signOnSeconds)], page: completingPage }
  }

  function count(purpose: contract.Purpose, outcome: Parameters<Metrics['countSignIn']>[0]): void {
    if (purpose === 'signIn') metrics.countSignIn(outcome)
  }

  async function finish(request: Callback): Promise<Reply> {
    const query = new URLSearchParams(String(request.query ?? ''))
    let purpose: contract.Purpose = 'signIn'
    const told: string[] = []
    try {
      const from = requireProvider()
      const ticket = openFlow(request, query)
      const flow = ticket.content
      purpose = flow.purpose
      told.push(cookies.clear(request, 'signOn'))
      const parameters = await within(limits.signOnMs, from.readCallback(query, flow.state))
      const ended = await counted(request.sourceAddress(), async () =>
        take(flow, await identify(from, ticket, parameters), request),
      )
      count(purpose, 'succeeded')
      told.push(...ended.cookies)
      return ended.lacks === undefined
        ? seeOther(ended.page ?? flow.returnTo ?? '/console', told)
        : seeOther(refusedPage(purpose, 'secondFactorRequired', request.requestId), told)
    } catch (error) {
      const refusal = refusalOf(error, request.requestId)
      count(purpose, refusal === 'tooManyRequests' ? 'locked' : 'refused')
      return seeOther(refusedPage(purpose, refusal, request.requestId), told)
    }
  }

  async function complete(sessionId: number, source: Source): Promise<string> {
    const text = cookies.find(source, 'arrival')
    const ticket = text === undefined ? undefined : openTicket<SealedArrival>(secrets, arrivalPurpose, text)
    if (ticket === undefined) throw signOnFault('there is no sign-on to complete')
    const { returnTo, ...arrival } = ticket.content
    requireSame(arrival, sessionId)
    if (!(await useOnce(sql, ticket))) throw signOnFault(secondTime)
    const { lacks } = await arrivals.complete(arrival, source, 'whole', source.pending)
    if (lacks !== undefined) throw new Refusal('secondFactorRequired')
    return returnTo ?? '/console/account'
  }

  /** The provider's own words go to the log alone. */
  function refusalOf(error: unknown, requestId: string): Refusal['refusal'] {
    if (error instanceof Refusal) return error.refusal
    if (signOnFault.is(error) || providerAway.is(error)) {
      lines.note(refusedLine, () => ({ requestId, reason: error.message.slice(0, 500) }))
      return signOnFault.is(error) ? 'signOnFailed' : 'signOnUnavailable'
    }
    const away = databaseRefusal(error)
    if (away === undefined) log.error({ requestId, err: error }, 'single sign-on failed')
    else lines.note(databaseAway, () => ({ requestId, err: error }))
    return away?.refusal ?? 'internalFault'
  }

  return [
    handle(contract.getSignOn, async () => ({
      enabled: provider !== undefined,
      name: config.oidcName,
      passwords: config.passwords,
      passkeys: relyingPartyOf(config.publicUrl) !== undefined,
    })),

    handle(
      contract.startSignOn,
      async ({ body, requestId, ...source }) => {
        const to = requireProvider()
        const { purpose } = body
        const setUpToken = given(body.setUpToken)
        const setUpHash = purpose === 'setUp' && setUpToken !== null ? hashSecret(setUpToken) : null
        if (setUpHash !== null) await requireLinkable(setUpHash)
        const { sessionId } = needsSession(purpose) ? await requireSession(purpose, source.header) : { sessionId: null }
        const former = cookies.session({ method: 'POST', header: source.header })
        const formerHash = former === undefined ? null : hashSecret(former)
        const flow: SealedFlow = {
          ...{ state: newSecret(), nonce: newSecret(), verifier: newSecret() },
          ...{ purpose, setUpHash, startedAt: Math.floor(Date.now() / 1000), returnTo: given(body.returnTo) },
          ...{ sessionId, formerHash },
        }
        const authorizationUrl = await to.authorizationUrl(flow, purpose === 'confirm').catch((error: unknown) => {
          if (!providerAway.is(error)) throw error
          throw new Refusal(refusalOf(error, requestId), { headers: { 'retry-after': '5' } })
        })
        const ticket = sealTicket(secrets, ticketPurpose, flow, limits.signOnSeconds)
        const headers = { 'cache-control': 'no-store' }
        return new JsonText(JSON.stringify({ authorizationUrl }), headers, [
          cookies.set(source, 'signOn', ticket, limits.signOnSeconds),
        ])
      },
      {
        check: ({ purpose, setUpToken }) =>
          purpose === 'setUp' && given(setUpToken) === null
            ? [fieldFault('setUpToken', 'is required where the purpose is setUp', '用途为 setUp 时必填')]
            : [],
      },
    ),

    handle(contract.finishSignOn, finish),

    handle(contract.completeSignOn, async ({ requestId, caller, ...source }) => {
      const { sessionId } = caller as OperatorCaller
      if (sessionId === null) throw new Refusal('notPermitted')
      requireProvider()
      const returnTo = await complete(sessionId, source).catch((error: unknown) => {
        throw signOnFault.is(error) ? new Refusal(refusalOf(error, requestId)) : error
      })
      const headers = { 'cache-control': 'no-store' }
      return new JsonText(JSON.stringify({ returnTo }), headers, [cookies.clear(source, 'arrival')])
    }),

    handle(
      contract.logOutByProvider,
      async ({ body, requestId, sourceAddress }) => {
        const from = requireProvider()
        const token = body.logout_token
        if (typeof token !== 'string') throw invalidRequest([{ field: 'logout_token', reason: wrongToken }])
        const named = await from.readLogout(token).catch((error: unknown) => {
          refusalOf(error, requestId)
          throw invalidRequest([{ field: 'logout_token', reason: wrongToken }])
        })
        const { id, until } = named
        // One transaction with the logout: if it fails, the token is not used up, and may come again.
        await transaction(sql, async (tx) => {
          const isFirst = await useOnce(tx, { id: `logout ${from.issuer} ${id}`, until })
          if (!isFirst) throw invalidRequest([{ field: 'logout_token', reason: wrongToken }])
          const ids = await store.sessionsOf(tx, { issuer: from.issuer, ...named })
          await endSessions(tx, ids, context, { actor: 'platform:signOn', address: sourceAddress() })
        })
        await callers.noteChange(operators)
        return new Reply({
          status: 200,
          headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
          body: '{"code":0,"msg":"success","data":{}}',
        })
      },
      {
        refusalMembers: ({ refusal }) => ({
          error: refusal === 'invalidRequest' ? 'invalid_request' : 'server_error',
          error_description: refusals[refusal].en,
        }),
      },
    ),

    handle(contract.unlinkSignOn, async ({ body, caller, actor, sourceAddress, pending }) => {
      const operator = caller as OperatorCaller
      const { operatorId, sessionId } = operator
      const id = given(body.id) ?? operatorId
      if (id === null) throw new Refusal('notPermitted')
      const requireMay = ({ role }: OperatorCaller) => {
        if (id !== operatorId && role !== 'admin') throw new Refusal('notPermitted')
      }
      requireMay(operator)
      const address = sourceAddress()
      const record = await pending.transaction(sql, async (tx) => {
        await lockOperators(tx)
        requireMay((await operator.requireStanding?.(tx)) ?? operator)
        const before = await requireOperator(tx, id)
        if (before.source === 2) throw new Refusal('managedBySignOn')
        const isUnlinked = await store.unlink(tx, id)
        const after = await requireOperator(tx, id)
        if (!isUnlinked) return after
        const ids = await store.signOnSessionsOf(tx, id, id === operatorId ? sessionId : null)
        await endSessions(tx, ids, context, { actor, address })
        const data = changedAccount(before, after)
        await insertPlatformEvent(tx, { type: 'operator.updated', actor, subject: id, address, data })
        return after
      })
      await callers.noteChange(operators)
      return record
    }),
  ]
}

/** Refused because of the caller, and not because the provider or the service is away. */
const isOfCaller = (error: unknown) =>
  signOnFault.is(error) || (error instanceof Refusal && refusals[error.refusal].status < 500)

const needsSession = (purpose: contract.Purpose): purpose is 'link' | 'confirm' =>
  purpose === 'link' || purpose === 'confirm'

const secondTime = 'the callback was repeated'

function requireSame(arrival: Arrival, sessionId: number): void {
  if (arrival.sessionId !== sessionId) throw signOnFault('the browser holds another session than the one that began it')
}

function refusedPage(purpose: contract.Purpose, refusal: Refusal['refusal'], requestId: string): string {
  const page = needsSession(purpose) ? '/console/account' : '/console/sign-in'
  return `${page}?${new URLSearchParams({ refusal: String(refusals[refusal].code), request: requestId })}`
}

/** No code is shown twice, even if the provider refused it. */
class ShownFlows {
  private readonly ids = new Set<string>()

  add(id: string): boolean {
    if (this.ids.has(id)) return false
    this.ids.add(id)
    if (this.ids.size > limits.signOnsRemembered) {
      for (const oldest of this.ids) {
        this.ids.delete(oldest)
        break
      }
    }
    return true
  }
}

const wrongToken = { en: 'must be a logout token of the provider', zh: '必须是提供方签发的注销令牌' }

function seeOther(location: string, cookies: string[]): Reply {
  const headers = { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }
  return new Reply({ status: 303, headers, cookies, body: '' })
}
