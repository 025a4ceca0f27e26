import { coordinatesPattern } from '../../../src/vocabulary/values.ts'

/** A place, in decimal degrees. */
export interface Point {
  longitude: number
  latitude: number
}

/** A place that something stands at. */
export interface MapPoint extends Point {
  id: number
  /** What the town and its district are called. */
  city?: string | undefined
  district?: string | undefined
}

const coordinates = new RegExp(coordinatesPattern, 'u')

/** The place that `longitude,latitude` names; undefined when it names none. */
export function readPoint(text: string): Point | undefined {
  if (!coordinates.test(text)) return undefined
  const [longitude = 0, latitude = 0] = text.split(',').map(Number)
  return { longitude, latitude }
}

/** A place as the API takes it. Six decimals are a tenth of a metre. */
export function writePoint({ longitude, latitude }: Point): string {
  return `${Number(longitude.toFixed(6))},${Number(latitude.toFixed(6))}`
}

/** Generously drawn: it is only to tell one order of two numbers from the other. */
const isInChina = ({ longitude, latitude }: Point) =>
  longitude >= 73 && longitude <= 136 && latitude >= 3 && latitude <= 54

/**
 * The same pair the other way round, where it looks as if the latitude had been written first: it is a place only that
 * way, or it lies in China only that way, as the divisions of every address do.
 */
export function swapped(text: string): string | undefined {
  const turned = text.split(',').reverse().join(',').trim()
  const [point, other] = [readPoint(text), readPoint(turned)]
  if (other === undefined) return undefined
  return point === undefined || (!isInChina(point) && isInChina(other)) ? turned : undefined
}
