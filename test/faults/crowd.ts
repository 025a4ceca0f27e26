import { connect, type Socket } from 'node:net'
import { becomesTrue } from '../kit/waits.ts'

/** The number of connections that are opened at once; more would only wait in the listener's queue. */
const wave = 250

/** Very many connections that each send the same text and then nothing. */
export class Crowd {
  private readonly sockets = new Set<Socket>()
  /** The number of responses so far, by status line. */
  readonly answers = new Map<string, number>()
  /** The number of connections that could not be opened. */
  refused = 0

  /** Opens the connections from another address of this machine, so that no run uses up the ports of the next. */
  static async open(url: string, count: number, text: string): Promise<Crowd> {
    const crowd = new Crowd()
    const localAddress = `127.0.${1 + Math.floor(Math.random() * 250)}.${1 + Math.floor(Math.random() * 250)}`
    for (let opened = 0; opened < count; opened += wave) {
      await Promise.all(
        Array.from({ length: Math.min(wave, count - opened) }, () => crowd.add(url, localAddress, text)),
      )
    }
    return crowd
  }

  /** The number of connections that are still open. */
  get size(): number {
    return this.sockets.size
  }

  /** Returns whether the service closes all connections in this time. */
  isGoneWithin(milliseconds: number): Promise<boolean> {
    return becomesTrue(() => this.size === 0, milliseconds)
  }

  leave(): void {
    for (const socket of this.sockets) socket.destroy()
  }

  private add(url: string, localAddress: string, text: string): Promise<void> {
    const { hostname, port } = new URL(url)
    return new Promise((done) => {
      const socket = connect({ host: hostname, port: Number(port), localAddress })
      let isOpen = false
      socket.once('connect', () => {
        isOpen = true
        this.sockets.add(socket)
        if (text !== '') socket.write(text)
        done()
      })
      socket.once('data', (piece) => {
        const status = piece.subarray(0, 12).toString('latin1')
        this.answers.set(status, (this.answers.get(status) ?? 0) + 1)
      })
      socket.on('error', () => {})
      socket.once('end', () => socket.destroy())
      socket.once('close', () => {
        if (!isOpen) this.refused++
        this.sockets.delete(socket)
        done()
      })
    })
  }
}
