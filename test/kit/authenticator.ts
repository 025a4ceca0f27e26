import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'

// An authenticator of WebAuthn in software, for tests: ES256, discoverable, with its user verified. A test can falsify
// each value that it sends. It does not use the service's library.

type Cbor = number | string | Buffer | Map<number | string, Cbor>

/** As much of CBOR (RFC 8949) as attestations need. */
function cbor(value: Cbor): Buffer {
  const head = (major: number, size: number) =>
    size < 24
      ? Buffer.from([(major << 5) | size])
      : size < 256
        ? Buffer.from([(major << 5) | 24, size])
        : Buffer.from([(major << 5) | 25, size >> 8, size & 255])
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, each]) => [cbor(key), cbor(each)])])
}

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest()

/** The values that a test may falsify. */
export interface Lies {
  origin?: string
  rpId?: string
  challenge?: string
  type?: string
  /** Whether the person was verified, as by a PIN or a finger. */
  isVerified?: boolean
  /** Whether the passkey is on several devices. */
  isSynced?: boolean
  counter?: number
  crossOrigin?: unknown
  topOrigin?: string
  userHandle?: string | undefined
  signature?: string
}

export class Authenticator {
  readonly origin: string
  readonly id = randomBytes(16).toString('base64url')
  counter = 0
  private readonly privateKey: KeyObject
  private readonly publicKey: KeyObject
  private userHandle = ''

  constructor(origin: string) {
    this.origin = origin
    const { privateKey, publicKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    this.privateKey = createPrivateKey(privateKey)
    this.publicKey = createPublicKey(publicKey)
  }

  private clientData(type: string, challenge: string, lies: Lies): Buffer {
    const { origin = this.origin, crossOrigin = false, topOrigin } = lies
    return Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin,
        crossOrigin,
        topOrigin,
      }),
    )
  }

  private authenticatorData(
    hasKey: boolean,
    { rpId = new URL(this.origin).hostname, isVerified = true, isSynced = false, counter }: Lies,
  ) {
    const flags = 0x01 | (isVerified ? 0x04 : 0) | (isSynced ? 0x18 : 0) | (hasKey ? 0x40 : 0)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter ?? this.counter)
    const head = Buffer.concat([sha256(rpId), Buffer.from([flags]), count])
    if (!hasKey) return head
    const { x = '', y = '' } = this.publicKey.export({ format: 'jwk' })
    const key = new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ])
    const id = Buffer.from(this.id, 'base64url')
    return Buffer.concat([head, Buffer.alloc(16), Buffer.from([0, id.length]), id, cbor(key)])
  }

  /** As `navigator.credentials.create` answers, as JSON. */
  create(options: object, lies: Lies = {}) {
    const { challenge, user } = options as { challenge: string; user: { id: string } }
    this.userHandle = user.id
    const attestation = new Map<string, Cbor>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', this.authenticatorData(true, lies)],
    ])
    const response = {
      clientDataJSON: this.clientData('webauthn.create', challenge, lies).toString('base64url'),
      attestationObject: cbor(attestation).toString('base64url'),
      transports: ['internal'],
    }
    return { ...this.head(), response }
  }

  /** As `navigator.credentials.get` answers, as JSON. */
  get(options: object, lies: Lies = {}) {
    this.counter++
    const { challenge } = options as { challenge: string }
    const clientData = this.clientData('webauthn.get', challenge, lies)
    const authenticatorData = this.authenticatorData(false, lies)
    const signed = Buffer.concat([authenticatorData, sha256(clientData)])
    const response = {
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authenticatorData.toString('base64url'),
      signature: lies.signature ?? sign('sha256', signed, this.privateKey).toString('base64url'),
      userHandle: 'userHandle' in lies ? lies.userHandle : this.userHandle,
    }
    return { ...this.head(), response }
  }

  private head() {
    const { id } = this
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, authenticatorAttachment: 'platform' }
  }
}
