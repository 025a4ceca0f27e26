import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { becomesTrue } from './waits.ts'

/** A callback that was received. */
export interface Received {
  id: string
  at: number
  path: string
  body: { type: string; timestamp: string; appId: string; data: Record<string, unknown> }
  headers: Record<string, string>
  text: string
  /** The number of the connection; each receiver counts its own. */
  connection: number
}

/** How the receiver responds to a callback; by default with 200. */
export type Answer = (received: Received, response: ServerResponse, socket: Socket) => void

export const answerWith =
  (status: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (_, response) => {
    response.writeHead(status, headers)
    response.end(body)
  }

/** A receiver of callbacks on this machine: stores what arrives, and responds by path as the test sets it. */
export class Receiver {
  private readonly received = new Map<string, Received[]>()
  private readonly answers = new Map<string, Answer>()
  private readonly server: Server
  private readonly connections = new Map<Socket, number>()

  private constructor() {
    // Longer than a pause between two callbacks on a busy machine.
    const options = { keepAliveTimeout: 60_000 }
    this.server = createServer(options, (request, response) => void this.take(request, response))
    this.server.on('connection', (socket) => {
      this.connections.set(socket, this.connections.size + 1)
    })
  }

  /** Starts on any free port, or on this one. */
  static async start(port = 0): Promise<Receiver> {
    const receiver = new Receiver()
    await new Promise<void>((resolve) => receiver.server.listen(port, '127.0.0.1', resolve))
    return receiver
  }

  /** The URL of an endpoint; `answer` sets how it responds from now on. */
  url(path: string, answer: Answer = answerWith(200)): string {
    this.answers.set(path, answer)
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`
  }

  /** The callbacks that were received at an endpoint, in order. */
  at(path: string): Received[] {
    return [...(this.received.get(path) ?? [])]
  }

  /** Waits for `count` callbacks at an endpoint, and returns them. */
  async waitFor(path: string, count: number, withinMs = 60_000): Promise<Received[]> {
    await becomesTrue(() => this.at(path).length >= count, withinMs)
    return this.at(path)
  }

  stop(): void {
    for (const socket of this.connections.keys()) socket.destroy()
    this.server.close()
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const text = Buffer.concat(pieces).toString()
    const path = request.url ?? ''
    const received: Received = {
      id: String(request.headers['webhook-id']),
      at: performance.now(),
      path,
      body: JSON.parse(text),
      headers: request.headers as Record<string, string>,
      text,
      connection: this.connections.get(request.socket) ?? 0,
    }
    const all = this.received.get(path)
    if (all === undefined) this.received.set(path, [received])
    else all.push(received)
    const answer = this.answers.get(path) ?? answerWith(404)
    answer(received, response, request.socket)
  }
}

/** Verifies a callback's signature with an independent library. Throws when the signature is wrong. */
export function verify(received: Received, secret: string): void {
  new Webhook(secret).verify(received.text, received.headers)
}
