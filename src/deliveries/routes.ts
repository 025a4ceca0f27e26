import { requireApplicationOf } from '../callers/permissions.ts'
import type { Context } from '../context.ts'
import { drawEventIds, lowestEventId } from '../database/application-lock.ts'
import { findReplay, once, type RequestKey } from '../database/idempotency.ts'
import type { Pending } from '../database/pending.ts'
import { transaction } from '../database/transaction.ts'
import { idAfterEventsBefore, insertPlatformEvent } from '../events/store.ts'
import { type Handler, handle, handleOutOfTurn, read } from '../http/handler.ts'
import { limits } from '../vocabulary/limits.ts'
import { readTimeRange } from '../vocabulary/moments.ts'
import { Refusal, unavailable } from '../vocabulary/refusals.ts'
import { given } from '../vocabulary/values.ts'
import { callbackUrlFault, hiddenQuery } from './callback-url.ts'
import type { CallbackClient } from './client.ts'
import {
  type DeliveryRecord,
  getDelivery,
  pageDeliveries,
  replayDeliveries,
  testDelivery,
  testType,
} from './contract.ts'
import { getCallbackHealth } from './health/contract.ts'
import { readCallbackHealth } from './health/store.ts'
import { deliveryPages } from './pages.ts'
import { type ActorAndAddress, replay, requireNoReplay } from './replay/replay.ts'
import type { ReplayRange } from './replay/store.ts'
import { askedStatuses, judge, type ReplayRequest, replayConflicts, replayGaps, webhookIdOf } from './rules.ts'
import { composeRequest } from './sign.ts'
import { findMissed } from './stops/store.ts'
import * as store from './store.ts'

const testData = JSON.stringify({ message: 'This is a test of your callback.' })

const tooSoon = (waitMs: number) =>
  new Refusal('tooManyRequests', { headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } })

/** Throws as `Pending.requireStanding`, and 50003 if the request is over. */
async function requireWaiting(pending: Pending): Promise<void> {
  await pending.requireStanding()
  if (pending.isOver) throw unavailable()
}

export function deliveryRoutes(context: Context, client: CallbackClient): Handler[] {
  const { sql, peers, secrets, metrics, config } = context
  const isPaused = config.callbacks === 'paused'
  const readPage = deliveryPages(config)

  /** One test and one replay of an application at a time, because each may take long. Throws 10007 for a second one. */
  async function runAlone<Answer>(what: 'test' | 'replay', appId: string, run: () => Promise<Answer>): Promise<Answer> {
    const claim = `${what} ${appId}`
    if (!(await peers.claim(claim))) throw tooSoon(1_000)
    try {
      return await run()
    } finally {
      peers.release(claim)
    }
  }

  /** Throws 10007 soon after another test, and 10042. */
  async function sendTest(
    appId: string,
    by: ActorAndAddress,
    idempotency: RequestKey | undefined,
    pending: Pending,
  ): Promise<DeliveryRecord> {
    const first = await findReplay<DeliveryRecord>(sql, idempotency, appId)
    if (first !== undefined) return first
    const waitMs = limits.testEveryMs - ((await store.millisecondsSinceTest(sql, appId)) ?? limits.testEveryMs)
    if (waitMs > 0) throw tooSoon(waitMs)
    const configured = await store.findCallback(sql, appId)
    if (configured === undefined || (await store.callbacksNow(sql, config.callbacks)) === 'paused') {
      throw new Refusal('callbackMissing')
    }
    const createdAt = new Date()
    // A test has no event whose ID it could have.
    const id = await drawEventIds(sql, appId, createdAt)
    const fault = callbackUrlFault(configured.url, config.privateCallbacks)
    const opened = configured.secrets.map((sealed) => secrets.open(appId, sealed))
    const query = configured.sealedQuery === null ? '' : secrets.open(appId, configured.sealedQuery)
    const callback = { url: new URL(configured.url + query), secrets: opened }
    const message = { webhookId: webhookIdOf(testType, id), type: testType, appId, time: createdAt, data: testData }
    await requireWaiting(pending)
    const result =
      fault === undefined
        ? await client.send(composeRequest(callback, message))
        : { responseStatus: null, error: `the URL ${fault.en}`, response: null, retryAfterMs: null, durationMs: 0 }
    if (result === undefined) throw unavailable()
    const { retryAfterMs, ...shown } = result
    const { status } = judge(result, { type: testType, attempts: 1 }, config.callbackRetryScale)
    metrics.observeAttempt(status, result.durationMs / 1000)
    const { responseStatus, error, durationMs } = shown
    const attempt = { time: createdAt.toISOString(), responseStatus, error, durationMs }
    const times = { eventTime: createdAt, createdAt, finishedAt: new Date() }
    const made = { appId, id, type: testType, status, attempts: 1, ...times }
    const delivery = { ...made, ...shown, nextAttemptAt: null, attemptLog: [attempt] }
    // What was sent is recorded, whether its caller still waits or not.
    const shownDelivery = await transaction(sql, (tx) =>
      once(tx, idempotency, appId, async () => {
        await store.insertTest(tx, delivery, testData)
        const url = configured.url + (query === '' ? '' : hiddenQuery)
        const data = { appId, id, url, status, responseStatus, error }
        await insertPlatformEvent(tx, { type: 'delivery.tested', time: createdAt, subject: appId, ...by, data })
        return store.showDelivery(delivery)
      }),
    )
    await pending.requireStanding()
    return shownDelivery
  }

  async function selectionOf(appId: string, body: ReplayRequest): Promise<number | ReplayRange> {
    const id = given(body.id)
    if (id !== null) return id
    const { from, before } = readTimeRange(body)
    if (from === null || before === null) throw new Error('a replay without a delivery or a range was not refused')
    const lastId = await idAfterEventsBefore(sql, appId, before)
    return { from, before, firstId: lowestEventId(from), lastId, statuses: askedStatuses(body) }
  }

  return [
    read(pageDeliveries, async ({ sql, caller, query }) => {
      const { appIds, page } = await readPage(sql, caller, query)
      const waiting = await store.findWaiting(sql, appIds)
      const [appId, ...others] = appIds ?? []
      const missed =
        appId === undefined || others.length > 0
          ? { missedEvents: null, missedIsExact: true, missedFrom: null, missedTo: null }
          : await findMissed(sql, appId, readTimeRange(query))
      return { ...page, ...waiting, ...missed, callbacks: await store.callbacksNow(sql, config.callbacks) }
    }),

    read(getDelivery, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      return store.showDelivery(await store.requireDelivery(sql, appId, query.id, isPaused))
    }),

    read(getCallbackHealth, async ({ sql, caller, query }) => {
      const appId = await requireApplicationOf(sql, caller, query.appId)
      return readCallbackHealth(sql, appId, config)
    }),

    handle(
      replayDeliveries,
      async ({ caller, actor, sourceAddress, body, idempotency, pending }) => {
        const appId = await requireApplicationOf(sql, caller, body.appId)
        const by = { actor, address: sourceAddress() }
        return runAlone('replay', appId, async () => {
          // A request with an idempotency key may be a retry, which gets the stored response.
          if (idempotency === undefined) await requireNoReplay(sql, appId)
          const selection = await selectionOf(appId, body)
          return pending.transaction(sql, (tx) => replay(tx, appId, selection, by, idempotency))
        })
      },
      {
        check: (body, faulty) => [
          ...(['id', 'timeFrom', 'timeTo'].some((name) => faulty.includes(name)) ? [] : replayGaps(body)),
          ...replayConflicts(body, readTimeRange(body)),
        ],
      },
    ),

    handleOutOfTurn(testDelivery, async ({ caller, actor, sourceAddress, body, idempotency, pending }) => {
      const appId = await requireApplicationOf(sql, caller, body.appId)
      const by = { actor, address: sourceAddress() }
      return runAlone('test', appId, () => sendTest(appId, by, idempotency, pending))
    }),
  ]
}
