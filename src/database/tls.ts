import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext } from 'node:tls'
import { UserError } from '../runtime/user-error.ts'

/**
 * The driver's `ssl` option. With a word, the driver does not verify the server; with an object, it verifies as the
 * object says.
 */
export type Tls = false | 'allow' | 'prefer' | 'require' | ConnectionOptions

/**
 * Takes `sslmode` and `sslrootcert` out of a URL and reads them as libpq does: the driver would not read the file, and
 * would accept any word as a mode. Undefined when the URL has neither.
 */
export function takeTls(parameters: URLSearchParams): Tls | undefined {
  const mode = parameters.get('sslmode')
  const file = parameters.get('sslrootcert')
  parameters.delete('sslmode')
  parameters.delete('sslrootcert')
  const ca = file === null || file === 'system' ? {} : { ca: readCertificates(file) }
  switch (mode ?? (file === null ? null : 'verify-full')) {
    case null:
      return undefined
    case 'disable':
      return false
    case 'require':
      // A root certificate in the URL is there to be verified against.
      return file === null ? 'require' : { ...ca, checkServerIdentity: () => undefined }
    case 'allow':
    case 'prefer':
      return mode as 'allow' | 'prefer'
    case 'verify-ca':
      return { ...ca, checkServerIdentity: () => undefined }
    case 'verify-full':
      return ca
    default:
      throw new UserError(
        'The sslmode of DATABASE_URL must be one of disable, allow, prefer, require, verify-ca, verify-full.',
      )
  }
}

function readCertificates(file: string): string {
  let certificates: string
  try {
    certificates = readFileSync(file, 'utf8')
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException
    throw new UserError(`The sslrootcert of DATABASE_URL names ${file}, which cannot be read (${code}).`)
  }
  try {
    createSecureContext({ ca: certificates })
    new X509Certificate(certificates)
  } catch {
    throw new UserError(`The sslrootcert of DATABASE_URL names ${file}, which holds no certificate in PEM.`)
  }
  return certificates
}
