import { setTimeout as pause } from 'node:timers/promises'
import type { Registry } from 'prom-client'
import type { Context } from '../context.ts'
import { isDistributed } from '../database/cluster.ts'
import { callbacksNow } from '../deliveries/store.ts'
import { Reply } from '../http/answer.ts'
import { type Handler, handle, stream } from '../http/handler.ts'
import { StaticAnswer } from '../http/static-answer.ts'
import { cached } from '../runtime/cached.ts'
import { inTime } from '../runtime/event-loop.ts'
import { Turns } from '../runtime/turns.ts'
import { limits } from '../vocabulary/limits.ts'
import { refusals, tooManyRequests } from '../vocabulary/refusals.ts'
import { getHealth, getMetrics, getOpenApi, getReadiness } from './contract.ts'
import { heldMs, isReady, probeMs, type Readiness } from './readiness.ts'

/** How long an operator's next scrape waits, in times of its last. */
const scrapeRests = 4
/** A scrape that took longer waited for the database. */
const mostRestMs = 100
const json = { 'content-type': 'application/json' }

export function serviceRoutes(
  { sql, metrics, config, peers }: Context,
  readiness: Readiness,
  fleet: Registry,
  describeApi: () => object,
): Handler[] {
  let document: StaticAnswer | undefined
  const readCallbacks = cached(
    () => inTime(callbacksNow(sql, config.callbacks), config.callbacks, probeMs(config)),
    heldMs,
  )

  const scrapes = new Turns({
    ofOne: limits.scrapesOfOne,
    waitingOfOne: limits.scrapesWaitingOfOne,
    restAfter: (tookMs) => pause(Math.min(mostRestMs, scrapeRests * tookMs)),
    full: tooManyRequests,
  })

  return [
    handle(getHealth, async () => ({ alive: true })),

    handle(getReadiness, async () => {
      const [checks, callbacks] = await Promise.all([readiness(), readCallbacks()])
      const { serving, wanted } = peers.workers
      const about = { checks, distributed: isDistributed(), callbacks, workers: { serving, wanted } }
      if (isReady(checks)) return { ready: true, ...about }
      const { code, status, en } = refusals.unavailable
      const body = JSON.stringify({ code, msg: en, data: { ready: false, ...about } })
      return new Reply({ status, headers: { ...json, 'retry-after': '1' }, body })
    }),

    stream(getMetrics, ({ actor, pending }) =>
      scrapes.run(actor, pending, async () => {
        const { registry } = metrics
        const [own, ofFleet] = await Promise.all([peers.allMetrics() ?? registry.metrics(), fleet.metrics()])
        return new Reply({ status: 200, headers: { 'content-type': registry.contentType }, body: own + ofFleet })
      }),
    ),

    handle(getOpenApi, async (request) => {
      const text = () => JSON.stringify(describeApi())
      document ??= new StaticAnswer(text(), { ...json, 'cache-control': 'no-cache' })
      return new Reply(document.answerTo(request))
    }),
  ]
}
