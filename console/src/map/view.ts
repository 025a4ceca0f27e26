import type { Box } from '../../../src/vocabulary/values.ts'
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

/** Points closer than this, in pixels, are drawn as one group. */
const cell = 36

/** A group of points, drawn at the place of the first of them. */
export interface Group extends Point {
  points: MapPoint[]
}

/** Groups points that would cover each other. */
export function groupsOf(points: readonly MapPoint[], pixelOf: (point: MapPoint) => { x: number; y: number }): Group[] {
  const groups = new Map<string, Group>()
  for (const point of points) {
    const { x, y } = pixelOf(point)
    const key = `${Math.floor(x / cell)},${Math.floor(y / cell)}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { ...point, points: [point] })
    else group.points.push(point)
  }
  return [...groups.values()]
}

/**
 * The names of the places with points: towns, or districts if all points lie in one town. Each is named once, where the
 * first of its points lies, and those with the most points come first.
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
