import { readActor } from '../../events/rules.ts'
import { etagOfText } from '../../http/etag.ts'
import { showMoment } from '../../vocabulary/moments.ts'
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

export function showPlacement(placement: Placement): PlacementRecord {
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
export interface Spot {
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

/** The application's devices and sites as they are under its lock, and after the changes that are decided. */
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
