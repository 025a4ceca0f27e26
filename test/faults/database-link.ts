import { connect, createServer, type Socket } from 'node:net'

/**
 * A proxy to the database that can fall silent like a broken network or a firewall: connections stay open, but no data
 * passes.
 */
export class DatabaseLink {
  private readonly server
  private readonly open = new Set<Socket>()

  /** `to`: the path of the server's socket, or its port. */
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

  /** Starts the proxy and returns its port. */
  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    return (this.server.address() as { port: number }).port
  }

  /**
   * From now on, no data passes on open connections; new connections work. Returns the number of silenced connections.
   */
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
