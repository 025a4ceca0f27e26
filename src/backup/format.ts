import { createHash, hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { UserError } from '../runtime/user-error.ts'
import { type Head, isHead, isTail, type Section, type TableHead, type Tail } from './head.ts'

// A backup is text packed with gzip (decision 0021): the head as a line of JSON, each table's rows as COPY writes them
// with `\.` behind the last, and a line with the checksums. Each piece (a gzip member) names its length, so that pieces
// are packed and read in parallel. `zcat` reads all of it.

const pack = promisify<Buffer, { level: number }, Buffer>(gzip)
const gunzipAtMost = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)

/** A piece ends with the row that reaches this length. */
const pieceBytes = 1_048_576
/** Pieces that are packed, or unpacked. */
const atOnce = 3
/** Packed or not; rows are far shorter than this. */
const mostPieceBytes = 64 * pieceBytes
/** Of head and tail: some lines for each table. */
const mostLineBytes = pieceBytes

const formatVersion = 2
const endOfTable = Buffer.from('\\.\n')
const lineFeed = 0x0a

/** RFC 1952: with an extra field "FC" that holds the member's length; no time, no system. */
const memberStart = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 8, 0, 0x46, 0x43, 4, 0])
const headerBytes = memberStart.length + 4
/** Of the header that gzip itself writes. */
const plainHeaderBytes = 10

async function toMember(content: Buffer): Promise<Buffer> {
  const packed = (await pack(content, { level: 2 })).subarray(plainHeaderBytes)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(headerBytes + packed.length)
  return Buffer.concat([memberStart, length, packed])
}

class SectionCount {
  private rows = 0
  private bytes = 0
  private readonly hash = createHash('sha256')

  add(text: Buffer): number {
    const before = this.rows
    for (let at = text.indexOf(lineFeed); at >= 0; at = text.indexOf(lineFeed, at + 1)) this.rows++
    this.bytes += text.length
    this.hash.update(text)
    return this.rows - before
  }

  end(table: string): Section {
    return { table, rows: this.rows, bytes: this.bytes, sha256: this.hash.digest('hex') }
  }
}

/** Independent of the rows' order: their number, and the sum of the first 64 bits of each row's SHA-256. */
export class RowSum {
  rows = 0
  private high = 0
  private low = 0

  add(text: Buffer): void {
    for (let at = 0, end = text.indexOf(lineFeed); end >= 0; at = end + 1, end = text.indexOf(lineFeed, at)) {
      const digest = hash('sha256', text.subarray(at, end), 'buffer')
      this.high = (this.high + digest.readUInt32BE(0)) >>> 0
      this.low = (this.low + digest.readUInt32BE(4)) >>> 0
      this.rows++
    }
  }

  equals({ rows, high, low }: RowSum): boolean {
    return this.rows === rows && this.high === high && this.low === low
  }
}

export class BackupWriter {
  bytes = 0
  private readonly write: (piece: Buffer) => Promise<void>
  private readonly packing: Promise<Buffer>[] = []
  private readonly sections: Section[] = []
  private readonly whole = createHash('sha256')

  constructor(write: (piece: Buffer) => Promise<void>) {
    this.write = write
  }

  async begin(head: Omit<Head, 'forecourtBackup'>): Promise<void> {
    await this.add(lineOf({ forecourtBackup: formatVersion, ...head }))
  }

  /** The rows come in pieces of any length. Throws if their number differs from the head's. */
  async addTable(table: TableHead, rows: AsyncIterable<Buffer>, onRows: (rows: number) => void): Promise<void> {
    const count = new SectionCount()
    let pieces: Buffer[] = []
    let length = 0
    for await (const piece of rows) {
      onRows(count.add(piece))
      pieces.push(piece)
      length += piece.length
      if (length < pieceBytes) continue
      await this.add(Buffer.concat(pieces))
      pieces = []
      length = 0
    }
    await this.add(Buffer.concat([...pieces, endOfTable]))
    const section = count.end(table.name)
    if (section.rows !== table.rows) {
      throw new UserError(
        `Read ${section.rows} rows from the table ${table.name}, but it has ${table.rows}. Take the backup again.`,
      )
    }
    this.sections.push(section)
  }

  async end(): Promise<void> {
    while (this.packing.length > 0) await this.writeNext()
    const tail: Tail = { sections: this.sections, sha256: this.whole.digest('hex') }
    await this.put(await toMember(lineOf(tail)))
  }

  private async add(content: Buffer): Promise<void> {
    if (content.length > mostPieceBytes) throw new UserError('A row is longer than a backup can hold.')
    const packing = toMember(content)
    // `writeNext` awaits it later and reports the failure, which would count as unhandled until then.
    packing.catch(() => {})
    this.packing.push(packing)
    if (this.packing.length >= atOnce) await this.writeNext()
  }

  private async writeNext(): Promise<void> {
    const member = await this.packing.shift()
    if (member === undefined) return
    this.whole.update(member)
    await this.put(member)
  }

  private async put(member: Buffer): Promise<void> {
    await this.write(member)
    this.bytes += member.length
  }
}

function lineOf(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`)
}

/** Every byte has been verified. */
export interface Verified {
  head: Head
  tail: Tail
  bytes: number
}

const damaged = (why: string) =>
  new UserError(`The backup is damaged, and nothing was written: ${why}. Use another backup, or take a new one.`)

/** Throws `UserError` for a damaged file, for none at all and for one of a newer program. */
export async function verifyBackup(file: FileHandle, onBytes: (bytes: number) => void): Promise<Verified> {
  const { size } = await file.stat()
  const whole = createHash('sha256')
  let first: Buffer | undefined
  let last: Buffer | undefined
  for await (const { member, end } of membersOf(file, size)) {
    first ??= member
    onBytes(member.length)
    if (end === size) last = member
    else whole.update(member)
  }
  if (first === undefined || last === undefined) throw new UserError('The file is empty: it is not a backup.')
  const head = await lineIn(first)
  if (!isOfFormat(head)) throw new UserError('This isn’t a Forecourt backup file.')
  if (head.forecourtBackup > formatVersion) {
    throw new UserError('The backup is from a newer version of Forecourt. Restore it with that version.')
  }
  if (!isHead(head)) throw damaged('its first line was not written by Forecourt')
  const tail = await lineIn(last)
  if (!isTail(tail, head)) throw damaged('its end is missing')
  if (tail.sha256 !== whole.digest('hex')) throw damaged('its checksum does not match')
  return { head, tail, bytes: size }
}

const isOfFormat = (line: unknown): line is { forecourtBackup: number } =>
  typeof line === 'object' && line !== null && 'forecourtBackup' in line && typeof line.forecourtBackup === 'number'

/** Undefined for anything but one line of JSON. */
async function lineIn(member: Buffer): Promise<unknown> {
  try {
    return JSON.parse((await unpack(member, mostLineBytes)).toString())
  } catch {
    return undefined
  }
}

/** A few bytes can claim to hold gigabytes, so a member above `mostBytes` is refused. */
async function unpack(member: Buffer, mostBytes: number): Promise<Buffer> {
  try {
    return await gunzipAtMost(member, { maxOutputLength: mostBytes })
  } catch {
    throw damaged('part of it can’t be decompressed')
  }
}

interface Placed {
  member: Buffer
  end: number
}

async function* membersOf(file: FileHandle, size: number): AsyncGenerator<Placed> {
  for (let at = 0; at < size; ) {
    const header = await readAt(file, at, Math.min(headerBytes, size - at))
    const isOurs = memberStart.equals(header.subarray(0, memberStart.length)) && header.length === headerBytes
    if (!isOurs && at === 0) throw new UserError('This isn’t a Forecourt backup file.')
    if (!isOurs) throw damaged(`the content at byte ${at} is not valid`)
    const length = header.readUInt32LE(memberStart.length)
    if (length <= headerBytes || length > mostPieceBytes) throw damaged(`the content at byte ${at} is not valid`)
    if (at + length > size) throw damaged('its end is missing')
    yield { member: await readAt(file, at, length), end: at + length }
    at += length
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  for (let read = 0; read < length; ) {
    const { bytesRead } = await file.read(bytes, read, length - read, position + read)
    if (bytesRead === 0) throw damaged('its end is missing')
    read += bytesRead
  }
  return bytes
}

export class BackupReader {
  private readonly verified: Verified
  private readonly texts: AsyncGenerator<Buffer>
  private read = 0

  constructor(file: FileHandle, verified: Verified, onBytes: (bytes: number) => void) {
    this.verified = verified
    this.texts = unpackedOf(file, verified.bytes, onBytes)
  }

  /** Throws at the end if the rows differ from those that were written. */
  async *nextTable(): AsyncGenerator<Buffer> {
    // Before the first table is the head.
    if (this.read === 0) await this.texts.next()
    const section = this.verified.tail.sections[this.read++]
    const count = new SectionCount()
    for (;;) {
      const { value: text, done } = await this.texts.next()
      if (done === true) throw damaged('its end is missing')
      const isLast = text.subarray(-endOfTable.length).equals(endOfTable) && isOwnLine(text)
      const rows = isLast ? text.subarray(0, -endOfTable.length) : text
      count.add(rows)
      if (rows.length > 0) yield rows
      if (isLast) break
    }
    if (section === undefined || JSON.stringify(count.end(section.table)) !== JSON.stringify(section)) {
      throw damaged(`the checksum of the rows of ${section?.table} does not match`)
    }
  }
}

/** A value that ends in a backslash and a point has two backslashes. */
function isOwnLine(text: Buffer): boolean {
  return text.length === endOfTable.length || text.at(-endOfTable.length - 1) === lineFeed
}

/** Some of them unpacked ahead. */
async function* unpackedOf(file: FileHandle, size: number, onBytes: (bytes: number) => void): AsyncGenerator<Buffer> {
  const unpacking: Promise<Buffer>[] = []
  for await (const { member } of membersOf(file, size)) {
    onBytes(member.length)
    const unpacked = unpack(member, mostPieceBytes)
    unpacked.catch(() => {})
    unpacking.push(unpacked)
    if (unpacking.length >= atOnce) yield unpacking.shift() as Promise<Buffer>
  }
  for (const unpacked of unpacking) yield unpacked
}
