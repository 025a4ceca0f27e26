import { randomUUID } from 'node:crypto'
import { yielder } from '../runtime/event-loop.ts'
import { type Fault, faultKind } from '../vocabulary/faults.ts'
import { limits } from '../vocabulary/limits.ts'
import type { Reason } from '../vocabulary/refusals.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export const jsonFault = faultKind<Reason>('json', ({ en }) => en)

/**
 * Strict: valid UTF-8, no member named twice (parsers differ on which one wins, so a retry or a proxy could mean
 * another request), no nesting beyond 32, and bounded numbers of keys and elements. A large body is read in slices.
 * Throws `jsonFault`.
 */
export function parseJson(bytes: Uint8Array): unknown | Promise<unknown> {
  if (bytes.byteLength > limits.jsonSlicedBytes) return parseLarge(bytes)
  const scan = new Scan(bytes, membersAtDepth)
  scan.read(bytes.byteLength)
  const value = parsePiece(bytes)
  requireOnce(membersOf(value), scan)
  return value
}

interface List {
  start: number
  end: number
  cuts: number[]
}

/** Members counted by depth. Shared by small bodies, which are read without a pause. */
const membersAtDepth = new Int32Array(limits.jsonDepth + 1)

/** Scans the text before it is parsed, for its cost and for places to cut it. */
class Scan {
  members = 0
  /** The longest one: it is what makes a body large. */
  list: List | undefined
  private at = 0
  private depth = 0
  private values = 0
  private longEscapes = 0
  private isInText = false
  private textStart = 0
  private textEscapes = 0
  private open: List | undefined
  private readonly bytes: Uint8Array
  private readonly membersAtDepth: Int32Array

  constructor(bytes: Uint8Array, membersAtDepth: Int32Array) {
    this.bytes = bytes
    this.membersAtDepth = membersAtDepth
    membersAtDepth[0] = 0
  }

  /** Up to about this position. Returns whether the end is reached. Throws `jsonFault` at the first exceeded limit. */
  read(until: number): boolean {
    const { bytes } = this
    let at = this.isInText ? this.endOfText(this.at, until) : this.at
    for (; at < until; at++) {
      switch (bytes[at]) {
        case 34: // "
          this.isInText = true
          this.textStart = at
          this.textEscapes = 0
          at = this.endOfText(at + 1, until) - 1
          break
        case 58: // :
          this.countMember()
          break
        case 44: // ,
          this.values++
          if (this.depth === 2) this.cut(at)
          break
        case 91: // [
          this.enter()
          if (this.depth === 2) this.open = { start: at + 1, end: at + 1, cuts: [] }
          break
        case 123: // {
          this.enter()
          break
        case 93: // ]
        case 125: // }
          if (this.depth === 2) this.close(at)
          this.depth--
      }
    }
    if (this.values > limits.jsonValues) throw tooMany('keys and elements', '成员与元素', limits.jsonValues)
    if (this.longEscapes > limits.jsonLongEscapes)
      throw tooMany('escapes in long texts', '长文本中的转义', limits.jsonLongEscapes)
    this.at = at
    return at >= bytes.byteLength
  }

  /** A long text takes several slices. */
  private endOfText(from: number, until: number): number {
    const { bytes } = this
    let at = from
    let escapes = 0
    for (; at < until && bytes[at] !== 34; at++) {
      if (bytes[at] !== 92) continue
      at++
      escapes++
    }
    this.textEscapes += escapes
    if (at < until) {
      this.isInText = false
      at++
    }
    const isOver = !this.isInText || at >= bytes.byteLength
    if (isOver && at - this.textStart > limits.jsonLongTextBytes) this.longEscapes += this.textEscapes
    return at
  }

  private countMember(): void {
    this.members++
    const count = (this.membersAtDepth[this.depth] ?? 0) + 1
    if (count > limits.jsonMembers) throw tooMany('keys in one object', '单个对象的成员', limits.jsonMembers)
    this.membersAtDepth[this.depth] = count
  }

  private enter(): void {
    this.values++
    this.depth++
    if (this.depth > limits.jsonDepth) throw jsonFault(tooDeep)
    this.membersAtDepth[this.depth] = 0
  }

  private cut(at: number): void {
    const { open } = this
    if (open === undefined || at - open.end < limits.jsonSlicedBytes) return
    open.cuts.push(at)
    open.end = at
  }

  private close(at: number): void {
    const { open } = this
    this.open = undefined
    if (open === undefined) return
    open.end = at
    if (this.list === undefined || open.end - open.start > this.list.end - this.list.start) this.list = open
  }
}

/** Without blocking the event loop: the list is cut, and each piece is parsed in a turn of its own. */
async function parseLarge(body: Uint8Array): Promise<unknown> {
  const bytes = withoutOuterSpace(body)
  const pause = yielder()
  const scan = new Scan(bytes, new Int32Array(limits.jsonDepth + 1))
  await pause()
  for (
    let until = limits.jsonSlicedBytes;
    !scan.read(Math.min(until, bytes.byteLength));
    until += limits.jsonSlicedBytes
  )
    await pause()
  const { list } = scan
  if (list === undefined || list.end - list.start < limits.jsonSlicedBytes) {
    const value = parsePiece(bytes)
    requireOnce(membersOf(value), scan)
    return value
  }
  // A random element marks the list's place: no body can contain it.
  const mark = randomUUID()
  const around = [bytes.subarray(0, list.start), Buffer.from(JSON.stringify(mark)), bytes.subarray(list.end)]
  const whole = parsePiece(Buffer.concat(around))
  // Every operation takes an object; anything else is refused as such.
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return whole
  let kept = membersOf(whole)
  const elements = Object.values(whole).find((value) => Array.isArray(value) && value[0] === mark)
  // A later member with the same name has replaced the list.
  if (elements === undefined) throw jsonFault(twice)
  elements.length = 0
  let start = list.start
  for (const end of [...list.cuts, list.end]) {
    await pause()
    const piece = parsePiece(Buffer.concat([openBracket, bytes.subarray(start, end), closeBracket]))
    if (!Array.isArray(piece) || piece.length === 0) throw jsonFault(notJson)
    for (const element of piece) elements.push(element)
    kept += membersOf(piece)
    start = end + 1
  }
  requireOnce(kept, scan)
  return whole
}

const openBracket = Buffer.from('[')
const closeBracket = Buffer.from(']')

function withoutOuterSpace(bytes: Uint8Array): Uint8Array {
  let start = 0
  let end = bytes.byteLength
  while (start < end && isSpace(bytes[start])) start++
  while (end > start && isSpace(bytes[end - 1])) end--
  return bytes.subarray(start, end)
}

function isSpace(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9
}

function parsePiece(bytes: Uint8Array): unknown {
  let source: string
  try {
    source = decoder.decode(bytes)
  } catch {
    throw jsonFault({ en: 'is not valid UTF-8', zh: '不是有效的 UTF-8' })
  }
  try {
    return JSON.parse(source)
  } catch {
    throw jsonFault(notJson)
  }
}

/** A parser keeps one member of each name; if the text has more, a name was used twice. */
function requireOnce(kept: number, written: Scan): void {
  if (kept !== written.members) throw jsonFault(twice)
}

function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const isArray = Array.isArray(value)
  const children: unknown[] = isArray ? value : Object.values(value)
  let members = isArray ? 0 : children.length
  for (let index = 0; index < children.length; index++) {
    const child = children[index]
    if (typeof child === 'object') members += membersOf(child)
  }
  return members
}

const notJson: Reason = { en: 'is not valid JSON', zh: '不是有效的 JSON' }
const twice: Reason = { en: 'has an object that names a key twice', zh: '对象中有重复的成员名' }
const tooDeep: Reason = {
  en: `is nested deeper than ${limits.jsonDepth} levels`,
  zh: `嵌套超过 ${limits.jsonDepth} 层`,
}
function tooMany(en: string, zh: string, most: number): Fault<Reason> {
  return jsonFault({ en: `has more than ${most} ${en}`, zh: `${zh}超过 ${most} 个` })
}
