import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { limits } from '../vocabulary/limits.ts'

export interface NamesOptions {
  /** Name servers to ask in the place of the system's. */
  nameServers?: string[]
  hostsFile?: string
  /** For how long a name that was not found is not asked for again. */
  forgetMs?: number
}

/** Asked again after this, and once more: a datagram may be lost. */
const tryMs = 1_000
const tries = 2
/** The whole of a look-up; the runtimes count tries in ways of their own. */
const lookupMs = 3_000
/** After the addresses of one family have come, those of the other are waited for so long. */
const otherFamilyMs = 300
const negativeMs = 10_000
/** What the system's files say is read again after this. */
const systemMs = 10_000

interface System {
  resolver: Resolver
  hosts: Map<string, LookupAddress[]>
}

/**
 * Finds the addresses of names: localhost, then the hosts file, then name servers, asked by a resolver of our own. The
 * system's look-up waits in a few threads for name servers that say nothing, and whatever else needs these threads
 * waits behind them. Names are whole: the system's search domains are not tried.
 */
export class Names {
  private readonly options: NamesOptions
  private readonly failures = new Map<string, { error: NameFault; until: number }>()
  /** Each asker's newest look-up: an asker has one under way. */
  private readonly askers = new Map<string, Promise<unknown>>()
  private readonly queue: (() => void)[] = []
  private underWay = 0
  private system: Promise<System> | undefined
  private readAt = Number.NEGATIVE_INFINITY

  constructor(options: NamesOptions = {}) {
    this.options = options
  }

  /** All addresses of a name, after what the asker has asked before. Throws `NameFault`. */
  find(hostname: string, asker: string): Promise<LookupAddress[]> {
    const name = hostname.toLowerCase()
    const found = (this.askers.get(asker) ?? Promise.resolve()).then(() => this.findInTurn(name))
    const over = found.catch(() => {})
    this.askers.set(asker, over)
    void over.then(() => {
      if (this.askers.get(asker) === over) this.askers.delete(asker)
    })
    return found
  }

  private async findInTurn(name: string): Promise<LookupAddress[]> {
    if (name === 'localhost' || name.endsWith('.localhost')) return loopback
    const { resolver, hosts } = await this.readSystem()
    const known = hosts.get(name)
    if (known !== undefined) return known
    const failed = this.failures.get(name)
    if (failed !== undefined && failed.until > performance.now()) throw failed.error
    if (this.underWay >= limits.namesAtOnce) await new Promise<void>((resolve) => this.queue.push(resolve))
    this.underWay++
    try {
      const addresses = await ask(resolver, name)
      this.failures.delete(name)
      return addresses
    } catch (error) {
      if (error instanceof NameFault) this.remember(name, error)
      throw error
    } finally {
      this.underWay--
      this.queue.shift()?.()
    }
  }

  private remember(name: string, error: NameFault): void {
    if (this.failures.size >= limits.namesKnown) this.failures.clear()
    this.failures.set(name, { error, until: performance.now() + (this.options.forgetMs ?? negativeMs) })
  }

  /** The name servers and the hosts file as they are now, give or take some seconds. */
  private readSystem(): Promise<System> {
    const now = performance.now()
    if (this.system === undefined || now - this.readAt > systemMs) {
      this.readAt = now
      this.system = this.readNow()
    }
    return this.system
  }

  private async readNow(): Promise<System> {
    const { nameServers, hostsFile = '/etc/hosts' } = this.options
    const resolver = new Resolver({ timeout: tryMs, tries })
    if (nameServers !== undefined) resolver.setServers(nameServers)
    const text = await readFile(hostsFile, 'utf8').catch(() => '')
    return { resolver, hosts: readHosts(text) }
  }
}

/** Why a name has no address; the code is the resolver's. */
export class NameFault extends Error {
  readonly code: string
  constructor(code: string) {
    super(`no address: ${code}`)
    this.code = code
  }
}

const loopback: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

/** The names of a hosts file: an address, then its names, and comments. */
export function readHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(address)
    if (family === 0) continue
    for (const name of names.map((name) => name.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }])
    }
  }
  return hosts
}

/** Asks for the addresses of both families. Throws `NameFault` when there is none in time. */
function ask(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  return new Promise((settle, fail) => {
    const found: LookupAddress[] = []
    const codes: string[] = []
    let open = 2
    const end = () => {
      clearTimeout(timer)
      // What comes later must not get among what was checked, so it is a copy.
      if (found.length > 0) settle(found.toSorted((one, other) => one.family - other.family))
      else fail(new NameFault(codes.find((code) => !isEmpty.has(code)) ?? codes[0] ?? 'ETIMEOUT'))
    }
    let timer = setTimeout(end, lookupMs)
    const take = async (family: 4 | 6, asked: Promise<string[]>) => {
      try {
        for (const address of await asked) found.push({ address, family })
      } catch (error) {
        codes.push((error as NodeJS.ErrnoException).code ?? 'unknown')
      }
      open--
      if (open === 0) end()
      else if (found.length > 0) {
        clearTimeout(timer)
        timer = setTimeout(end, otherFamilyMs)
      }
    }
    void take(4, resolver.resolve4(name))
    void take(6, resolver.resolve6(name))
  })
}

/** Answers that there is nothing; anything else says more about why there is no address. */
const isEmpty = new Set(['ENODATA', 'ENOTFOUND'])
