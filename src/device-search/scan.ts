import type { DeviceColumns } from './columns.ts'
import { asciiLower, type DeviceFilter, fittingStates, signatureOf, stateNumber } from './rules.ts'
import type { Texts } from './texts.ts'

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

/** Moves those of the first `count` rows that fit to the front; answers how many. */
type Narrowing = (rows: Int32Array, count: number) => number

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const noSerial = new Uint8Array()
/** Rows that are narrowed down together: enough to be quick, few enough to stop soon. */
const portion = 4096
// Used by one search after the other, which spares the collector megabytes a second.
const portionRows = new Int32Array(portion)
let countedRows = new Int32Array()

/** Finds devices in a copy, the newest first. */
export function search(copy: DeviceColumns, { filter, after, offset, limit, countTo }: Search): Found {
  const narrowings = narrowingsOf(copy, filter)
  if (narrowings === undefined) return { serials: [], counted: 0 }
  const { boundFrom, boundBefore } = filter
  const low = boundFrom === null ? 0 : copy.positionOf(boundFrom.getTime() * 1000, noSerial)
  const high = boundBefore === null ? copy.length : copy.positionOf(boundBefore.getTime() * 1000, noSerial)
  const states = wantedStates(filter)
  if (countedRows.length !== countTo) countedRows = new Int32Array(countTo)
  const counted = countedRows
  const count = scan(copy, states, narrowings, low, high, 0, counted)

  const key = after === null ? undefined : { boundMicros: after.boundMicros, serial: encoder.encode(after.deviceNo) }
  const begin = (key === undefined ? 0 : placeBehind(copy, counted, count, key)) + offset
  // What was counted holds the page too, unless the counting stopped before the page's end.
  let page = counted.subarray(begin, Math.min(count, begin + limit))
  if (page.length < limit && count === countTo) {
    const top = key === undefined ? high : Math.min(high, copy.positionOf(key.boundMicros, key.serial))
    page = new Int32Array(limit)
    page = page.subarray(0, scan(copy, states, narrowings, low, top, offset, page))
  }
  return { serials: Array.from(page, (row) => decoder.decode(copy.serials.at(row))), counted: count }
}

/** The states that fit, a bit each. None of them is that of a row whose device is gone. */
function wantedStates(filter: DeviceFilter): number {
  return fittingStates(filter).reduce((bits, state) => bits | (1 << stateNumber(state)), 0)
}

/**
 * The rows that fit, from the position below `high` down to `low`: passes over the first `skip`, and fills `into` as far
 * as they go.
 */
function scan(
  { order, states }: DeviceColumns,
  wanted: number,
  narrowings: Narrowing[],
  low: number,
  high: number,
  skip: number,
  into: Int32Array,
): number {
  let toSkip = skip
  let found = 0
  for (let top = high; top > low && found < into.length; top -= portion) {
    let count = 0
    for (let position = top - 1; position >= Math.max(low, top - portion); position--) {
      const row = order[position] as number
      if ((wanted >>> (states[row] as number)) & 1) portionRows[count++] = row
    }
    for (const narrow of narrowings) count = narrow(portionRows, count)
    const skipped = Math.min(toSkip, count)
    const taken = Math.min(count - skipped, into.length - found)
    into.set(portionRows.subarray(skipped, skipped + taken), found)
    toSkip -= skipped
    found += taken
  }
  return found
}

/** The place of the first of some rows, the newest first, that comes before the key. */
function placeBehind(
  copy: DeviceColumns,
  rows: Int32Array,
  count: number,
  { boundMicros, serial }: { boundMicros: number; serial: Uint8Array },
): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (copy.comesBefore(rows[middle] as number, boundMicros, serial)) high = middle
    else low = middle + 1
  }
  return low
}

/** What the filter asks for beside states and times, the cheapest first; undefined when no device has had a code. */
function narrowingsOf(copy: DeviceColumns, filter: DeviceFilter): Narrowing[] | undefined {
  const { columns } = copy
  const narrowings: Narrowing[] = []
  for (const [column, code] of [
    [columns.district, filter.districtCode],
    [columns.city, filter.cityCode],
    [columns.province, filter.provinceCode],
    [columns.model, filter.modelName],
  ] as const) {
    if (code === null) continue
    const wanted = copy.numberOf(code)
    if (wanted === undefined) return undefined
    narrowings.push(byNumber(column, wanted))
  }
  if (filter.bbox !== null) {
    const { minLng, minLat, maxLng, maxLat } = filter.bbox
    narrowings.push(byRange(columns.longitude, minLng, maxLng), byRange(columns.latitude, minLat, maxLat))
  }
  if (filter.deviceNo !== null) narrowings.push(bySerial(copy.serials, encoder.encode(filter.deviceNo)))
  if (filter.deviceName !== null) {
    const part = encoder.encode(asciiLower(filter.deviceName))
    narrowings.push(bySignature(columns, part), byName(copy.names, part))
  }
  return narrowings
}

// Each narrowing has a loop of its own: a shared one that calls a function a row takes several times as long.

function byNumber(column: Uint32Array, wanted: number): Narrowing {
  return (rows, count) => {
    let kept = 0
    for (let index = 0; index < count; index++) {
      const row = rows[index] as number
      if (column[row] === wanted) rows[kept++] = row
    }
    return kept
  }
}

function byRange(column: Float64Array, least: number, most: number): Narrowing {
  return (rows, count) => {
    let kept = 0
    for (let index = 0; index < count; index++) {
      const row = rows[index] as number
      const value = column[row] as number
      if (value >= least && value <= most) rows[kept++] = row
    }
    return kept
  }
}

function bySerial(serials: Texts, beginning: Uint8Array): Narrowing {
  return (rows, count) => {
    let kept = 0
    for (let index = 0; index < count; index++) {
      const row = rows[index] as number
      if (serials.startsWith(row, beginning)) rows[kept++] = row
    }
    return kept
  }
}

/** Keeps the names that can hold the part, as far as their signatures tell: most of the others are ruled out. */
function bySignature({ letters, pairs, otherPairs }: DeviceColumns['columns'], part: Uint8Array): Narrowing {
  const wanted = signatureOf(part)
  return (rows, count) => {
    let kept = 0
    for (let index = 0; index < count; index++) {
      const row = rows[index] as number
      const missing =
        (~(pairs[row] as number) & wanted.pairs) |
        (~(otherPairs[row] as number) & wanted.otherPairs) |
        (~(letters[row] as number) & wanted.letters)
      if (missing === 0) rows[kept++] = row
    }
    return kept
  }
}

function byName(names: Texts, part: Uint8Array): Narrowing {
  return (rows, count) => {
    let kept = 0
    for (let index = 0; index < count; index++) {
      const row = rows[index] as number
      if (names.includes(row, part)) rows[kept++] = row
    }
    return kept
  }
}
