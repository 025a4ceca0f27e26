import { requireMeantApplication } from '../applications/store.ts'
import { transaction } from '../database/transaction.ts'
import { idAround } from '../events/store.ts'
import { type Handler, handle, read } from '../http/serve.ts'
import type { Platform } from '../platform.ts'
import { invalidRequest, Refusal, unavailable } from '../refusals.ts'
import { callbackUrlFault } from '../third-party-config/rules.ts'
import { given } from '../values.ts'
import { pageDeliveries, replayDeliveries, testDelivery, testType } from './contract.ts'
import { judge, replayConflicts, replayGaps, webhookIdOf } from './rules.ts'
import { composeRequest } from './sign.ts'
import * as store from './store.ts'

const testData = JSON.stringify({ message: 'This is a test of your callback.' })

export function deliveryRoutes(platform: Platform): Handler[] {
  const { sql, callbacks, secrets, showMoment, readMoment, config, metrics } = platform
  /** Applications whose test is under way: each may take long, so there is one at a time. */
  const testing = new Set<string>()

  /** A moment is shown to the second, so the last one counts whole. */
  const endOf = (moment: string) => new Date(readMoment(moment, 'last').getTime() + 999)

  /** Sends a test to the callback and keeps what came of it. Throws 10042. */
  async function sendTest(appId: string): Promise<store.Delivery> {
    const configured = await store.findCallback(sql, appId)
    if (configured === undefined) throw new Refusal('callbackMissing')
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
      }
      return store.pageOfDeliveries(sql, filter, showMoment)
    }),

    handle(
      replayDeliveries,
      async ({ caller, body }) => {
        const gaps = replayGaps(body)
        if (gaps.length > 0) throw invalidRequest(gaps)
        const appId = await requireMeantApplication(sql, caller, body.appId)
        const [id, first, last] = [given(body.id), given(body.from), given(body.to)]
        if (id !== null) return { replayed: await transaction(sql, (tx) => store.replayOne(tx, appId, id)) }
        const [from, to] = [readMoment(first ?? ''), endOf(last ?? '')]
        const [firstId, lastId] = [await idAround(sql, appId, from, -1), await idAround(sql, appId, to, 1)]
        const range = { appId, from, to, firstId, lastId, status: given(body.status) }
        return { replayed: await transaction(sql, (tx) => store.replayRange(tx, range)) }
      },
      { check: replayConflicts },
    ),

    handle(testDelivery, async ({ caller, body }) => {
      const appId = await requireMeantApplication(sql, caller, body.appId)
      if (testing.has(appId)) throw new Refusal('tooManyRequests', { headers: { 'retry-after': '1' } })
      testing.add(appId)
      try {
        return store.showDelivery(await sendTest(appId), showMoment)
      } finally {
        testing.delete(appId)
      }
    }),
  ]
}
