import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'

const algorithm = 'aes-256-gcm'
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16
/** So that a busy callback's secret is not decrypted at each of its reads. */
const maxOpened = 10_000

/** Base64 or hexadecimal; undefined for anything else. */
export function readKey(line: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(line)) return Buffer.from(line, 'hex')
  return /^[A-Za-z0-9+/]{43}=$/.test(line) ? Buffer.from(line, 'base64') : undefined
}

export function newKey(): string {
  return randomBytes(keyBytes).toString('base64')
}

/** The beginning of a digest of 256 random bits, which reveals nothing of them. */
export function idOfKey(key: Buffer): string {
  return createHash('sha256').update('forecourt key').update(key).digest('hex').slice(0, 16)
}

export function keyIdOf(sealed: string): string {
  return sealed.slice(0, sealed.indexOf(':'))
}

/**
 * AES-256-GCM, bound to an owner. Stored as `keyId:algorithm:` and base64 of nonce, cipher text and tag; a text without
 * an algorithm is AES-256-GCM too. The first key encrypts; all keys decrypt.
 */
export class SecretBox {
  readonly keyId: string
  private readonly keys: Map<string, Buffer>
  private readonly opened = new Map<string, string>()

  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    this.keyId = idOfKey(keys[0])
    this.keys = new Map(keys.map((key) => [idOfKey(key), key]))
  }

  static of([first = '', ...others]: readonly string[]): SecretBox {
    const read = (key: string) => Buffer.from(key, 'base64')
    return new SecretBox([read(first), ...others.map(read)])
  }

  /** For another process of the same service. */
  keysAsText(): string[] {
    return [...this.keys.values()].map((key) => key.toString('base64'))
  }

  get keyIds(): string[] {
    return [...this.keys.keys()]
  }

  /** Keys derived with HKDF, for what is sealed so often that a key would wear out. */
  derived(purpose: string): SecretBox {
    const derive = (key: Buffer) => Buffer.from(hkdfSync('sha256', key, '', `forecourt ${purpose}`, keyBytes))
    const [first, ...others] = [...this.keys.values()].map(derive)
    if (first === undefined) throw new Error('a box has a key')
    return new SecretBox([first, ...others])
  }

  seal(owner: string, secret: string): string {
    const nonce = randomBytes(nonceBytes)
    const cipher = createCipheriv(algorithm, this.keyOf(this.keyId), nonce).setAAD(Buffer.from(owner))
    const parts = [nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]
    return `${this.keyId}:${algorithm}:${Buffer.concat(parts).toString('base64')}`
  }

  /** Throws if the key is not held, and for a text that was not sealed for this owner. */
  open(owner: string, sealed: string): string {
    const name = `${owner} ${sealed}`
    const known = this.opened.get(name)
    if (known !== undefined) return known
    const secret = this.openOnce(owner, sealed)
    if (this.opened.size >= maxOpened) this.opened.clear()
    this.opened.set(name, secret)
    return secret
  }

  openOnce(owner: string, sealed: string): string {
    const keyId = keyIdOf(sealed)
    const [text = '', named = algorithm] = sealed
      .slice(keyId.length + 1)
      .split(':')
      .reverse()
    if (named !== algorithm) throw new Error(`the algorithm ${named} is not known`)
    const bytes = Buffer.from(text, 'base64')
    const decipher = createDecipheriv(algorithm, this.keyOf(keyId), bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-tagBytes))
    return decipher.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + decipher.final('utf8')
  }

  private keyOf(keyId: string): Buffer {
    const key = this.keys.get(keyId)
    if (key === undefined) throw new Error(`the key ${keyId} is not held`)
    return key
  }
}
