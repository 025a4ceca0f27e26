import { isIP } from 'node:net'
import { faultKind } from '../vocabulary/faults.ts'
import type { Reason } from '../vocabulary/refusals.ts'
import { everyRole, type Role } from '../vocabulary/roles.ts'

export interface Network {
  address: string
  bits: number
  family: 'ipv4' | 'ipv6'
}

/** Some programs that read files of settings keep the quotes around a value. */
export function withoutQuotes(text: string): string {
  return /^(["'`]).*\1$/s.test(text) ? text.slice(1, -1).trim() : text
}

/** Its message goes on after the setting's name. */
export const settingFault = faultKind('setting')

export interface Setting<Value> {
  name: string
  fallback: string | undefined
  meaning: Reason
  /** The value may be in a file, whose path the same setting with `_FILE` gives. */
  isSecret?: true
  /** Throws `settingFault`. */
  parse(text: string | undefined): Value
}

type Named<Value> = Omit<Setting<Value>, 'name' | 'meaning'>

/** `fault` returns what is wrong with a text. */
export function text(fallback: string, fault: (text: string) => string | undefined = () => undefined): Named<string> {
  return { fallback, parse: (given = fallback) => checked(given, fault) }
}

export function optional(fault: (text: string) => string | undefined = () => undefined): Named<string | undefined> {
  return { fallback: undefined, parse: (given) => (given === undefined ? undefined : checked(given, fault)) }
}

function checked(text: string, fault: (text: string) => string | undefined): string {
  const said = fault(text)
  if (said !== undefined) throw settingFault(said)
  return text
}

export function integer(fallback: number, minimum: number, maximum: number): Named<number> {
  const parse = (given = String(fallback)) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN
    if (value >= minimum && value <= maximum) return value
    throw settingFault(`must be a whole number from ${minimum} to ${maximum}, but it is "${given}"`)
  }
  return { fallback: String(fallback), parse }
}

export function share(fallback: number): Named<number> {
  const parse = (given = String(fallback)) => {
    const value = /^\d(\.\d{1,6})?$/.test(given) ? Number(given) : Number.NaN
    if (value > 0 && value <= 1) return value
    throw settingFault(`must be a decimal number above 0 and at most 1, but it is "${given}"`)
  }
  return { fallback: String(fallback), parse }
}

/** The default is the first. */
export function oneOf<const Choice extends string>(...choices: [Choice, ...Choice[]]): Named<Choice> {
  const parse = (given: string = choices[0]) => {
    const choice = choices.find((known) => known === given)
    if (choice !== undefined) return choice
    throw settingFault(`must be one of ${choices.join(', ')}, but it is "${given}"`)
  }
  return { fallback: choices[0], parse }
}

export function setting<Value>(name: string, kind: Named<Value>, meaning: Reason): Setting<Value> {
  return { name, meaning, ...kind }
}

export function weakKey(key: string): string | undefined {
  return /^[\x21-\x7e]{32,512}$/.test(key) ? undefined : 'must be 32 to 512 visible ASCII characters without spaces'
}

export function unknownZone(name: string): string | undefined {
  return isTimeZone(name) ? undefined : `"${name}" is not a known time zone`
}

/** An origin: no path, query or user; http only for an address of this machine. */
export function readPublicUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url !== undefined && [url.origin, `${url.origin}/`].includes(text.toLowerCase())
  const isLocal = url !== undefined && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
  if (isOrigin && (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal))) return url.origin
  throw settingFault(`must be https://HOST without a path (http only for localhost), but it is "${text}"`)
}

const isLoopbackHost = (hostname: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

export function notIssuer(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isRight = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname))
  if (!isRight || url === undefined || url.search !== '' || url.hash !== '' || url.username !== '') {
    return `must be https://HOST (http only for this machine), without a query, but it is "${text}"`
  }
  if (url.hostname === 'login.microsoftonline.com' && /^\/(common|organizations|consumers)(\/|$)/.test(url.pathname)) {
    return 'must be the issuer of one tenant; tokens of this issuer name another'
  }
  return undefined
}

/** Separated by spaces, with `openid`. */
export function readScopes(text = 'openid profile'): string {
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '' && scope !== 'openid')
  return ['openid', ...scopes].join(' ')
}

/** As `admin=a,b;viewer=*`; in the order of the roles. */
export function readRoleRules(text: string | undefined): { role: Role; values: string[] }[] | undefined {
  if (text === undefined) return undefined
  const rules = text.split(';').filter((rule) => rule.trim() !== '')
  const read = rules.map((rule) => {
    const [name = '', ...rest] = rule.split('=')
    const role = everyRole.find((known) => known === name.trim())
    if (role === undefined) {
      throw settingFault(`names the role "${name.trim()}", but the roles are ${everyRole.join(', ')}`)
    }
    const values = rest
      .join('=')
      .split(',')
      .map((value) => value.trim())
      .filter((value) => value !== '')
    if (values.length === 0) throw settingFault(`has no value for the role ${role}`)
    return { role, values }
  })
  if (read.length === 0) throw settingFault('must look like admin=ops-admins;viewer=*')
  return everyRole.flatMap((role) => {
    const values = read.filter((rule) => rule.role === role).flatMap((rule) => rule.values)
    return values.length === 0 ? [] : [{ role, values }]
  })
}

/** Separated by commas or spaces. */
export function readRoles(text: string | undefined): Role[] | undefined {
  const names = text?.split(/[\s,]+/).filter((name) => name !== '')
  return names?.map((name) => {
    const role = everyRole.find((known) => known === name)
    if (role !== undefined) return role
    throw settingFault(`names the role "${name}", but the roles are ${everyRole.join(', ')}`)
  })
}

export function notTiles(url: string): string | undefined {
  const holdsAll = /^https?:\/\/[^\s/]+\/(?=.*\{z\})(?=.*\{x\})(?=.*\{y\})\S*$/.test(url)
  return holdsAll ? undefined : 'must be an http or https URL with {z}, {x} and {y}'
}

/** For a `Contact` line of security.txt (RFC 9116). */
export function notContact(uri: string): string | undefined {
  const isContact = /^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+|tel:\+?[\d-]+)$/.test(uri)
  return isContact ? undefined : 'must be a mailto:, https: or tel: address'
}

/** Addresses and networks (10.0.0.0/8), separated by commas or spaces. */
export function readProxies(text: string | undefined): Network[] | undefined {
  if (text === undefined) return undefined
  const parts = text.split(/[\s,]+/).filter((part) => part !== '')
  return parts.map((written) => {
    const [address = '', prefix, ...rest] = written.split('/')
    const version = isIP(address)
    const longest = version === 4 ? 32 : 128
    const bits = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
    if (version === 0 || rest.length > 0 || !(bits <= longest)) {
      throw settingFault(`contains "${written}", which is neither an address nor a network`)
    }
    return { address, bits, family: version === 4 ? 'ipv4' : 'ipv6' }
  })
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
