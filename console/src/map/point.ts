/** A place, in decimal degrees. */
export interface Point {
  longitude: number
  latitude: number
}

/** A place that something stands at. */
export interface MapPoint extends Point {
  id: number
}

const degrees = /^-?\d{1,3}(\.\d+)?$/

/** The two numbers of a text `a,b`; undefined when it is none. */
function readPair(text: string): [number, number] | undefined {
  const [first = '', second = '', ...rest] = text.split(',').map((part) => part.trim())
  if (rest.length > 0 || !degrees.test(first) || !degrees.test(second)) return undefined
  return [Number(first), Number(second)]
}

const isPoint = (longitude: number, latitude: number) => Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90

/** The place that `longitude,latitude` names; undefined when it names none. */
export function readPoint(text: string): Point | undefined {
  const [longitude, latitude] = readPair(text) ?? []
  if (longitude === undefined || latitude === undefined || !isPoint(longitude, latitude)) return undefined
  return { longitude, latitude }
}

/** A place as the API takes it. Six decimals are a tenth of a metre. */
export function writePoint({ longitude, latitude }: Point): string {
  return `${Number(longitude.toFixed(6))},${Number(latitude.toFixed(6))}`
}

/** Generously drawn: it is only to tell one order of two numbers from the other. */
const isInChina = (longitude: number, latitude: number) =>
  longitude >= 73 && longitude <= 136 && latitude >= 3 && latitude <= 54

/**
 * The same pair the other way round, where it looks as if the latitude had been written first: it is a place only that
 * way, or it lies in China only that way, as the divisions of every address do.
 */
export function swapped(text: string): string | undefined {
  const [first, second] = readPair(text) ?? []
  if (first === undefined || second === undefined || !isPoint(second, first)) return undefined
  const isSwapped = !isPoint(first, second) || (!isInChina(first, second) && isInChina(second, first))
  return isSwapped ? text.split(',').reverse().join(',').trim() : undefined
}
