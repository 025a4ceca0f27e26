import { type Box, readCoordinates } from '../values.ts'

/** What a page of devices is narrowed to; what is null does not narrow it. */
export interface DeviceFilter {
  /** The beginning of the serial number. */
  deviceNo: string | null
  /** A part of the name; ASCII letters match in both cases. */
  deviceName: string | null
  provinceCode: string | null
  cityCode: string | null
  districtCode: string | null
  modelName: string | null
  status: number | null
  onlineStatus: number | null
  runStatus: number | null
  boundFrom: Date | null
  /** The first moment that does not fit any more. */
  boundBefore: Date | null
  bbox: Box | null
}

/** The filter that every device fits. */
export const anyDevice: DeviceFilter = {
  deviceNo: null,
  deviceName: null,
  provinceCode: null,
  cityCode: null,
  districtCode: null,
  modelName: null,
  status: null,
  onlineStatus: null,
  runStatus: null,
  boundFrom: null,
  boundBefore: null,
  bbox: null,
}

/** Whether the index `device_by_state` alone finds what the filter asks for. */
export function isIndexed(filter: DeviceFilter): boolean {
  const { deviceNo, deviceName, provinceCode, cityCode, districtCode, modelName, bbox } = filter
  return [deviceNo, deviceName, provinceCode, cityCode, districtCode, modelName, bbox].every(
    (member) => member === null,
  )
}

/** What a filter looks at in a device. */
export interface FilteredDevice extends StateCombination {
  deviceNo: string
  deviceName: string
  provinceCode: string
  cityCode: string
  districtCode: string
  modelName: string | null
  coordinates: string
  boundAt: Date
}

/** Whether a device fits the filter. */
export function fits(device: FilteredDevice, filter: DeviceFilter): boolean {
  const { deviceNo, deviceName, boundFrom, boundBefore, bbox, ...same } = filter
  const { longitude, latitude } = readCoordinates(device.coordinates)
  return (
    (deviceNo === null || device.deviceNo.startsWith(deviceNo)) &&
    (deviceName === null || asciiLower(device.deviceName).includes(asciiLower(deviceName))) &&
    (boundFrom === null || device.boundAt >= boundFrom) &&
    (boundBefore === null || device.boundAt < boundBefore) &&
    (bbox === null ||
      (isBetween(longitude, bbox.minLng, bbox.maxLng) && isBetween(latitude, bbox.minLat, bbox.maxLat))) &&
    (Object.keys(same) as (keyof typeof same)[]).every((name) => same[name] === null || same[name] === device[name])
  )
}

function isBetween(value: number | null, least: number, most: number): boolean {
  return value !== null && value >= least && value <= most
}

/** A combination of the three states that a device reports. */
export interface StateCombination {
  status: number
  onlineStatus: number
  runStatus: number
}

const statuses = [1, 2]
const onlineStatuses = [1, 2]
const runStatuses = [0, 1, 2]

/** The combinations of states that fit the filter: of twelve, each is one range of the index `device_by_state`. */
export function fittingStates({ status, onlineStatus, runStatus }: DeviceFilter): StateCombination[] {
  const fitting = (states: number[], wanted: number | null) => (wanted === null ? states : [wanted])
  return fitting(statuses, status).flatMap((one) =>
    fitting(onlineStatuses, onlineStatus).flatMap((two) =>
      fitting(runStatuses, runStatus).map((three) => ({ status: one, onlineStatus: two, runStatus: three })),
    ),
  )
}

/** A number from 0 to 11 for a combination of states. */
export function stateNumber({ status, onlineStatus, runStatus }: StateCombination): number {
  return (status - 1) * 6 + (onlineStatus - 1) * 3 + runStatus
}

/** ASCII letters in lower case, all else as it is: what `lower` does to a text that is compared byte by byte. */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

/** Which bytes a text has, and which pairs of bytes, folded to 32 and to 64 bits. A part's bits are among its whole's. */
export function signatureOf(text: Uint8Array): { letters: number; pairs: number; otherPairs: number } {
  let letters = 0
  let pairs = 0
  let otherPairs = 0
  let before = 0
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number
    letters |= 1 << letterBit(byte)
    const fold = at === 0 ? -1 : Math.imul((before << 8) | byte, 0x85ebca6b) >>> 26
    if (fold >= 32) otherPairs |= 1 << (fold - 32)
    else if (fold >= 0) pairs |= 1 << fold
    before = byte
  }
  // Unsigned, as they are kept.
  return { letters: letters >>> 0, pairs: pairs >>> 0, otherPairs: otherPairs >>> 0 }
}

/** A bit of its own for each of a to z; the other bytes share six. */
function letterBit(byte: number): number {
  return byte >= 97 && byte <= 122 ? byte - 97 : 26 + (byte % 6)
}
