import type { BlockList } from 'node:net'
import type { ParsedHead } from './bun-parser.ts'
import { forwardedScheme, splitTarget, trustedScheme } from './listener.ts'
import type { HttpRequest } from './message.ts'
import { collect } from './pieces.ts'

export interface Carrier {
  peerAddress(): string
  taken(request: BunRequest): void
}

export class BunRequest implements HttpRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly version: string
  /** The client wants to use the connection again. */
  keepsAlive: boolean
  isWhole = false
  unread = 0
  /** The client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean
  /** Names and values in turn: most are never asked for. */
  private readonly headers: string[]
  private readonly carrier: Carrier
  private readonly proxies: BlockList | undefined
  private pieces: Uint8Array[] = []
  private isBroken = false
  private isHungUp = false
  private wake: (() => void) | undefined
  private hangUpListeners: (() => void)[] = []

  constructor(head: ParsedHead, carrier: Carrier, proxies: BlockList | undefined) {
    const { path, query } = splitTarget(head.target)
    this.method = head.method
    this.path = path
    this.query = query
    this.version = head.version
    this.keepsAlive = head.keepsAlive
    this.carrier = carrier
    this.proxies = proxies
    this.headers = head.headers
    this.awaitsContinue = head.version !== '1.0' && this.find('expect')?.toLowerCase() === '100-continue'
  }

  header(name: string): string | null {
    const value = this.find(name)
    return value !== null && name === forwardedScheme ? trustedScheme(value, this.peerAddress(), this.proxies) : value
  }

  /** The values of a repeated header are joined with commas. */
  private find(name: string): string | null {
    const { headers } = this
    let found: string | null = null
    for (let at = 0; at < headers.length; at += 2) {
      const given = headers[at] as string
      if (given.length !== name.length || (given !== name && given.toLowerCase() !== name)) continue
      const value = headers[at + 1] as string
      found = found === null ? value : `${found}${name === 'cookie' ? '; ' : ', '}${value}`
    }
    return found
  }

  peerAddress(): string {
    return this.carrier.peerAddress()
  }

  onHangUp(listener: () => void): void {
    this.hangUpListeners.push(listener)
  }

  isGone(): boolean {
    return this.isHungUp
  }

  arrivedBody(): Uint8Array | undefined {
    if (!this.isWhole) return undefined
    const [first, ...others] = this.pieces
    this.pieces = []
    this.unread = 0
    if (first !== undefined && others.length === 0) return first
    return Buffer.concat(first === undefined ? [] : [first, ...others])
  }

  body(limitBytes: number): Promise<Uint8Array> {
    return collect(this.stream(), limitBytes)
  }

  async *stream(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.pieces.shift()
      if (piece !== undefined) {
        this.unread -= piece.byteLength
        this.carrier.taken(this)
        yield piece
      } else if (this.isBroken) throw new Error('the body was broken off')
      else if (this.isWhole) return
      else {
        await new Promise<void>((resolve) => {
          this.wake = resolve
          this.carrier.taken(this)
        })
      }
    }
  }

  add(piece: Uint8Array): void {
    this.pieces.push(piece)
    this.unread += piece.byteLength
    this.waken()
  }

  end(): void {
    this.isWhole = true
    this.waken()
  }

  /** The rest will not come, or is not wanted: the request is answered. */
  breakOff(): void {
    if (this.isWhole) return
    this.isBroken = true
    this.pieces = []
    this.unread = 0
    this.waken()
  }

  hangUp(): void {
    this.isHungUp = true
    const listeners = this.hangUpListeners
    this.hangUpListeners = []
    for (const listener of listeners) listener()
  }

  private waken(): void {
    const { wake } = this
    this.wake = undefined
    wake?.()
  }
}
