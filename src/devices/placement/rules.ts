import { readActor } from '../../events/rules.ts'
import { etagOfText } from '../../http/etag.ts'
import { showMoment } from '../../vocabulary/moments.ts'
import { given } from '../../vocabulary/values.ts'
import type { PlacementBatchRow, PlacementRecord, PlacementUpsertRow } from './contract.ts'

/**
 * While the device is at the site, `removedAt`, `removedBy` and `reason` are null. `placedBy` and `removedBy` are actors as
 * the log stores them.
 */
export interface Placement extends Omit<PlacementRecord, 'placedTime' | 'removedTime'> {
  id: number
  boundAt: Date
  placedAt: Date
  removedAt: Date | null
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

/** The tag covers what a save can change, but not the site's name: a renaming fails no edit. */
export function placementTag({ id, laneType, laneName, removedAt }: Placement): string {
  return etagOfText(`${id}\n${laneType}\n${laneName ?? ''}\n${removedAt?.getTime() ?? ''}`)
}

/** Ends a placement, but never before its start, even if the clocks of two processes differ. */
export function ended(placement: Placement, at: Date, removedBy: string, reason: string | null): Placement {
  return { ...placement, removedAt: latest(at, placement.placedAt), removedBy, reason }
}

/** Returns the latest time, ignoring missing ones. */
export function latest(at: Date, ...others: (Date | null | undefined)[]): Date {
  return others.reduce<Date>((found, other) => (other != null && other > found ? other : found), at)
}

export interface Spot {
  siteId: number
  laneType: number
  laneName: string | null
}

/** `to` is null to end the placement; fields it leaves out keep their values. */
export interface PlacementChange {
  deviceNo: string
  to: Partial<Spot> | null
  reason: string | null
}

export function placing({ deviceNo, siteId, laneType, laneName }: PlacementBatchRow): PlacementChange {
  return { deviceNo, to: { siteId, laneType, laneName: given(laneName) }, reason: null }
}

/** Returns the change that an import's row asks for. Fields that it leaves out keep their values. */
export function replacing({ deviceNo, siteId, laneType, laneName }: PlacementUpsertRow): PlacementChange {
  const to = {
    ...(siteId !== undefined && { siteId }),
    ...(laneType !== undefined && { laneType }),
    ...(laneName !== undefined && { laneName: given(laneName) }),
  }
  return { deviceNo, to, reason: null }
}

/** The application's devices and sites under its lock, after the changes that are decided. */
export interface Standing {
  appId: string
  /** When the device was bound, and since when the serial has had no other owner. */
  bindings: Map<string, { boundAt: Date; heldSince: Date }>
  siteNames: Map<number, string>
  newest: Map<string, Placement>
  freeIds: number[]
}

/** Returns the rectangle that an index searches. It has all longitudes if it crosses a pole or the 180th meridian. */
export function boxAround(longitude: number, latitude: number, meters: number) {
  const degrees = (meters / earthRadiusMeters) * (180 / Math.PI) * 1.001
  const [minLat, maxLat] = [latitude - degrees, latitude + degrees]
  const widest = Math.max(Math.abs(minLat), Math.abs(maxLat))
  const wide = widest >= 90 ? Number.POSITIVE_INFINITY : degrees / Math.cos((widest * Math.PI) / 180)
  const [minLng, maxLng] = [longitude - wide, longitude + wide]
  const isWhole = minLng < -180 || maxLng > 180
  return { minLng: isWhole ? -180 : minLng, maxLng: isWhole ? 180 : maxLng, minLat, maxLat }
}

/** This is the mean radius (IUGG). */
export const earthRadiusMeters = 6_371_008.8
