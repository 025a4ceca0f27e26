import { type Box, coordinatesPattern } from '../../../src/vocabulary/coordinates.ts'

/** A place, in decimal degrees. */
export interface Point {
  longitude: number
  latitude: number
}

/** A point to draw on a map. */
export interface MapPoint extends Point {
  id: number
  /** The names of the town and its district. */
  city?: string | undefined
  district?: string | undefined
}

const coordinates = new RegExp(coordinatesPattern, 'u')

/** Parses `longitude,latitude`; returns undefined if it is malformed. */
export function readPoint(text: string): Point | undefined {
  if (!coordinates.test(text)) return undefined
  const [longitude = 0, latitude = 0] = text.split(',').map(Number)
  return { longitude, latitude }
}

/** Formats a place for the API. Six decimals are a tenth of a metre. */
export function writePoint({ longitude, latitude }: Point): string {
  return `${Number(longitude.toFixed(6))},${Number(latitude.toFixed(6))}`
}

/** A generous box round China: it only has to distinguish the two orders of a pair. */
const isInChina = ({ longitude, latitude }: Point) =>
  longitude >= 73 && longitude <= 136 && latitude >= 3 && latitude <= 54

/**
 * Returns the pair swapped, if its latitude seems to come first: only the swapped pair is a valid place, or
 * only it lies in China, where all addresses are.
 */
export function swapped(text: string): string | undefined {
  const turned = text.split(',').reverse().join(',').trim()
  const [point, other] = [readPoint(text), readPoint(turned)]
  if (other === undefined) return undefined
  return point === undefined || (!isInChina(point) && isInChina(other)) ? turned : undefined
}

/** The props of a map. */
export interface MapProps {
  /** A description of the map for screen readers. */
  label: string
  points: readonly MapPoint[]
  /** The ids of the points that are marked. */
  chosen?: readonly number[]
  /** A point of another kind, drawn apart from the others as a ring. */
  ring?: Point | undefined
  /** The part to show instead of all points. */
  area?: Box | undefined
  /** Called with the visible part whenever it changes. */
  onArea?: ((box: Box) => void) | undefined
  /** Called with the points that were clicked. */
  onSelect?: ((ids: number[]) => void) | undefined
  /** Called with the place that was clicked. */
  onPick?: ((point: Point) => void) | undefined
}
