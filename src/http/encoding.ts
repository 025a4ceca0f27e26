import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib'
import { isStreamed, type Streamed } from './message.ts'

/** Smaller responses are in one packet anyway. */
export const leastCompressed = 2000

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)
/** At this quality brotli is as fast as gzip, and its result is smaller. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }
/** Each piece is flushed: buffering would hide for a long time that the reader has gone. */
const streamOptions = {
  br: { ...brotliOptions, flush: constants.BROTLI_OPERATION_FLUSH },
  gzip: { flush: constants.Z_SYNC_FLUSH },
}

/** Compresses on another thread. */
export async function compressed(
  body: string | Uint8Array | Streamed,
  encoding: 'br' | 'gzip',
): Promise<Uint8Array | Streamed> {
  if (isStreamed(body)) return compressedStream(body, encoding)
  return encoding === 'br' ? toBrotli(body, brotliOptions) : toGzip(body)
}

// If the stream fails or its reader goes away, the source of the pieces is ended too.
function compressedStream(pieces: Streamed, encoding: 'br' | 'gzip'): Streamed {
  const compressor = encoding === 'br' ? createBrotliCompress(streamOptions.br) : createGzip(streamOptions.gzip)
  pipeline(Readable.from(pieces, { objectMode: false }), compressor, () => {})
  return compressor
}

/** RFC 9110 §12.5.3; undefined if neither is accepted. */
export function preferredEncoding(acceptEncoding: string | null): 'br' | 'gzip' | undefined {
  if (acceptEncoding === null || acceptEncoding.length > 1000) return undefined
  const qualities = new Map(acceptEncoding.toLowerCase().split(',').map(nameAndQuality))
  const qualityOf = (name: string) => qualities.get(name) ?? qualities.get('*') ?? 0
  const [br, gzip] = [qualityOf('br'), qualityOf('gzip')]
  if (br > 0 && br >= gzip) return 'br'
  return gzip > 0 ? 'gzip' : undefined
}

function nameAndQuality(part: string): [string, number] {
  const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim())
  const quality = parameters.map((parameter) => /^q=([\d.]+)$/.exec(parameter)?.[1]).find(Boolean)
  return [name, quality === undefined ? 1 : Number(quality)]
}

/** Other bytes need another strong tag (RFC 9110 §8.8.3). */
export function encodedTagOf(etag: string, encoding: 'br' | 'gzip'): string {
  return `${etag.slice(0, -1)}-${encoding}"`
}

/** Without the suffix of an encoding. A tag may itself hold a hyphen, but has 22 characters. */
export function plainTagOf(etag: string): string {
  return etag.replace(/^"([\w-]{22})-(?:br|gzip)"$/, '"$1"')
}
