import type { Statements } from '../../database/open.ts'
import { insertEventTexts, type NewEventText } from '../../events/store.ts'
import { requireMatch } from '../../http/etag.ts'
import { absent } from '../../http/validate.ts'
import { invalidRequest, Refusal } from '../../vocabulary/refusals.ts'
import { ofEachApplication, type WriteKind } from '../../writes/kind.ts'
import {
  ended,
  latest,
  type Placement,
  type PlacementChange,
  placementTag,
  type Spot,
  type Standing,
  showPlacement,
} from './rules.ts'
import { endPlacementsAt, readStanding, writePlacements } from './store.ts'

/** Changes placements. Throws 10001, 20002, 30002, 20030 and 10009. */
export const placementChanges: WriteKind<PlacementChange, ReadonlyMap<string, Standing>, Placement> = {
  read: (tx, writes) =>
    ofEachApplication(writes, (appId, own) => {
      const serials = new Set(own.map(({ body }) => body.deviceNo))
      const siteIds = new Set(own.flatMap(({ body }) => body.to?.siteId ?? []))
      return readStanding(tx, appId, own.length, [...serials], [...siteIds])
    }),

  decide(known, { appId, body, actor, ifMatch }, now) {
    const standing = known.get(appId as string) as Standing
    const { placement, steps, wasPlaced } = decidePlacement(standing, body, { actor, ifMatch, now })
    return {
      outcome: steps.length === 0 ? 'existing' : wasPlaced ? 'updated' : 'created',
      shown: { record: textOf(placement), etag: placementTag(placement) },
      rows: steps.map((step) => step.placement),
      events: steps.map(eventOf(actor)),
    }
  },

  save: writePlacements,
}

const textOf = (placement: Placement) => JSON.stringify(showPlacement(placement))

const eventOf =
  (actor: string) =>
  ({ type, placement }: PlacementStep): NewEventText => ({
    appId: placement.appId,
    type,
    actor,
    subject: placement.deviceNo,
    record: textOf(placement),
  })

interface PlacementStep {
  type: 'device.placed' | 'device.unplaced'
  placement: Placement
}

interface DecidedPlacement {
  placement: Placement
  /** It is empty if nothing changes. */
  steps: PlacementStep[]
  wasPlaced: boolean
}

/** Decides one change, with its steps in order. Throws 10001, 20002, 30002, 20030 and 10009. */
function decidePlacement(
  standing: Standing,
  { deviceNo, to: asked, reason }: PlacementChange,
  { actor, ifMatch, now }: { actor: string; ifMatch: string | null; now: Date },
): DecidedPlacement {
  const binding = standing.bindings.get(deviceNo)
  if (binding === undefined) throw new Refusal('deviceNotFound')
  const newest = standing.newest.get(deviceNo)
  const lasting = newest?.removedAt === null ? newest : undefined
  const to = asked && spotOf(asked, lasting)
  const siteName = to && siteNameOf(standing, to.siteId, lasting)
  if (siteName === undefined) throw new Refusal('siteNotFound')
  requirePresent(ifMatch, lasting)
  if (to === null && lasting === undefined) throw new Refusal('placementNotFound')

  const steps: PlacementStep[] = []
  const wasPlaced = lasting !== undefined
  if (to !== null && lasting !== undefined && isSame(lasting, to)) return { placement: lasting, steps, wasPlaced }
  const step = (type: PlacementStep['type'], placement: Placement) => {
    steps.push({ type, placement })
    standing.newest.set(deviceNo, placement)
    return placement
  }
  if (to !== null && lasting?.siteId === to.siteId) {
    return { placement: step('device.placed', { ...lasting, ...to }), steps, wasPlaced }
  }
  const over = lasting && step('device.unplaced', ended(lasting, now, actor, reason))
  if (to === null || siteName === null) return { placement: over as Placement, steps, wasPlaced }
  const placement: Placement = {
    id: standing.freeIds.shift() as number,
    appId: standing.appId,
    deviceNo,
    boundAt: binding.boundAt,
    ...to,
    siteName,
    placedAt: latest(now, newest?.removedAt, over?.removedAt, binding.heldSince),
    placedBy: actor,
    removedAt: null,
    removedBy: null,
    reason: null,
  }
  return { placement: step('device.placed', placement), steps, wasPlaced }
}

/** Returns where to place the device. Throws 10001 if it has no placement and the site or lane type is missing. */
function spotOf(to: Partial<Spot>, lasting: Placement | undefined): Spot {
  const { siteId = lasting?.siteId, laneType = lasting?.laneType, laneName = lasting?.laneName ?? null } = to
  if (siteId !== undefined && laneType !== undefined) return { siteId, laneType, laneName }
  const missing = Object.entries({ siteId, laneType }).filter(([, value]) => value === undefined)
  throw invalidRequest(missing.map(([field]) => ({ field, reason: absent })))
}

function siteNameOf({ siteNames }: Standing, siteId: number, lasting: Placement | undefined): string | undefined {
  return siteNames.get(siteId) ?? (lasting?.siteId === siteId ? lasting.siteName : undefined)
}

const isSame = (placement: Placement, to: Spot) =>
  placement.siteId === to.siteId && placement.laneType === to.laneType && placement.laneName === to.laneName

/** Throws 10009, also without a placement: a tag then matches nothing (RFC 9110 §13.1.1). */
function requirePresent(ifMatch: string | null, lasting: Placement | undefined): void {
  if (lasting !== undefined) requireMatch(ifMatch, placementTag(lasting))
  else if (ifMatch !== null) throw new Refusal('preconditionFailed')
}

/** Ends the placements at sites that will be deleted, with an event each. Needs the application's lock. */
export async function clearSites(
  tx: Statements,
  appId: string,
  siteIds: readonly number[],
  { actor, now }: { actor: string; now: Date },
): Promise<void> {
  for (;;) {
    const over = await endPlacementsAt(tx, appId, siteIds, { actor, now })
    if (over.length === 0) return
    const steps = over.map((placement) => ({ type: 'device.unplaced' as const, placement }))
    await insertEventTexts(tx, steps.map(eventOf(actor)), now)
  }
}
