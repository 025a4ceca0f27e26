import type { DeviceColumns } from './columns.ts'
import { asciiLower, type DeviceFilter, fittingStates, signatureOf, stateNumber } from './rules.ts'

/** Which devices of a copy are wanted. */
export interface Search {
  filter: DeviceFilter
  /** The key of the device before the page: when it was bound, in microseconds since 1970, and its serial. */
  after: { boundMicros: number; deviceNo: string } | null
  /** How many that fit to pass over. */
  offset: number
  limit: number
  /** How far to count. */
  countTo: number
}

export interface Found {
  /** The newest first. */
  serials: string[]
  counted: number
}

/** Moves those of the first `count` positions that fit to the front; answers how many. */
type Narrowing = (positions: Int32Array, count: number) => number

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const noSerial = new Uint8Array()
/** Positions that are narrowed down together: enough to be quick, few enough to stop soon. */
const portion = 4096
// Used by one search after the other, which spares the collector megabytes a second.
const positions = new Int32Array(portion)
let countedPositions = new Int32Array()

/** Finds devices in a copy, the newest first. */
export function search(copy: DeviceColumns, { filter, after, offset, limit, countTo }: Search): Found {
  const narrowings = narrowingsOf(copy, filter)
  if (narrowings === undefined) return { serials: [], counted: 0 }
  const { boundFrom, boundBefore } = filter
  const low = boundFrom === null ? 0 : copy.positionOf(boundFrom.getTime() * 1000, noSerial)
  const high = boundBefore === null ? copy.length : copy.positionOf(boundBefore.getTime() * 1000, noSerial)
  if (countedPositions.length !== countTo) countedPositions = new Int32Array(countTo)
  const counted = countedPositions
  const count = scan(narrowings, low, high, 0, counted)

  const top = after === null ? high : copy.positionOf(after.boundMicros, encoder.encode(after.deviceNo))
  const begin = placeBelow(counted, count, top) + offset
  // What was counted holds the page too, unless the counting stopped before the page's end.
  let page = counted.subarray(begin, Math.min(count, begin + limit))
  if (page.length < limit && count === countTo) {
    page = new Int32Array(limit)
    page = page.subarray(0, scan(narrowings, low, Math.min(top, high), offset, page))
  }
  const serials = Array.from(page, (position) => decoder.decode(copy.serials.at(copy.order[position] as number)))
  return { serials, counted: count }
}

/** The positions that fit, from the highest down: passes over the first `skip`, and fills `into` as far as they go. */
function scan(narrowings: Narrowing[], low: number, high: number, skip: number, into: Int32Array): number {
  let toSkip = skip
  let found = 0
  for (let top = high; top > low && found < into.length; top -= portion) {
    let count = Math.min(portion, top - low)
    for (let index = 0; index < count; index++) positions[index] = top - 1 - index
    for (const narrow of narrowings) count = narrow(positions, count)
    const skipped = Math.min(toSkip, count)
    const taken = Math.min(count - skipped, into.length - found)
    into.set(positions.subarray(skipped, skipped + taken), found)
    toSkip -= skipped
    found += taken
  }
  return found
}

/** The place of the first of some descending positions that is below `top`. */
function placeBelow(positions: Int32Array, count: number, top: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((positions[middle] as number) < top) high = middle
    else low = middle + 1
  }
  return low
}

/** What the filter asks for, the cheapest first; undefined when it names a code that no device has had. */
function narrowingsOf(copy: DeviceColumns, filter: DeviceFilter): Narrowing[] | undefined {
  const { columns } = copy
  const narrowings = [byState(copy, filter)]
  for (const [column, code] of [
    [columns.district, filter.districtCode],
    [columns.city, filter.cityCode],
    [columns.province, filter.provinceCode],
    [columns.model, filter.modelName],
  ] as const) {
    if (code === null) continue
    const wanted = copy.numberOf(code)
    if (wanted === undefined) return undefined
    narrowings.push(byNumber(copy, column, wanted))
  }
  if (filter.bbox !== null) {
    const { minLng, minLat, maxLng, maxLat } = filter.bbox
    narrowings.push(byRange(copy, columns.longitude, minLng, maxLng), byRange(copy, columns.latitude, minLat, maxLat))
  }
  if (filter.deviceNo !== null) narrowings.push(bySerial(copy, encoder.encode(filter.deviceNo)))
  if (filter.deviceName !== null) {
    const part = encoder.encode(asciiLower(filter.deviceName))
    narrowings.push(bySignature(copy, part), byName(copy, part))
  }
  return narrowings
}

// Each narrowing has a loop of its own: a shared one that calls a function a row takes several times as long.

/** Also passes over rows whose device is gone. */
function byState({ order, states }: DeviceColumns, filter: DeviceFilter): Narrowing {
  const wanted = fittingStates(filter).reduce((mask, state) => mask | (1 << stateNumber(state)), 0)
  return (positions, count) => {
    let kept = 0
    for (let index = 0; index < count; index++) {
      const position = positions[index] as number
      if ((wanted >>> (states[order[position] as number] as number)) & 1) positions[kept++] = position
    }
    return kept
  }
}

function byNumber({ order }: DeviceColumns, column: Uint32Array, wanted: number): Narrowing {
  return (positions, count) => {
    let kept = 0
    for (let index = 0; index < count; index++) {
      const position = positions[index] as number
      if (column[order[position] as number] === wanted) positions[kept++] = position
    }
    return kept
  }
}

/** Keeps the names that can hold the part, as far as their signatures tell: most of the others are ruled out. */
function bySignature({ order, columns }: DeviceColumns, part: Uint8Array): Narrowing {
  const wanted = signatureOf(part)
  const { letters, pairs, otherPairs } = columns
  return (positions, count) => {
    let kept = 0
    for (let index = 0; index < count; index++) {
      const position = positions[index] as number
      const row = order[position] as number
      const missing =
        (~(pairs[row] as number) & wanted.pairs) |
        (~(otherPairs[row] as number) & wanted.otherPairs) |
        (~(letters[row] as number) & wanted.letters)
      if (missing === 0) positions[kept++] = position
    }
    return kept
  }
}

function byRange({ order }: DeviceColumns, column: Float64Array, least: number, most: number): Narrowing {
  return (positions, count) => {
    let kept = 0
    for (let index = 0; index < count; index++) {
      const position = positions[index] as number
      const value = column[order[position] as number] as number
      if (value >= least && value <= most) positions[kept++] = position
    }
    return kept
  }
}

function bySerial({ order, serials }: DeviceColumns, beginning: Uint8Array): Narrowing {
  return (positions, count) => {
    let kept = 0
    for (let index = 0; index < count; index++) {
      const position = positions[index] as number
      if (serials.startsWith(order[position] as number, beginning)) positions[kept++] = position
    }
    return kept
  }
}

function byName({ order, names }: DeviceColumns, part: Uint8Array): Narrowing {
  return (positions, count) => {
    let kept = 0
    for (let index = 0; index < count; index++) {
      const position = positions[index] as number
      if (names.includes(order[position] as number, part)) positions[kept++] = position
    }
    return kept
  }
}
