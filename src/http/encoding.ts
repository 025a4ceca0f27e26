import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Smaller answers are in one packet anyway. */
export const leastCompressed = 2000

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)
/** As quick as gzip, and smaller. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

/** Compresses an answer that is made for one caller, on a thread beside the one that answers. */
export function compressed(body: string | Uint8Array, encoding: 'br' | 'gzip'): Promise<Uint8Array> {
  return encoding === 'br' ? toBrotli(body, brotliOptions) : toGzip(body)
}

/** The better of brotli and gzip that `Accept-Encoding` takes; undefined for neither (RFC 9110 §12.5.3). */
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
