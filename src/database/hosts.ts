import { Socket } from 'node:net'
import { type Rounds, startRounds } from '../runtime/loop.ts'
import { mayPass } from './failures.ts'

export interface Address {
  host: string
  port: number
}

export interface HostsOptions {
  addresses: readonly Address[]
  /** Returns a primary's timeline, null for a standby. Rejects with `silence` if there is no reply in time. */
  askTimeline(address: Address): Promise<string | null>
  onMove(): void
}

export const silence = Object.assign(new Error('the host does not answer'), { code: 'ETIMEDOUT' })

const askEveryMs = 500
/** If the hosts were not asked for this long, a reply is checked before it is trusted. */
const believedForMs = 1_000

class Host {
  readonly address: Address
  readonly sockets = new Set<Socket>()
  /** The timeline when it last said that it is the primary; kept while it is silent. */
  timeline: string | null = null
  isPrimary = false
  /** An error that waiting can't help. */
  fault: Error | undefined
  /** Nothing waits for a host that left the last question unanswered. */
  isSilent = false
  /** The start of the last finished question, answered or not. */
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
      // The start reports this fault (a wrong password, say) instead of only that no host is the primary.
      if (!mayPass(error)) this.fault = error as Error
    }
    this.askedAt = beganAt
  }
}

/**
 * Leads connections to the primary among several hosts. Each is asked twice a second. If two claim to be the primary,
 * the last promoted one is used: the other has come back with an old state, and is not used even while the newer one is
 * away.
 */
export class Hosts {
  private readonly hosts: readonly Host[]
  private readonly onMove: () => void
  private primary: Host | undefined
  private moves = 0
  private checkedAt = Number.NEGATIVE_INFINITY
  private rounds: Rounds | undefined

  constructor({ addresses, askTimeline, onMove }: HostsOptions) {
    this.hosts = addresses.map((address) => new Host(address, askTimeline))
    this.onMove = onMove
  }

  /** Connects to the primary, for the driver, which accepts failures from connections only. */
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
   * Called for each reply. Returns undefined if it can be trusted. Otherwise asks the other hosts and resolves with
   * whether it can: this process may have been frozen while another host became the primary.
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

  /** Tells whether another host may have become the primary since all hosts were last asked. */
  private isDoubtful(): boolean {
    const since = performance.now() - believedForMs
    if (this.primary?.isSilent !== false) return this.checkedAt < since
    for (const { isSilent, askedAt } of this.hosts) if (!isSilent && askedAt < since) return true
    return false
  }

  /** Asks hosts whose last question is older than `moment`, and waits for those that `isWaitedFor` names. */
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
    // This includes connections that are still being opened.
    for (const socket of before.sockets) socket.destroy()
  }
}

function noPrimary(): Error {
  return Object.assign(new Error('no host is the primary'), { code: 'ECONNREFUSED' })
}
