import { Socket } from 'node:net'
import { mayPass } from './failures.ts'

export interface Address {
  host: string
  port: number
}

export interface HostsOptions {
  addresses: readonly Address[]
  /** Answers a primary's timeline; null for a standby. Rejects when there is no answer in time. */
  askTimeline(address: Address): Promise<string | null>
  /** What is connected leads to a host that is the primary no more. */
  onMove(): void
}

/** Connections that are opened together ask the hosts once. */
const trustedForMs = 500

/**
 * Leads connections to the primary among several hosts. All are asked at once, so one that has vanished holds up
 * nobody for longer than its answer is waited for. Of two that both say primary, the one that was promoted last is
 * meant: the other woke up and does not know yet.
 */
export class Hosts {
  private readonly options: HostsOptions
  private primary: Address | undefined
  /** Why there is no connection to a primary; undefined while there is. */
  private fault: Error | undefined = noPrimary()
  private askedAt = Number.NEGATIVE_INFINITY
  private asking: Promise<void> | undefined

  constructor(options: HostsOptions) {
    this.options = options
  }

  /** A connection to the primary, for the driver. It takes failures from connections only, so that is how it is told. */
  async connect(): Promise<Socket> {
    if (performance.now() - this.askedAt > trustedForMs) {
      this.asking ??= this.ask().finally(() => {
        this.asking = undefined
      })
    }
    await this.asking
    const socket = new Socket()
    const { primary, fault } = this
    if (primary === undefined || fault !== undefined) {
      setImmediate(() => socket.destroy(fault))
      return socket
    }
    socket.connect(primary.port, primary.host)
    // The driver names its host in a TLS handshake.
    return Object.assign(socket, { host: primary.host })
  }

  private async ask(): Promise<void> {
    const { addresses, askTimeline, onMove } = this.options
    let lasting: Error | undefined
    const unanswered = (error: Error) => {
      // A wrong password, for example, which would be looked for in vain among hosts without a primary.
      if (!mayPass(error)) lasting ??= error
      return null
    }
    const answers = await Promise.all(
      addresses.map(async (address) => ({ address, timeline: await askTimeline(address).catch(unanswered) })),
    )
    let best: { address: Address; timeline: string } | undefined
    for (const { address, timeline } of answers) {
      if (timeline === null) continue
      const isNewer = best === undefined || timeline > best.timeline
      if (isNewer || (timeline === best?.timeline && address === this.primary)) best = { address, timeline }
    }
    const before = this.primary
    this.askedAt = performance.now()
    this.fault = best === undefined ? (lasting ?? noPrimary()) : undefined
    this.primary = best?.address ?? before
    if (before !== undefined && this.primary !== before) onMove()
  }
}

function noPrimary(): Error {
  return Object.assign(new Error('no host is the primary'), { code: 'ECONNREFUSED' })
}
