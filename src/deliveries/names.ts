import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { cached } from '../runtime/cached.ts'
import { Turns } from '../runtime/turns.ts'
import { type Fault, faultKind } from '../vocabulary/faults.ts'
import { limits } from '../vocabulary/limits.ts'
import { unavailable } from '../vocabulary/refusals.ts'

export interface NamesOptions {
  nameServers?: string[]
  hostsFile?: string
  forgetMs?: number
}

/** A datagram may be lost. */
const tryMs = 1_000
const tries = 2
/** For the whole look-up, because Bun and Node count tries differently. */
const lookupMs = 3_000
/** How long addresses of one family wait for those of the other. */
const otherFamilyMs = 300
const negativeMs = 10_000
const systemMs = 10_000

interface System {
  resolver: Resolver
  hosts: Map<string, LookupAddress[]>
}

/** Not `getaddrinfo`: it blocks one of a few shared threads while a name server is silent. No search domains. */
export class Names {
  private readonly options: NamesOptions
  private readonly failures = new Map<string, { error: Fault; until: number }>()
  /** The look-ups of one application run one by one. */
  private readonly askers = new Turns({ ofOne: 1, full: unavailable })
  private readonly asks = new Turns({ atOnce: limits.namesAtOnce, full: unavailable })
  private readonly readSystem = cached(() => this.readNow(), systemMs)

  constructor(options: NamesOptions = {}) {
    this.options = options
  }

  /** Throws `nameFault`. */
  find(hostname: string, asker: string): Promise<LookupAddress[]> {
    return this.askers.run(asker, undefined, () => this.findInTurn(hostname.toLowerCase()))
  }

  private async findInTurn(name: string): Promise<LookupAddress[]> {
    if (name === 'localhost' || name.endsWith('.localhost')) return loopback
    const { resolver, hosts } = await this.readSystem()
    const known = hosts.get(name)
    if (known !== undefined) return known
    const failed = this.failures.get(name)
    if (failed !== undefined && failed.until > performance.now()) throw failed.error
    try {
      const addresses = await this.asks.run('', undefined, () => ask(resolver, name))
      this.failures.delete(name)
      return addresses
    } catch (error) {
      if (nameFault.is(error)) this.remember(name, error)
      throw error
    }
  }

  private remember(name: string, error: Fault): void {
    if (this.failures.size >= limits.namesKnown) this.failures.clear()
    this.failures.set(name, { error, until: performance.now() + (this.options.forgetMs ?? negativeMs) })
  }

  private async readNow(): Promise<System> {
    const { nameServers, hostsFile = '/etc/hosts' } = this.options
    const resolver = new Resolver({ timeout: tryMs, tries })
    if (nameServers !== undefined) resolver.setServers(nameServers)
    const text = await readFile(hostsFile, 'utf8').catch(() => '')
    return { resolver, hosts: readHosts(text) }
  }
}

/** Holds the resolver’s code. */
export const nameFault = faultKind('name', (code) => `no address: ${code}`)

const loopback: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

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

function ask(resolver: Resolver, name: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    const found: LookupAddress[] = []
    const codes: string[] = []
    let pending = 2
    const end = () => {
      clearTimeout(timer)
      // A copy, so that an address which arrives later is not added to those that the caller has checked.
      if (found.length > 0) resolve(found.toSorted((one, other) => one.family - other.family))
      else reject(nameFault(codes.find((code) => !emptyCodes.has(code)) ?? codes[0] ?? 'ETIMEOUT'))
    }
    let timer = setTimeout(end, lookupMs)
    const collect = async (family: 4 | 6, asked: Promise<string[]>) => {
      try {
        for (const address of await asked) found.push({ address, family })
      } catch (error) {
        codes.push((error as NodeJS.ErrnoException).code ?? 'unknown')
      }
      pending--
      if (pending === 0) end()
      else if (found.length > 0) {
        clearTimeout(timer)
        timer = setTimeout(end, otherFamilyMs)
      }
    }
    void collect(4, resolver.resolve4(name))
    void collect(6, resolver.resolve6(name))
  })
}

/** Empty responses; any other code explains better why there is no address. */
const emptyCodes = new Set(['ENODATA', 'ENOTFOUND'])
