import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext } from 'node:tls'
import { UserError } from '../runtime/user-error.ts'

/** How a connection is encrypted. With one of the words, the driver does not verify the server. */
export type Tls = false | 'allow' | 'prefer' | 'require' | ConnectionOptions

/** Reads `sslmode` and `sslrootcert` as libpq does; the driver wouldn't read the file. Undefined without either. */
export function readTls(mode: string | undefined, file: string | undefined): Tls | undefined {
  const ca = file === undefined || file === 'system' ? {} : { ca: readCertificates(file) }
  switch (mode ?? (file === undefined ? undefined : 'verify-full')) {
    case undefined:
      return undefined
    case 'disable':
      return false
    case 'require':
      // A root certificate is there to be verified against.
      return file === undefined ? 'require' : { ...ca, checkServerIdentity: () => undefined }
    case 'allow':
    case 'prefer':
      return mode as 'allow' | 'prefer'
    case 'verify-ca':
      return { ...ca, checkServerIdentity: () => undefined }
    case 'verify-full':
      return ca
    default:
      throw new Error(`unknown sslmode ${mode}`)
  }
}

function readCertificates(file: string): string {
  let certificates: string
  try {
    certificates = readFileSync(file, 'utf8')
  } catch (fault) {
    const { code } = fault as NodeJS.ErrnoException
    throw new UserError(`Can’t read ${file} (${code}), the sslrootcert in DATABASE_URL.`)
  }
  try {
    createSecureContext({ ca: certificates })
    new X509Certificate(certificates)
  } catch {
    throw new UserError(`${file}, the sslrootcert in DATABASE_URL, has no PEM certificate.`)
  }
  return certificates
}
