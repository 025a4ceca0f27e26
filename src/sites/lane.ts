import type { CallerCache } from '../callers/cache.ts'
import type { Caller } from '../callers/caller.ts'
import { type LaneOutcome, submitter } from '../callers/submitter.ts'
import type { RequestKey } from '../database/idempotency.ts'
import type { OpenLane } from '../database/lanes.ts'
import type { Sql, Statements } from '../database/open.ts'
import type { Pending } from '../database/pending.ts'
import type { Metrics } from '../runtime/metrics.ts'
import type { ShowMoment } from '../vocabulary/moments.ts'
import type { SiteRegistration } from './contract.ts'
import { type SiteInsert, saveSites } from './routine.ts'
import { readSite, showWithoutId } from './rules.ts'

/** A site that is not written yet. */
export interface NewSite {
  body: SiteRegistration
  actor: string
  idempotency: RequestKey | undefined
}

interface Submission extends NewSite {
  caller: Caller
  pending: Pending
}

export interface SiteBatchParts {
  metrics: Metrics
  showMoment: ShowMoment
}

export interface SiteLaneParts extends SiteBatchParts {
  /** The pool for the lane's batches. */
  writer: Sql
  openLane: OpenLane
  callers: CallerCache
}

/**
 * Writes a batch of sites in a transaction of its own, or within the given one. Returns one outcome per site, in order.
 * Checks again that `callers` still have access; pass none where the transaction has checked access itself.
 */
export async function writeSites(
  sql: Statements,
  newSites: readonly NewSite[],
  callers: readonly Caller[],
  { metrics, showMoment }: SiteBatchParts,
): Promise<LaneOutcome[]> {
  const now = new Date()
  const createTime = showMoment(now)
  const sites = newSites.map((one) => composeSite(one, createTime))
  const outcomes = await saveSites(sql, sites, callers, now)
  metrics.countCreates(outcomes.filter((outcome) => 'record' in outcome).length, 'sites')
  return outcomes
}

/** Opens the lane that creates sites, of single requests and of batches. Returns its submit function. */
export function siteLane(parts: SiteLaneParts): (submission: Submission) => Promise<string> {
  const { writer, openLane, callers } = parts

  const lane = openLane<Submission, LaneOutcome>('sites', {
    ownerOf: ({ body }) => body.appId,
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
