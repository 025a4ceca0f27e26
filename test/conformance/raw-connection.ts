import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Answer } from '../kit/client.ts'
import { client } from './support.ts'

/** Sends bytes on a connection of their own, and returns the response. */
export async function sendRaw(bytes: string): Promise<Answer<unknown>> {
  const connection = new RawConnection()
  connection.write(bytes)
  return connection.answer().finally(() => connection.close())
}

/** A connection on which a test writes a request's bytes itself. */
export class RawConnection {
  private readonly socket: Socket
  private received = Buffer.alloc(0)
  private ended = false
  private wake: () => void = () => {}

  constructor() {
    const { protocol, hostname, port } = new URL(client.url)
    const host = hostname.replace(/^\[|\]$/g, '')
    this.socket =
      protocol === 'https:'
        ? connectTls({ host, port: Number(port || 443), servername: host })
        : connect({ host, port: Number(port || 80) })
    this.socket.on('data', (piece: Buffer) => {
      this.received = Buffer.concat([this.received, piece])
      this.wake()
    })
    // The server may reset the connection after a refusal; what was received before still counts.
    this.socket.on('error', () => {})
    this.socket.on('close', () => {
      this.ended = true
      this.wake()
    })
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes)
  }

  /** Writes the head of a POST; the caller writes the body. */
  writeHead(path: string, headers: Record<string, string>): void {
    const lines = Object.entries({ host: new URL(client.url).host, ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    )
    this.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
  }

  /** Reads one response. */
  async answer(): Promise<Answer<unknown>> {
    for (;;) {
      const answer = readAnswer(this.received)
      if (answer !== undefined) return answer
      if (this.ended) throw new Error(`the connection ended after ${JSON.stringify(this.received.toString())}`)
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  /** Drops the received bytes, so that the connection's next response can be read. */
  forget(): void {
    this.received = Buffer.alloc(0)
  }

  close(): void {
    this.socket.destroy()
  }
}

function readAnswer(received: Buffer): Answer<unknown> | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [statusLine = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Headers(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const length = Number(headers.get('content-length') ?? Number.NaN)
  if (Number.isNaN(length)) throw new Error(`an answer without content-length: ${received.toString()}`)
  const body = received.subarray(end + 4, end + 4 + length)
  if (body.byteLength < length) return undefined
  const text = body.toString()
  return { status: Number(statusLine.split(' ')[1]), headers, text, ...JSON.parse(text) }
}
