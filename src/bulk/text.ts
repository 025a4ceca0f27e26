import { isAscii } from 'node:buffer'
import { Pieces } from '../http/pieces.ts'
import { yielder } from '../runtime/event-loop.ts'
import { invalidField } from '../vocabulary/refusals.ts'
import type { ImportFormat } from './contract.ts'
import { isUtf16, TwoReadings, utf8Mark } from './encodings.ts'

/** Others get a turn after this many bytes. With rows of two bytes, parsing them takes some milliseconds. */
const sliceBytes = 1024
/** How much is read to guess an encoding, from the first bytes beyond ASCII on. */
const guessedBytes = 64 * 1024

/** Yields the text in slices with turns between: in the named encoding, else UTF-8, else GB18030. */
export async function* textOf(
  file: AsyncIterable<Uint8Array> & { readonly charset: string | null },
  format: ImportFormat,
): AsyncGenerator<string> {
  const giveTurn = yielder()
  const text = new TextReader(format, file.charset)
  for await (const bytes of file) {
    for (const slice of slicesOf(bytes)) {
      await giveTurn()
      yield* text.read(slice)
    }
  }
  yield* text.end()
}

function* slicesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.byteLength; from += sliceBytes) yield bytes.subarray(from, from + sliceBytes)
}

class TextReader {
  private readonly format: ImportFormat
  private decoder: TextDecoder | undefined
  private hasBegun = false
  private kept = new Pieces()
  /** Set when the file is read as UTF-8 only because it can be. */
  private readings: TwoReadings | undefined

  constructor(format: ImportFormat, charset: string | null) {
    this.format = format
    this.decoder = charset === null ? undefined : decoderOf(charset, format, false)
  }

  *read(slice: Uint8Array): Generator<string> {
    const isFirst = !this.hasBegun && this.kept.size === 0
    if (isFirst && isUtf16(slice)) throw isInUtf16()
    if (this.decoder !== undefined) {
      this.hasBegun = true
      this.readings?.read(slice)
      return yield decode(this.decoder, slice)
    }
    // ASCII text has the same bytes in UTF-8 and GB18030.
    if (this.kept.size === 0 && isAscii(slice)) {
      this.hasBegun = true
      return yield decode(ascii, slice)
    }
    this.kept.add(slice)
    if (this.kept.size >= guessedBytes) yield* this.guess(true)
  }

  /** Throws 10001 for a file that two encodings can read. */
  *end(): Generator<string> {
    const isGuessed = this.decoder === undefined
    if (isGuessed) this.choose(this.kept.whole, false)
    if (this.readings?.isAmbiguous) throw isAmbiguous()
    if (isGuessed) yield* this.decodeKept()
    if (this.decoder !== undefined) yield decode(this.decoder)
  }

  private *guess(isCut: boolean): Generator<string> {
    this.choose(this.kept.whole, isCut)
    yield* this.decodeKept()
  }

  private choose(bytes: Uint8Array, isCut: boolean): void {
    this.decoder = guessedDecoder(bytes, this.format, isCut, this.hasBegun)
    const isMarked = !this.hasBegun && utf8Mark.every((byte, index) => bytes[index] === byte)
    if (this.format !== 'csv' || this.decoder.encoding !== 'utf-8' || isMarked) return
    this.readings = new TwoReadings()
    this.readings.read(bytes)
  }

  private *decodeKept(): Generator<string> {
    const { whole } = this.kept
    this.kept = new Pieces()
    for (const slice of slicesOf(whole)) yield decode(this.decoder as TextDecoder, slice)
  }
}

export const bodyFault = (en: string, zh: string) => invalidField('body', en, zh)

function isAmbiguous() {
  return bodyFault(
    'can be read as UTF-8 and as GB18030, with different letters; specify its encoding, such as text/csv; charset=gb18030 or charset=utf-8',
    '按 UTF-8 和 GB18030 都能读取，但文字不同：请注明编码，如 text/csv; charset=gb18030 或 charset=utf-8',
  )
}

function isInUtf16() {
  return bodyFault('is UTF-16: save it as “CSV UTF-8”', '是 UTF-16：请另存为“CSV UTF-8”')
}

const ascii = new TextDecoder()
const utf8 = /^utf[-_]?8$/i
const gb18030 = /^(gb[-_]?18030|gbk|gb[-_]?2312|gb_?2312-80|csgb2312|(cp|ms|windows-)936|x-gbk|euc-cn)$/i

/** Returns a charset's decoder. `ignoreBOM` is set after the start, where a byte-order mark is ordinary text. */
function decoderOf(charset: string, format: ImportFormat, ignoreBOM: boolean): TextDecoder {
  const options = { fatal: true, ignoreBOM }
  if (utf8.test(charset)) return new TextDecoder('utf-8', options)
  if (format === 'csv' && gb18030.test(charset)) return new TextDecoder('gb18030', options)
  const taken = format === 'csv' ? { en: 'UTF-8 or GB18030', zh: 'UTF-8 或 GB18030' } : { en: 'UTF-8', zh: 'UTF-8' }
  throw invalidField('Content-Type', `must have the charset ${taken.en}`, `charset 必须是 ${taken.zh}`, 415)
}

/** Assumes UTF-8 if well-formed; `TwoReadings` finds the exceptions. */
function guessedDecoder(bytes: Uint8Array, format: ImportFormat, isCut: boolean, hasBegun: boolean): TextDecoder {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut })
  } catch {
    if (format === 'csv') return decoderOf('gb18030', format, hasBegun)
  }
  return decoderOf('utf-8', format, hasBegun)
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
  try {
    return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
  } catch {
    throw decoder.encoding === 'utf-8'
      ? bodyFault(
          'is not UTF-8; specify the encoding of a CSV file, such as text/csv; charset=gb18030, or save it as UTF-8',
          '不是 UTF-8：如为 CSV 请注明编码，如 text/csv; charset=gb18030，或另存为 UTF-8',
        )
      : bodyFault('is not GB18030: save it as UTF-8', '不是 GB18030：请另存为 UTF-8')
  }
}
