import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { Config } from '../config.ts'
import type { Certificate } from './findings.ts'

const timeoutMs = 3_000

/** Mostly the certificate of a proxy. Undefined if the service has no address of its own, or one without TLS. */
export function certificateReader({ publicUrl }: Pick<Config, 'publicUrl'>): (() => Promise<Certificate>) | undefined {
  const url = publicUrl === undefined ? undefined : new URL(publicUrl)
  if (url?.protocol !== 'https:') return undefined
  const { hostname: host } = url
  return async () => ({ host, endsAt: await readEnd(host, Number(url.port) || 443) })
}

/** Null if nothing responds. Nothing is sent, so it does not matter who signed the certificate. */
function readEnd(host: string, port: number): Promise<Date | null> {
  return new Promise((resolve) => {
    const address = host.replace(/^\[|\]$/g, '')
    const named = isIP(address) === 0 ? { servername: address } : {}
    const socket = connect({ host: address, port, rejectUnauthorized: false, ...named }, () => {
      const ends = Date.parse(socket.getPeerCertificate().valid_to)
      end(Number.isNaN(ends) ? null : new Date(ends))
    })
    const end = (endsAt: Date | null) => {
      socket.destroy()
      resolve(endsAt)
    }
    socket.setTimeout(timeoutMs, () => end(null))
    socket.on('error', () => end(null))
  })
}
