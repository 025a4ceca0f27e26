import type { Config } from '../config.ts'
import { appliedVersion } from '../database/migrate.ts'
import { isWritable, type Sql } from '../database/open.ts'
import { inTime } from '../event-loop.ts'
import { Reply } from '../http/answer.ts'
import type { InFlight } from '../http/in-flight.ts'
import { type Api, openApiDocument } from '../http/openapi.ts'
import { type Handler, handle } from '../http/serve.ts'
import { StaticAnswer } from '../http/static-answer.ts'
import type { Metrics } from '../metrics.ts'
import type { Peers } from '../peers.ts'
import { refusals } from '../refusals.ts'
import { getHealth, getMetrics, getOpenApi, getReadiness } from './contract.ts'

const json = { 'content-type': 'application/json' }

interface Parts {
  sql: Sql
  metrics: Metrics
  inFlight: InFlight
  peers: Peers
  config: Pick<Config, 'callbacks' | 'statementTimeoutMs'>
  /** What `/openapi.json` describes. */
  api: Api
  schemaVersion: number
  isDistributed: boolean
}

/** The probes, the metrics and the description of the API. */
export function serviceRoutes(parts: Parts): Handler[] {
  const { sql, metrics, config, inFlight, peers, api, schemaVersion, isDistributed } = parts
  // Well before the request itself is given up: a probe that fails must say which check did.
  const probeMs = Math.min(2000, config.statementTimeoutMs / 2)
  let document: StaticAnswer | undefined
  // One after the other: a write that is refused takes its connection with it, and what else was asked there.
  const look = async () => ({ version: await appliedVersion(sql), canWrite: await isWritable(sql) })

  return [
    handle(getHealth, async () => ({ alive: true })),

    handle(getReadiness, async () => {
      const { version, canWrite } = (await inTime(look(), undefined, probeMs)) ?? {}
      const checks = [
        { name: 'database', ok: version !== undefined },
        { name: 'writable', ok: canWrite === true },
        { name: 'migrations', ok: version === schemaVersion },
        { name: 'capacity', ok: !inFlight.isFull },
        // Later the others go on while one is started again, so that is no reason to send nothing here.
        { name: 'workers', ok: peers.workers.isStarted },
      ]
      const { serving, wanted } = peers.workers
      const about = { checks, distributed: isDistributed, callbacks: config.callbacks, workers: { serving, wanted } }
      if (checks.every((check) => check.ok)) return { ready: true, ...about }
      const { code, status, en } = refusals.unavailable
      const body = JSON.stringify({ code, msg: en, data: { ready: false, ...about } })
      return new Reply({ status, headers: { ...json, 'retry-after': '1' }, body })
    }),

    handle(getMetrics, async () => {
      const { registry } = metrics
      return new Reply({
        status: 200,
        headers: { 'content-type': registry.contentType },
        body: (await peers.allMetrics()) ?? (await registry.metrics()),
      })
    }),

    handle(getOpenApi, async (request) => {
      const text = () => JSON.stringify(openApiDocument(api))
      document ??= new StaticAnswer(text(), { ...json, 'cache-control': 'no-cache' })
      return new Reply(document.answerTo(request))
    }),
  ]
}
