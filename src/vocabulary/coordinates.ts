import Type from 'typebox'
import type { Reason } from './refusals.ts'
import { lengths, named, reasonKey, shownKey, withExample } from './values.ts'

const longitude = String.raw`-?(180(\.0+)?|(1[0-7]\d|0?\d{1,2})(\.\d+)?)`
const latitude = String.raw`-?(90(\.0+)?|[0-8]?\d(\.\d+)?)`

export const coordinatesPattern = `^(?=.{1,${lengths.coordinates}}$)${longitude} *, *${latitude}$`

const longitudeAndLatitude = Type.String({
  pattern: coordinatesPattern,
  [shownKey]: { type: 'string', maxLength: lengths.coordinates, pattern: `^${longitude} *, *${latitude}$` },
  description:
    'Longitude and latitude in decimal degrees, separated by a comma, in the `coordinateSystem` from `getApplication` (GCJ-02 by default). Never converted.',
  [reasonKey]: {
    en: 'must be longitude,latitude in decimal degrees, −180 to 180 and −90 to 90, at most 64 characters',
    zh: '必须是“经度,纬度”（十进制度），经度 −180 至 180，纬度 −90 至 90，最多 64 个字符',
  } satisfies Reason,
})

export const coordinates = named('Coordinates', withExample(longitudeAndLatitude, '115.899918,28.676493'))

const swappedCoordinates = new RegExp(`^(?=.{1,64}$)${latitude} *, *${longitude}$`, 'u')

/** Undefined unless longitude and latitude are swapped. */
export function coordinatesReason(value: unknown): Reason | undefined {
  if (typeof value !== 'string' || !swappedCoordinates.test(value)) return undefined
  return {
    en: 'is out of range; it looks like latitude,longitude, but longitude comes first',
    zh: '超出范围；看起来是“纬度,经度”，应将经度写在前面',
  }
}

export function readCoordinates(value: string | null): { longitude: number | null; latitude: number | null } {
  if (value === null) return { longitude: null, latitude: null }
  const comma = value.indexOf(',')
  return { longitude: Number(value.slice(0, comma)), latitude: Number(value.slice(comma + 1)) }
}

export const bbox = Type.Refine(
  Type.String({
    pattern: `^(?=.{1,128}$)${longitude} *, *${latitude} *, *${longitude} *, *${latitude}$`,
    [shownKey]: {
      type: 'string',
      maxLength: 128,
      pattern: `^${longitude} *, *${latitude} *, *${longitude} *, *${latitude}$`,
    },
    description:
      'A map area: minLng,minLat,maxLng,maxLat in decimal degrees, edges included. Minimums can’t exceed maximums.',
    [reasonKey]: {
      en: 'must be minLng,minLat,maxLng,maxLat in decimal degrees, −180 to 180 and −90 to 90, no minimum above its maximum',
      zh: '必须是“最小经度,最小纬度,最大经度,最大纬度”（十进制度），经度 −180 至 180，纬度 −90 至 90，且最小值不得大于最大值',
    } satisfies Reason,
  }),
  (value) => {
    const { minLng, minLat, maxLng, maxLat } = readBbox(value)
    return minLng <= maxLng && minLat <= maxLat
  },
)

/** A part of the map, with its edges. */
export interface Box {
  minLng: number
  minLat: number
  maxLng: number
  maxLat: number
}

export function readBbox(value: string): Box {
  const [minLng = 0, minLat = 0, maxLng = 0, maxLat = 0] = value.split(',').map(Number)
  return { minLng, minLat, maxLng, maxLat }
}
