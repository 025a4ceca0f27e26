import type { CallerCache } from '../callers/cache.ts'
import type { Caller } from '../callers/caller.ts'
import { type LaneOutcome, submitter } from '../callers/submitter.ts'
import type { RequestKey } from '../database/idempotency.ts'
import type { OpenLane } from '../database/lanes.ts'
import type { Sql, Statements } from '../database/open.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { ShowMoment } from '../vocabulary/moments.ts'
import type { SiteRegistration } from './contract.ts'
import { type SiteInsert, saveSites } from './routine.ts'
import { readSite, showWithoutId } from './rules.ts'

/** A site that is to be created. */
export interface NewSite {
  body: SiteRegistration
  actor: string
  idempotency: RequestKey | undefined
}

/** A site that a caller wants created. */
interface Submission extends NewSite {
  caller: Caller
}

export interface SiteBatchParts {
  metrics: Metrics
  showMoment: ShowMoment
}

export interface SiteLaneParts extends SiteBatchParts {
  /** For the lane's batches. */
  writer: Sql
  openLane: OpenLane
  callers: CallerCache
}

/**
 * Writes a batch of sites in one transaction, or within one; one outcome a site, in order. Looks again whether the callers
 * still have access: none where the transaction has checked access itself.
 */
export async function writeSites(
  sql: Statements,
  news: readonly NewSite[],
  callers: readonly Caller[],
  { metrics, showMoment }: SiteBatchParts,
): Promise<LaneOutcome[]> {
  const now = new Date()
  const createTime = showMoment(now)
  const sites = news.map((one) => composeSite(one, createTime))
  const outcomes = await saveSites(sql, sites, callers, now)
  metrics.countCreates(outcomes.filter((outcome) => 'record' in outcome).length)
  return outcomes
}

/**
 * The lane that creates sites, for one request or for the rows of a batch.
 */
export function siteLane(parts: SiteLaneParts): (submission: Submission) => Promise<string> {
  const { writer, openLane, callers } = parts

  const lane = openLane<Submission, LaneOutcome>('sites', {
    claims: ({ body, idempotency }) => (idempotency === undefined ? [] : [`${body.appId} ${idempotency.key}`]),
    write: (submissions) => {
      const callers = submissions.map(({ caller }) => caller)
      return writeSites(writer, submissions, callers, parts)
    },
  })

  return submitter(lane, callers)
}

function composeSite({ body, actor, idempotency }: NewSite, createTime: string): SiteInsert {
  const { appId } = body
  const site = readSite(body)
  const record = showWithoutId(appId, site, createTime)
  return { ...site, appId, actor, idempotency, recordAfterId: `,${JSON.stringify(record).slice(1)}` }
}
