import type { Box } from '../../../src/vocabulary/coordinates.ts'
import type { MapPoint, Point } from './point.ts'

// The visible part of a map, its lines of longitude and latitude, the grouping of points, and the names of places.

/** The whole country, shown if there are no points. */
const country: Box = { minLng: 73, minLat: 17, maxLng: 136, maxLat: 54 }

/** The smallest extent to show, in degrees, as for a single point: some streets. */
const leastSpan = 0.02

/** The initial extent of a map: all of its points, with a margin. */
export function boxOf(points: readonly Point[]): Box {
  if (points.length === 0) return country
  const longitudes = points.map(({ longitude }) => longitude)
  const latitudes = points.map(({ latitude }) => latitude)
  const [minLng, maxLng] = widened(Math.min(...longitudes), Math.max(...longitudes))
  const [minLat, maxLat] = widened(Math.min(...latitudes), Math.max(...latitudes))
  return clamped({ minLng, minLat, maxLng, maxLat })
}

function widened(least: number, most: number): [number, number] {
  const room = Math.max((most - least) * 0.1, leastSpan / 2)
  return [least - room, most + room]
}

/** Limits a box to the globe. */
export function clamped({ minLng, minLat, maxLng, maxLat }: Box): Box {
  return {
    minLng: Math.max(minLng, -180),
    minLat: Math.max(minLat, -90),
    maxLng: Math.min(maxLng, 180),
    maxLat: Math.min(maxLat, 90),
  }
}

/** Formats a box for the API's `bbox`. */
export function writeBox(box: Box): string {
  const { minLng, minLat, maxLng, maxLat } = clamped(box)
  return [minLng, minLat, maxLng, maxLat].map((degrees) => Number(degrees.toFixed(6))).join(',')
}

const steps = [30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001]

/** The lines to draw in a part of the map: round degrees, at most `most` across. */
export function graticuleOf(
  { minLng, minLat, maxLng, maxLat }: Box,
  most = 8,
): { longitudes: number[]; latitudes: number[] } {
  const span = Math.max(maxLng - minLng, maxLat - minLat)
  const step = steps.findLast((candidate) => span / candidate <= most) ?? 30
  return { longitudes: multiples(minLng, maxLng, step), latitudes: multiples(minLat, maxLat, step) }
}

function multiples(least: number, most: number, step: number): number[] {
  const first = Math.ceil(least / step)
  const count = Math.max(0, Math.floor(most / step) - first + 1)
  return Array.from({ length: count }, (_, index) => Number(((first + index) * step).toFixed(4)))
}

export const longitudeName = (degrees: number) => named(degrees, 'E', 'W')
export const latitudeName = (degrees: number) => named(degrees, 'N', 'S')

function named(degrees: number, positive: string, negative: string): string {
  if (degrees === 0) return '0°'
  return `${Math.abs(degrees)}°${degrees > 0 ? positive : negative}`
}

/** A group of points, drawn in their middle. */
export interface Group extends Point {
  points: MapPoint[]
}

/** Half of the size in which a group is drawn, in pixels: one point is a dot, several a number. */
export function halfSizeOf({ points }: Group): { width: number; height: number } {
  if (points.length === 1) return { width: 8, height: 8 }
  return { width: Math.max(15, String(points.length).length * 4 + 6), height: 15 }
}

/**
 * Points closer than `close` are one group from the start. Cells of `spot` pixels are larger than any group, so groups
 * that touch are in cells that touch.
 */
const [close, spot] = [16, 80]
/** Between two groups, in pixels. */
const gap = 2

type PixelOf = (point: Point) => { x: number; y: number }

/** Groups points so that no group covers another. */
export function groupsOf(points: readonly MapPoint[], pixelOf: PixelOf): Group[] {
  const cells = new Map<string, MapPoint[]>()
  for (const point of points) {
    const { x, y } = pixelOf(point)
    const key = `${Math.floor(x / close)},${Math.floor(y / close)}`
    const cell = cells.get(key)
    if (cell === undefined) cells.set(key, [point])
    else cell.push(point)
  }
  let groups = [...cells.values()].map(groupOf)
  for (;;) {
    const merged = mergedOnce(groups, pixelOf)
    if (merged.length === groups.length) return merged
    groups = merged
  }
}

function groupOf(points: MapPoint[]): Group {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  return {
    points,
    longitude: mean(points.map(({ longitude }) => longitude)),
    latitude: mean(points.map(({ latitude }) => latitude)),
  }
}

/** Joins each group with one that it covers, the largest first. */
function mergedOnce(groups: readonly Group[], pixelOf: PixelOf): Group[] {
  const placed = groups
    .map((group) => ({ group, ...pixelOf(group), half: halfSizeOf(group) }))
    .toSorted((one, other) => other.group.points.length - one.group.points.length)
  const spots = new Map<string, typeof placed>()
  const spotOf = (x: number, y: number) => `${Math.floor(x / spot)},${Math.floor(y / spot)}`
  const kept: Group[] = []
  for (const one of placed) {
    const near = [-spot, 0, spot].flatMap((dx) =>
      [-spot, 0, spot].flatMap((dy) => spots.get(spotOf(one.x + dx, one.y + dy)) ?? []),
    )
    const covered = near.find(
      (other) =>
        Math.abs(other.x - one.x) < other.half.width + one.half.width + gap &&
        Math.abs(other.y - one.y) < other.half.height + one.half.height + gap,
    )
    if (covered !== undefined) {
      // The group's middle is computed again in the next pass.
      covered.group.points.push(...one.group.points)
      continue
    }
    const key = spotOf(one.x, one.y)
    spots.set(key, [...(spots.get(key) ?? []), one])
    kept.push(one.group)
  }
  return kept.map(({ points }) => groupOf(points))
}

/**
 * The names of the places with points: towns, or districts if all points lie in one town. Each name is written once, at
 * the first of its points; places with the most points come first.
 */
export function placeNames(points: readonly MapPoint[]): (Point & { name: string })[] {
  const isOneTown = new Set(points.map(({ city }) => city)).size === 1
  const places = new Map<string, MapPoint[]>()
  for (const point of points) {
    const name = (isOneTown && point.district) || point.city
    if (name) places.set(name, [...(places.get(name) ?? []), point])
  }
  return [...places]
    .toSorted(([, some], [, others]) => others.length - some.length)
    .flatMap(([name, [first]]) => (first === undefined ? [] : [{ ...first, name }]))
}
