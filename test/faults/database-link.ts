import { connect, createServer, type Socket } from 'node:net'

/** A way to the database that can fall silent, as a link or a firewall does: nothing is closed, and nothing arrives. */
export class DatabaseLink {
  private readonly server
  private readonly open = new Set<Socket>()

  /** Leads to a socket folder's server, or to a port. */
  constructor(to: { path: string } | { port: number }) {
    this.server = createServer((near) => {
      const far = connect(to)
      near.pipe(far)
      far.pipe(near)
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.open.add(one)
        one.on('error', () => {})
        one.on('close', () => {
          this.open.delete(one)
          other.destroy()
        })
      }
    })
  }

  /** Answers the port. */
  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return (this.server.address() as { port: number }).port
  }

  /** From now on nothing passes on open connections; new ones work. Returns how many connections that were. */
  silence(): number {
    const open = [...this.open]
    for (const socket of open) {
      socket.unpipe()
      socket.pause()
    }
    return open.length / 2
  }

  stop(): void {
    this.server.close()
    for (const socket of this.open) socket.destroy()
  }
}
