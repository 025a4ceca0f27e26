import { readActor } from '../../events/rules.ts'
import { etagOfText, requireMatch } from '../../http/etag.ts'
import { absent } from '../../http/validate.ts'
import type { ShowMoment } from '../../vocabulary/moments.ts'
import { invalidRequest, Refusal } from '../../vocabulary/refusals.ts'
import { given } from '../../vocabulary/values.ts'
import type { PlacementBatchRow, PlacementRecord, PlacementUpsertRow } from './contract.ts'

// What a placement becomes, independent of how it is stored.

/** A stay of a device at a site; while it lasts, `removedAt`, `removedBy` and `reason` are null. */
export interface Placement {
  id: number
  appId: string
  deviceNo: string
  /** When the device was bound to the application that placed it. */
  boundAt: Date
  siteId: number
  siteName: string
  laneType: number
  laneName: string | null
  placedAt: Date
  /** Actors as the log stores them. */
  placedBy: string
  removedAt: Date | null
  removedBy: string | null
  reason: string | null
}

export function showPlacement(placement: Placement, showMoment: ShowMoment): PlacementRecord {
  const { removedAt, removedBy } = placement
  return {
    deviceNo: placement.deviceNo,
    appId: placement.appId,
    siteId: placement.siteId,
    siteName: placement.siteName,
    laneType: placement.laneType,
    laneName: placement.laneName,
    placedTime: showMoment(placement.placedAt),
    placedBy: readActor(placement.placedBy).actor,
    removedTime: removedAt === null ? null : showMoment(removedAt),
    removedBy: removedBy === null ? null : readActor(removedBy).actor,
    reason: placement.reason,
  }
}

/** The entity tag of a placement. It covers what a save can change, but not the site's name: a renaming fails no edit. */
export function placementTag({ id, laneType, laneName, removedAt }: Placement): string {
  return etagOfText(`${id}\n${laneType}\n${laneName ?? ''}\n${removedAt?.getTime() ?? ''}`)
}

/** The placement after its end. It never ends before it began, even if the clocks of two processes differ. */
export function ended(placement: Placement, at: Date, removedBy: string, reason: string | null): Placement {
  return { ...placement, removedAt: latest(at, placement.placedAt), removedBy, reason }
}

/** The latest of some moments; those that are missing do not count. */
export function latest(at: Date, ...others: (Date | null | undefined)[]): Date {
  return others.reduce<Date>((found, other) => (other != null && other > found ? other : found), at)
}

/** A site and a lane there. */
interface Spot {
  siteId: number
  laneType: number
  laneName: string | null
}

/**
 * What a change of a placement asks for: a site and a lane, or null to end the placement. Members that are left out
 * keep their values.
 */
export interface PlacementChange {
  deviceNo: string
  to: Partial<Spot> | null
  reason: string | null
}

/** The change that a save asks for. */
export function placing({ deviceNo, siteId, laneType, laneName }: PlacementBatchRow): PlacementChange {
  return { deviceNo, to: { siteId, laneType, laneName: given(laneName) }, reason: null }
}

/** The change that an import's row asks for: members that the row leaves out keep their values. */
export function replacing({ deviceNo, siteId, laneType, laneName }: PlacementUpsertRow): PlacementChange {
  const to = {
    ...(siteId !== undefined && { siteId }),
    ...(laneType !== undefined && { laneType }),
    ...(laneName !== undefined && { laneName: given(laneName) }),
  }
  return { deviceNo, to, reason: null }
}

/** The application's devices and sites as they are under its lock; `decidePlacement` keeps this up to date. */
export interface Standing {
  appId: string
  /** By serial: when the device was bound, and since when the serial has had no other owner. */
  bindings: Map<string, { boundAt: Date; heldSince: Date }>
  siteNames: Map<number, string>
  /** By serial: the newest placement, current or ended. */
  newest: Map<string, Placement>
  /** Ids for new placements, one for each change. */
  freeIds: number[]
}

/** A step of a change, each with its event: a placement that began, that has another lane, or that ended. */
export interface PlacementStep {
  type: 'device.placed' | 'device.unplaced'
  placement: Placement
}

/** A change that is decided. */
interface DecidedPlacement {
  placement: Placement
  /** None where all is so already. */
  steps: PlacementStep[]
  /** Whether the device stood at a site just before this change. */
  wasPlaced: boolean
}

/** Decides one change. Returns the placement after it, and its steps in order. Throws 10001, 20002, 30002, 20030 and 10009. */
export function decidePlacement(
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

/** The spot that a change asks for. Throws 10001 if a device without a placement is not told its site and lane type. */
function spotOf(to: Partial<Spot>, lasting: Placement | undefined): Spot {
  const { siteId = lasting?.siteId, laneType = lasting?.laneType, laneName = lasting?.laneName ?? null } = to
  if (siteId !== undefined && laneType !== undefined) return { siteId, laneType, laneName }
  const missing = Object.entries({ siteId, laneType }).filter(([, value]) => value === undefined)
  throw invalidRequest(missing.map(([field]) => ({ field, reason: absent })))
}

/** The name of the site at which a device is to be placed; undefined if the site is not the application's. */
function siteNameOf({ siteNames }: Standing, siteId: number, lasting: Placement | undefined): string | undefined {
  return siteNames.get(siteId) ?? (lasting?.siteId === siteId ? lasting.siteName : undefined)
}

const isSame = (placement: Placement, to: Spot) =>
  placement.siteId === to.siteId && placement.laneType === to.laneType && placement.laneName === to.laneName

/** Throws 10009, also for a device without a placement: nothing is there that a tag could match (RFC 9110 §13.1.1). */
function requirePresent(ifMatch: string | null, lasting: Placement | undefined): void {
  if (lasting !== undefined) requireMatch(ifMatch, placementTag(lasting))
  else if (ifMatch !== null) throw new Refusal('preconditionFailed')
}

/**
 * The rectangle around a point that a search by an index uses. It has all longitudes if it crosses a pole or the 180th
 * meridian.
 */
export function boxAround(longitude: number, latitude: number, meters: number) {
  const degrees = (meters / earthRadiusMeters) * (180 / Math.PI) * 1.001
  const [minLat, maxLat] = [latitude - degrees, latitude + degrees]
  const widest = Math.max(Math.abs(minLat), Math.abs(maxLat))
  const wide = widest >= 90 ? Number.POSITIVE_INFINITY : degrees / Math.cos((widest * Math.PI) / 180)
  const [minLng, maxLng] = [longitude - wide, longitude + wide]
  const isWhole = minLng < -180 || maxLng > 180
  return { minLng: isWhole ? -180 : minLng, maxLng: isWhole ? 180 : maxLng, minLat, maxLat }
}

/** The mean radius (IUGG). */
export const earthRadiusMeters = 6_371_008.8
