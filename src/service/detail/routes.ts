import { type Config, settingsInForce } from '../../config.ts'
import type { Context } from '../../context.ts'
import { isDistributed } from '../../database/cluster.ts'
import { readHealth } from '../../database/health.ts'
import { callbacksNow, countDeliveries, countEndpoints } from '../../deliveries/store.ts'
import { Reply } from '../../http/answer.ts'
import { type Handler, handle } from '../../http/handler.ts'
import { StaticAnswer } from '../../http/static-answer.ts'
import { cached, lately } from '../../runtime/cached.ts'
import { runtime, version } from '../../runtime/version.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { unavailable } from '../../vocabulary/refusals.ts'
import { type Finding, fail, judgeCallbacks, judgeHealth, ok, showFinding, warn, withoutFailure } from '../findings.ts'
import { daysUntilFull, forecastYear, type Known } from '../forecast.ts'
import { heldMs, type Readiness } from '../readiness.ts'
import type { Surroundings } from '../surroundings.ts'
import { getServiceDetail } from './contract.ts'
import { readAge, readTables } from './store.ts'

const freshMs = 5_000
const dayMs = 86_400_000
const json = { 'content-type': 'application/json' }
const levels = ['fail', 'warn', 'ok']

function keepingOf({ eventDays, stateEventDays, deliveryDays, refusalDays }: Config) {
  const kept = (keptDays: number | null, setting: string | null = null) => ({ keptDays, setting })
  const ofJobs = kept(7)
  const rules: Record<string, ReturnType<typeof kept>> = {
    event: kept(eventDays, 'FORECOURT_EVENT_DAYS'),
    state_change: kept(Math.min(stateEventDays, eventDays), 'FORECOURT_STATE_DAYS'),
    delivery: kept(deliveryDays, 'FORECOURT_DELIVERY_DAYS'),
    refusal: kept(refusalDays, 'FORECOURT_REFUSAL_DAYS'),
    idempotency_key: kept(1),
    import: ofJobs,
    import_piece: ofJobs,
    import_result: ofJobs,
    minute_figures: kept(2),
    usage_hour: kept(1),
    database_size: kept(32),
  }
  return (table: string) => rules[table] ?? kept(null)
}

export function serviceDetailRoutes(
  { sql, config, peers }: Context,
  readiness: Readiness,
  surroundings: Surroundings,
): Handler[] {
  const startTime = showMoment(new Date(Date.now() - process.uptime() * 1000))
  const keeping = keepingOf(config)
  const within = { freshMs, timeoutMs: config.statementTimeoutMs / 2 }
  const readKnown = lately(async () => {
    const [health, endpoints, deliveries, callbacks] = await Promise.all([
      readHealth(sql),
      countEndpoints(sql),
      countDeliveries(sql),
      callbacksNow(sql, config.callbacks),
    ])
    return { health, endpoints, deliveries, callbacks }
  }, within)
  const readHeld = lately(async () => ({ tables: await readTables(sql), age: await readAge(sql) }), within)

  async function findingsOf({
    health,
    endpoints,
    deliveries,
    callbacks,
  }: NonNullable<Awaited<ReturnType<typeof readKnown>>>) {
    const [checks, around] = await Promise.all([readiness(), surroundings.findings()])
    const nodes = checks.find(({ name }) => name === 'nodes')
    const { serving, wanted } = peers.workers
    const found: Finding[] = [
      ...(process.getuid?.() === 0 ? [warn('asRoot')] : []),
      ...judgeHealth(health, config),
      ...(nodes === undefined ? [] : [nodes.ok ? ok('nodes') : fail('nodesUnfit')]),
      serving < wanted ? warn('workersMissing', { serving, wanted }) : ok('workers', { serving, wanted }),
      ...around,
      ...judgeCallbacks(callbacks, endpoints, deliveries.dead),
    ]
    return found.sort((a, b) => levels.indexOf(a.status) - levels.indexOf(b.status))
  }

  // Once for all who ask meanwhile, as they may be many.
  const readDetail = cached(async () => {
    const [known, held, size, disk] = await Promise.all([
      readKnown(),
      readHeld(),
      surroundings.size(),
      surroundings.disk(),
    ])
    if (known === undefined || held === undefined || size === undefined) return undefined
    const findings = await findingsOf(known)
    const tables = held.tables.map((table) => ({ ...table, ...keeping(table.name) }))
    const { bytes, bytesPerDay } = size
    const growth = { bytes, bytesPerDay, tables, ageDays: held.age }
    const shownTo = (isAdmin: boolean) =>
      JSON.stringify({
        version,
        runtime,
        databaseVersion: known.health.version,
        isEmbedded: config.databaseUrl === undefined,
        isDistributed: isDistributed(),
        startTime,
        findings: findings.map((finding) => showFinding(isAdmin ? finding : withoutFailure(finding))),
        databaseBytes: bytes,
        bytesPerDay: bytesPerDay === null ? null : Math.round(bytesPerDay),
        tables,
        forecast: isComplete(growth) ? showForecast(growth, disk?.freeBytes) : null,
        settings: isAdmin ? settingsInForce(config) : null,
      })
    const answerOf = (data: string) => new StaticAnswer(`{"code":0,"msg":"success","data":${data}}`, json)
    return { forAdmins: answerOf(shownTo(true)), forOthers: answerOf(shownTo(false)) }
  }, heldMs)

  return [
    handle(getServiceDetail, async ({ caller, header }) => {
      const isAdmin = caller.kind === 'operator' && caller.role === 'admin'
      const shown = await readDetail()
      if (shown === undefined) throw unavailable()
      const answer = (isAdmin ? shown.forAdmins : shown.forOthers).answerTo({
        // It has no tag of its own.
        header: (name) => (name === 'if-none-match' ? null : header(name)),
      })
      delete answer.headers.etag
      return new Reply(answer)
    }),
  ]
}

type Growth = { [Member in keyof Known]: Known[Member] | null }

const isComplete = (growth: Growth): growth is Known => Object.values(growth).every((value) => value !== null)

function showForecast(known: Known, freeBytes: number | undefined) {
  const at = (days: number) => showMoment(new Date(Date.now() + days * dayMs))
  const fullDays = freeBytes === undefined ? null : daysUntilFull(known, freeBytes)
  return {
    months: forecastYear(known).map(({ days, bytes }) => ({ time: at(days), bytes })),
    fullTime: fullDays === null ? null : at(fullDays),
  }
}
