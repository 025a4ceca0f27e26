import { requireMeantApplication } from '../applications/store.ts'
import { transaction } from '../database/transaction.ts'
import { idAround } from '../events/store.ts'
import { type Handler, handle, JsonText, read } from '../http/serve.ts'
import type { Platform } from '../platform.ts'
import { invalidRequest, Refusal, unavailable } from '../refusals.ts'
import { callbackUrlFault } from '../third-party-config/rules.ts'
import { given } from '../values.ts'
import { pageDeliveries, replayDeliveries, testDelivery, testType } from './contract.ts'
import { type ReplayRange, replay } from './replay.ts'
import { judge, replayConflicts, replayGaps, webhookIdOf } from './rules.ts'
import { composeRequest } from './sign.ts'
import * as store from './store.ts'

const testData = JSON.stringify({ message: 'This is a test of your callback.' })

const tooSoon = (waitMs: number) =>
  new Refusal('tooManyRequests', { headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } })

/** Between two tests of one application. */
const testEveryMs = 3_000

export function deliveryRoutes(platform: Platform): Handler[] {
  const { sql, callbacks, secrets, showMoment, readMoment, config, metrics } = platform
  const isPaused = config.callbacks === 'paused'
  /** Applications whose test is under way: each may take long, so there is one at a time. */
  const testing = new Set<string>()

  /** A moment is shown to the second, so the last one counts whole. */
  const endOf = (moment: string) => new Date(readMoment(moment, 'last').getTime() + 999)

  /** Sends a test to the callback and keeps what came of it. Throws 10042. */
  async function sendTest(appId: string): Promise<store.Delivery> {
    const configured = await store.findCallback(sql, appId)
    if (configured === undefined || isPaused) throw new Refusal('callbackMissing')
    const id = await store.drawTestId(sql)
    const createdAt = new Date()
    const fault = callbackUrlFault(configured.url, config.privateCallbacks)
    const opened = configured.secrets.map((sealed) => secrets.open(appId, sealed))
    const callback = { url: new URL(configured.url), secrets: opened }
    const message = { webhookId: webhookIdOf(testType, id), type: testType, appId, time: createdAt, data: testData }
    const result =
      fault === undefined
        ? await callbacks.send(composeRequest(callback, message))
        : { responseStatus: null, error: `the URL ${fault.en}`, response: null, retryAfterMs: null, durationMs: 0 }
    if (result === undefined) throw unavailable()
    const { retryAfterMs, ...told } = result
    const { status } = judge(result, { type: testType, attempts: 1 }, config.callbackRetryScale)
    metrics.observeAttempt(status, result.durationMs / 1000)
    const { responseStatus, error, durationMs } = told
    const attempt = { time: createdAt.toISOString(), responseStatus, error, durationMs }
    const made = { appId, id, type: testType, status, attempts: 1, createdAt, finishedAt: new Date() }
    const delivery = { ...made, ...told, nextAttemptAt: null, attemptLog: [attempt] }
    await store.insertTest(sql, delivery, testData)
    return delivery
  }

  async function rangeOf(appId: string, timeFrom: string, timeTo: string, status: number | null): Promise<ReplayRange> {
    const [from, to] = [readMoment(timeFrom), endOf(timeTo)]
    const [firstId, lastId] = [await idAround(sql, appId, from, -1), await idAround(sql, appId, to, 1)]
    return { from, to, firstId, lastId, status }
  }

  return [
    read(pageDeliveries, async ({ sql, caller, query }) => {
      const [createdFrom, createdTo] = [given(query.createTimeFrom), given(query.createTimeTo)]
      const filter = {
        ...query,
        appId: await requireMeantApplication(sql, caller, query.appId),
        status: given(query.status),
        type: given(query.type),
        eventId: given(query.eventId),
        createdFrom: createdFrom === null ? null : readMoment(createdFrom),
        createdTo: createdTo === null ? null : endOf(createdTo),
        isPaused,
      }
      const page = await store.pageOfDeliveries(sql, filter, showMoment)
      return { ...page, ...(await store.findWaiting(sql, filter.appId, showMoment)), callbacks: config.callbacks }
    }),

    handle(
      replayDeliveries,
      async ({ caller, body, idempotency }) => {
        const gaps = replayGaps(body)
        if (gaps.length > 0) throw invalidRequest(gaps)
        const appId = await requireMeantApplication(sql, caller, body.appId)
        const [first, last] = [given(body.timeFrom) ?? '', given(body.timeTo) ?? '']
        const wish = given(body.id) ?? (await rangeOf(appId, first, last, given(body.status)))
        const keyed = idempotency && { appId, operation: replayDeliveries.id, ...idempotency }
        return new JsonText(await transaction(sql, (tx) => replay(tx, appId, wish, keyed)))
      },
      { check: replayConflicts },
    ),

    handle(testDelivery, async ({ caller, body }) => {
      const appId = await requireMeantApplication(sql, caller, body.appId)
      if (testing.has(appId)) throw tooSoon(testEveryMs)
      testing.add(appId)
      try {
        const waitMs = testEveryMs - ((await store.sinceTest(sql, appId)) ?? testEveryMs)
        if (waitMs > 0) throw tooSoon(waitMs)
        return store.showDelivery(await sendTest(appId), showMoment)
      } finally {
        testing.delete(appId)
      }
    }),
  ]
}
