import { Socket } from 'node:net'
import { type Rounds, startRounds } from '../runtime/actor.ts'
import { mayPass } from './failures.ts'

export interface Address {
  host: string
  port: number
}

export interface HostsOptions {
  addresses: readonly Address[]
  /** Returns a primary's timeline; null for a standby. Rejects with `silence` when there is no answer in time. */
  askTimeline(address: Address): Promise<string | null>
  /** The primary is another host than before. */
  onMove(): void
}

/** The rejection for a host that does not answer. */
export const silence = Object.assign(new Error('the host does not answer'), { code: 'ETIMEDOUT' })

/** How often each host is asked whether it is the primary. */
const askEveryMs = 500
/** Once the hosts have not been asked for this long, a reply of the database is checked before it is trusted. */
const believedForMs = 1_000

/** One of the hosts, with its last answer. */
class Host {
  readonly address: Address
  /** The open connections to this host. */
  readonly sockets = new Set<Socket>()
  /** Its timeline when it last said that it is the primary; kept while the host does not answer. */
  timeline: string | null = null
  /** Whether its last answer, and not an earlier one, was that it is the primary. */
  isPrimary = false
  /** Why the host gave no answer, if waiting cannot help. */
  fault: Error | undefined
  /** Whether it left the last question unanswered for too long; then nothing waits for it. */
  isSilent = false
  /** When the last finished question began, answered or not. */
  askedAt = Number.NEGATIVE_INFINITY
  private asking: Promise<void> | undefined
  private readonly askTimeline: HostsOptions['askTimeline']

  constructor(address: Address, askTimeline: HostsOptions['askTimeline']) {
    this.address = address
    this.askTimeline = askTimeline
  }

  /** Asks the host, unless a question is already under way. Never rejects. */
  ask(onAnswer: () => void): Promise<void> {
    this.asking ??= this.askNow().then(() => {
      this.asking = undefined
      onAnswer()
    })
    return this.asking
  }

  private async askNow(): Promise<void> {
    const beganAt = performance.now()
    this.fault = undefined
    try {
      this.timeline = await this.askTimeline(this.address)
      this.isPrimary = this.timeline !== null
      this.isSilent = false
    } catch (error) {
      this.isPrimary = false
      this.isSilent = error === silence
      // The start reports this fault, for example a wrong password, instead of only that no host is the primary.
      if (!mayPass(error)) this.fault = error as Error
    }
    this.askedAt = beganAt
  }
}

/**
 * Leads connections to the primary among several hosts. Each host is asked twice a second, so that a move is noticed
 * even when no connection is opened. If two hosts claim to be the primary, the one that was promoted last is used. The
 * other one has just come back with an old state, and is not used even while the newer one is away.
 */
export class Hosts {
  private readonly hosts: readonly Host[]
  private readonly onMove: () => void
  private primary: Host | undefined
  private moves = 0
  /** When the others were last asked because of a reply. */
  private checkedAt = Number.NEGATIVE_INFINITY
  private rounds: Rounds | undefined

  constructor({ addresses, askTimeline, onMove }: HostsOptions) {
    this.hosts = addresses.map((address) => new Host(address, askTimeline))
    this.onMove = onMove
  }

  /** A connection to the primary, for the driver. It accepts failures from connections only. */
  async connect(): Promise<Socket> {
    this.rounds ??= startRounds(() => this.askAll(), askEveryMs)
    await this.heardSince(performance.now() - askEveryMs, ({ isSilent }) => !isSilent)
    const socket = new Socket()
    const { primary } = this
    if (primary?.isPrimary !== true) {
      const fault = this.hosts.find((host) => host.fault !== undefined)?.fault ?? noPrimary()
      setImmediate(() => socket.destroy(fault))
      return socket
    }
    primary.sockets.add(socket)
    socket.once('close', () => primary.sockets.delete(socket))
    socket.connect(primary.address.port, primary.address.host)
    // The driver names its host in a TLS handshake.
    return Object.assign(socket, { host: primary.address.host })
  }

  /**
   * Called when the database has replied. Returns undefined if the reply can be trusted. Otherwise asks the other
   * hosts, and resolves with whether it can: this process or its host may have been frozen while another host became
   * the primary.
   */
  doubt(): Promise<boolean> | undefined {
    const { primary, moves } = this
    if (!this.isDoubtful()) return undefined
    const isAlone = primary?.isSilent === true
    const others = (host: Host) => host !== primary && (isAlone || !host.isSilent)
    return this.heardSince(performance.now(), others).then(() => {
      this.checkedAt = performance.now()
      return this.moves === moves
    })
  }

  stop(): void {
    void this.rounds?.stop()
  }

  /** Whether another host may have become the primary since every host was last asked. */
  private isDoubtful(): boolean {
    const since = performance.now() - believedForMs
    if (this.primary?.isSilent !== false) return this.checkedAt < since
    for (const { isSilent, askedAt } of this.hosts) if (!isSilent && askedAt < since) return true
    return false
  }

  /**
   * Asks every host whose last question is older than `moment`. Resolves when the hosts that `isWaitedFor` names have
   * been asked since.
   */
  private async heardSince(moment: number, isWaitedFor: (host: Host) => boolean): Promise<void> {
    await Promise.all(
      this.hosts.map(async (host) => {
        const waits = isWaitedFor(host)
        while (host.askedAt < moment) {
          const settled = host.ask(() => this.choose())
          if (!waits) return
          await settled
        }
      }),
    )
  }

  private askAll(): void {
    for (const host of this.hosts) void host.ask(() => this.choose())
  }

  /** Finds out which host is the primary, after a host has answered or has failed to. */
  private choose(): void {
    const newest = this.hosts.reduce(
      (most, { timeline }) => (timeline !== null && timeline > most ? timeline : most),
      '',
    )
    const leads = (host: Host | undefined) => host?.isPrimary === true && host.timeline === newest
    const before = this.primary
    if (leads(before)) return
    const next = this.hosts.find(leads)
    if (next === undefined) return
    this.primary = next
    if (before === undefined) return
    this.moves++
    this.onMove()
    // Including the connections that are still being opened.
    for (const socket of before.sockets) socket.destroy()
  }
}

function noPrimary(): Error {
  return Object.assign(new Error('no host is the primary'), { code: 'ECONNREFUSED' })
}
