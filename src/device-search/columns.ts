import { readCoordinates } from '../values.ts'
import { type StateCombination, signatureOf, stateNumber } from './rules.ts'
import { grown, Texts } from './texts.ts'

/** What a copy takes of a device. */
export interface CopiedDevice extends StateCombination {
  deviceNo: string
  /** When it was bound, in microseconds since 1970. */
  boundMicros: number
  deviceName: string
  provinceCode: string
  cityCode: string
  districtCode: string
  modelName: string | null
  coordinates: string
}

/** What is kept of a device beside its state, its serial and its name. */
const kinds = {
  boundMicros: Float64Array,
  longitude: Float64Array,
  latitude: Float64Array,
  // Codes and model names as numbers, see `numberOf`.
  province: Uint32Array,
  city: Uint32Array,
  district: Uint32Array,
  model: Uint32Array,
  // Which letters and which pairs of letters the name has; most names are ruled out by it.
  letters: Uint32Array,
  pairs: Uint32Array,
  otherPairs: Uint32Array,
} as const

type Values = Record<keyof typeof kinds, number>
type Columns = { [Name in keyof typeof kinds]: InstanceType<(typeof kinds)[Name]> }
const columnNames = Object.keys(kinds) as (keyof typeof kinds)[]

/** A state that no filter asks for: the row's device is not there any more, or has got another row. */
const gone = 31
const encoder = new TextEncoder()
const averageTextBytes = 20

/**
 * The devices of one application as columns in memory, about a hundred bytes a device: a look at a million of them
 * takes milliseconds, whatever is asked for together.
 */
export class DeviceColumns {
  /** Rows in the order of pages, the oldest first: by when their devices were bound, then by serial. */
  order: Int32Array<ArrayBuffer>
  /** How many rows `order` holds. */
  length = 0
  columns: Columns
  /** Each row's `stateNumber`. */
  states: Uint8Array<ArrayBuffer>
  /** With ASCII letters in lower case. */
  readonly names: Texts
  readonly serials: Texts
  private readonly numbers = new Map<string, number>()
  private rows = 0
  private goneInOrder = 0
  /** From a serial's hash to its newest row, by open addressing; −1 is free. */
  private slots: Int32Array<ArrayBuffer>

  constructor(devices: number) {
    const room = Math.max(16, devices)
    this.order = new Int32Array(room)
    this.states = new Uint8Array(room)
    this.columns = Object.fromEntries(columnNames.map((name) => [name, new kinds[name](room)])) as unknown as Columns
    this.names = new Texts(room, averageTextBytes)
    this.serials = new Texts(room, averageTextBytes)
    this.slots = freeSlots(room)
  }

  /** How many devices there are. */
  get devices(): number {
    return this.length - this.goneInOrder
  }

  get byteLength(): number {
    const all = [this.order, this.states, this.names, this.serials, this.slots, ...Object.values(this.columns)]
    return all.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** Whether rows without a device have become so many that a fresh copy is worth making. */
  get isLoose(): boolean {
    return this.rows > 2 * this.devices + 10_000
  }

  /** The number of a code or a model name; undefined when no device has had it. */
  numberOf(text: string): number | undefined {
    return this.numbers.get(text)
  }

  /** Adds the device, or brings it up to date. */
  put(device: CopiedDevice): void {
    const serial = encoder.encode(device.deviceNo)
    const name = lowered(encoder.encode(device.deviceName))
    const values = this.valuesOf(device, name)
    const state = stateNumber(device)
    const known = this.find(serial)
    if (known === -1 || this.states[known] === gone) {
      this.place(this.append(values, serial, name, state), serial)
    } else if (this.hasSame(known, values, name)) {
      this.states[known] = state
    } else {
      this.replace(known, this.append(values, serial, name, state), serial)
    }
  }

  /** Takes the device out, if it is there. */
  remove(deviceNo: string): void {
    const row = this.find(encoder.encode(deviceNo))
    if (row === -1 || this.states[row] === gone) return
    this.states[row] = gone
    this.goneInOrder++
  }

  /** How many rows of `order` come before this key. */
  positionOf(boundMicros: number, serial: Uint8Array): number {
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.comesBefore(this.order[middle] as number, boundMicros, serial)) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Whether the row's key comes before this one. */
  comesBefore(row: number, boundMicros: number, serial: Uint8Array): boolean {
    const difference = (this.columns.boundMicros[row] as number) - boundMicros
    return difference === 0 ? this.serials.compare(row, serial) < 0 : difference < 0
  }

  private valuesOf(device: CopiedDevice, name: Uint8Array): Values {
    const { longitude, latitude } = readCoordinates(device.coordinates)
    const { letters, pairs, otherPairs } = signatureOf(name)
    return {
      boundMicros: device.boundMicros,
      longitude: longitude ?? Number.NaN,
      latitude: latitude ?? Number.NaN,
      province: this.toNumber(device.provinceCode),
      city: this.toNumber(device.cityCode),
      district: this.toNumber(device.districtCode),
      model: device.modelName === null ? 0 : this.toNumber(device.modelName),
      letters,
      pairs,
      otherPairs,
    }
  }

  private toNumber(text: string): number {
    const known = this.numbers.get(text)
    if (known !== undefined) return known
    const number = this.numbers.size + 1
    this.numbers.set(text, number)
    return number
  }

  private hasSame(row: number, values: Values, name: Uint8Array): boolean {
    return columnNames.every((column) => this.columns[column][row] === values[column]) && this.names.equals(row, name)
  }

  /** Writes a new row. It is found by its serial from now on. */
  private append(values: Values, serial: Uint8Array, name: Uint8Array, state: number): number {
    const row = this.rows++
    if (row === this.states.length) this.grow()
    for (const column of columnNames) this.columns[column][row] = values[column]
    this.states[row] = state
    this.names.push(name)
    this.serials.push(serial)
    this.slots[this.slotOf(serial)] = row
    return row
  }

  private grow(): void {
    const room = Math.ceil(this.rows * 1.3)
    this.states = grown(this.states, room)
    this.columns = Object.fromEntries(
      columnNames.map((name) => [name, grown(this.columns[name], room)]),
    ) as unknown as Columns
    const outgrown = this.slots
    this.slots = freeSlots(room)
    for (const row of outgrown) if (row !== -1) this.slots[this.slotOf(this.serials.at(row))] = row
  }

  /** Puts the row where its key belongs: nearly always behind all others, and before a row that is gone with its key. */
  private place(row: number, serial: Uint8Array): void {
    if (this.length === this.order.length) this.order = grown(this.order, Math.ceil(this.length * 1.3))
    const boundMicros = this.columns.boundMicros[row] as number
    const isLast = this.length === 0 || this.comesBefore(this.order[this.length - 1] as number, boundMicros, serial)
    const position = isLast ? this.length : this.positionOf(boundMicros, serial)
    if (!isLast) this.order.copyWithin(position + 1, position, this.length)
    this.order[position] = row
    this.length++
  }

  /** Gives a device that is there another row. */
  private replace(known: number, row: number, serial: Uint8Array): void {
    const { boundMicros } = this.columns
    this.states[known] = gone
    if (boundMicros[known] === boundMicros[row]) {
      this.order[this.positionOf(boundMicros[row] as number, serial)] = row
    } else {
      this.goneInOrder++
      this.place(row, serial)
    }
  }

  /** The newest row of the serial; −1 when it has none. */
  private find(serial: Uint8Array): number {
    return this.slots[this.slotOf(serial)] as number
  }

  /** The slot that the serial has, or would have. */
  private slotOf(serial: Uint8Array): number {
    const mask = this.slots.length - 1
    let slot = hashOf(serial) & mask
    for (;;) {
      const row = this.slots[slot] as number
      if (row === -1 || this.serials.equals(row, serial)) return slot
      slot = (slot + 1) & mask
    }
  }
}

/** Twice as many as rows at least, and a power of two. */
function freeSlots(rows: number): Int32Array<ArrayBuffer> {
  return new Int32Array(2 ** Math.ceil(Math.log2(rows * 2))).fill(-1)
}

/** FNV-1a, and a last mix, because only its low bits are used. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5
  // By index: an iterator costs more than the rest.
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193)
  return hash ^ (hash >>> 15)
}

/** Turns ASCII letters into lower case, in place. */
function lowered<Bytes extends Uint8Array>(text: Bytes): Bytes {
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number
    if (byte >= 65 && byte <= 90) text[at] = byte + 32
  }
  return text
}
