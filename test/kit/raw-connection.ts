import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export interface RawAnswer {
  status: number
  head: string
  body: string
  /** The server announced that it closes this connection. */
  closes: boolean
}

/** One TCP connection with handwritten HTTP/1.1, so that a test sees what a client library would hide or repeat. */
export class RawConnection {
  private readonly socket: Socket
  private received = ''
  /** The number of complete responses. */
  answers = 0
  private ended: string | undefined
  private wake = () => {}

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (piece) => {
      this.received += piece
      this.wake()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => this.end(error.code ?? error.message))
    socket.on('close', () => this.end('closed'))
  }

  /** Returns undefined when the connection is refused. */
  static async open(url: string): Promise<RawConnection | undefined> {
    const { protocol, hostname, port } = new URL(url)
    const isTls = protocol === 'https:'
    const host = hostname.replace(/^\[|\]$/g, '')
    const socket = isTls
      ? connectTls({ host, port: Number(port || 443), servername: host })
      : connect({ host, port: Number(port || 80) })
    socket.setNoDelay(true)
    try {
      await once(socket, isTls ? 'secureConnect' : 'connect')
      return new RawConnection(socket)
    } catch {
      socket.destroy()
      return undefined
    }
  }

  /** The number of received characters of an incomplete response. */
  get characters(): number {
    return this.received.length
  }

  send(bytes: string | Uint8Array): void {
    if (this.ended === undefined) this.socket.write(bytes)
  }

  /** The next complete response. Rejects when the connection ends before it is complete. */
  async answer(): Promise<RawAnswer> {
    for (;;) {
      const answer = this.take()
      if (answer !== undefined) return answer
      if (this.ended !== undefined) {
        const got = `${this.answers} answers and ${this.received.length} characters of another`
        throw new Error(`the connection ended (${this.ended}) after ${got}`)
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  close(): void {
    this.socket.destroy()
  }

  /** Resets the connection, as the machine of a crashed client does. */
  reset(): void {
    this.socket.resetAndDestroy()
  }

  private take(): RawAnswer | undefined {
    const headEnd = this.received.indexOf('\r\n\r\n')
    if (headEnd === -1) return undefined
    const head = this.received.slice(0, headEnd)
    const length = /^content-length: (\d+)$/im.exec(head)?.[1]
    if (length === undefined) throw new Error(`an answer without a length: ${head}`)
    const end = headEnd + 4 + Number(length)
    if (this.received.length < end) return undefined
    const body = this.received.slice(headEnd + 4, end)
    this.received = this.received.slice(end)
    this.answers++
    return { status: Number(head.slice(9, 12)), head, body, closes: /^connection: close$/im.test(head) }
  }

  private end(why: string): void {
    this.ended ??= why
    this.wake()
  }
}

/** A POST of JSON in two parts: everything before the body, and the body. */
export function rawPost(path: string, token: string, body: object, headers: string[] = []): [string, string] {
  const text = JSON.stringify(body)
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: forecourt',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...headers,
  ]
  return [`${lines.join('\r\n')}\r\n\r\n`, text]
}
