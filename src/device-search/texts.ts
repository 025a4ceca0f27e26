/** Many short texts as UTF-8 in one piece of memory: a million cost little more than their bytes. Only ever added to. */
export class Texts {
  private bytes: Uint8Array<ArrayBuffer>
  /** Where each text ends; it begins where the one before ends. */
  private ends: Uint32Array<ArrayBuffer>
  private count = 0

  constructor(capacity: number, averageBytes: number) {
    this.bytes = new Uint8Array(capacity * averageBytes)
    this.ends = new Uint32Array(capacity)
  }

  get byteLength(): number {
    return this.bytes.byteLength + this.ends.byteLength
  }

  /** Adds a text behind the last one. */
  push(text: Uint8Array): void {
    const start = this.start(this.count)
    const end = start + text.length
    if (end > this.bytes.length) this.bytes = grown(this.bytes, end)
    if (this.count === this.ends.length) this.ends = grown(this.ends, this.count + 1)
    this.bytes.set(text, start)
    this.ends[this.count] = end
    this.count++
  }

  at(index: number): Uint8Array {
    return this.bytes.subarray(this.start(index), this.ends[index])
  }

  startsWith(index: number, part: Uint8Array): boolean {
    return this.hasAt(this.start(index), this.ends[index] as number, part)
  }

  includes(index: number, part: Uint8Array): boolean {
    const { bytes } = this
    const end = this.ends[index] as number
    const first = part[0]
    const toLast = part.length - 1
    const last = part[toLast]
    for (let at = this.start(index); at + toLast < end; at++) {
      if (bytes[at] === first && bytes[at + toLast] === last && this.hasAt(at, end, part)) return true
    }
    return false
  }

  equals(index: number, text: Uint8Array): boolean {
    const start = this.start(index)
    const end = this.ends[index] as number
    return end - start === text.length && this.hasAt(start, end, text)
  }

  /** Below, at or above zero, as the text comes before, is, or comes after the other, byte by byte. */
  compare(index: number, other: Uint8Array): number {
    const start = this.start(index)
    const length = (this.ends[index] as number) - start
    const shared = Math.min(length, other.length)
    for (let at = 0; at < shared; at++) {
      const difference = (this.bytes[start + at] as number) - (other[at] as number)
      if (difference !== 0) return difference
    }
    return length - other.length
  }

  private start(index: number): number {
    return index === 0 ? 0 : (this.ends[index - 1] as number)
  }

  private hasAt(start: number, end: number, part: Uint8Array): boolean {
    if (start + part.length > end) return false
    // Backwards, because serials are alike at the beginning.
    for (let at = part.length - 1; at >= 0; at--) if (this.bytes[start + at] !== part[at]) return false
    return true
  }
}

type Column = Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>

/** The column with room for at least so many values. */
export function grown<Kind extends Column>(column: Kind, length: number): Kind {
  const larger = new (column.constructor as new (length: number) => Kind)(
    Math.max(length, Math.ceil(column.length * 1.3)),
  )
  larger.set(column)
  return larger
}
