/** Keeps what a socket could not take: Bun's sockets keep nothing. */
export class Outbox {
  /** Since when its client has taken nothing. */
  stalledSince = 0
  sendings = 0
  private readonly socket: Bun.Socket<unknown>
  private backlog: Uint8Array[] = []
  private waiters: (() => void)[] = []

  constructor(socket: Bun.Socket<unknown>) {
    this.socket = socket
  }

  get isEmpty(): boolean {
    return this.backlog.length === 0
  }

  /** `size` is the text's length in bytes. */
  sendText(text: string, size: number): void {
    const written = this.isEmpty ? this.write(text) : 0
    if (written < size) this.keep(Buffer.from(text).subarray(written))
  }

  send(bytes: Uint8Array): void {
    const written = this.isEmpty ? this.write(bytes) : 0
    if (written < bytes.byteLength) this.keep(bytes.subarray(written))
  }

  /** Resolves when everything is sent, or the client has gone. */
  async room(): Promise<void> {
    if (!this.isEmpty) await new Promise<void>((resolve) => this.waiters.push(resolve))
  }

  drained(): void {
    for (let [bytes] = this.backlog; bytes !== undefined; [bytes] = this.backlog) {
      const written = this.write(bytes)
      if (written < bytes.byteLength) {
        this.backlog[0] = bytes.subarray(written)
        return
      }
      this.backlog.shift()
    }
    this.release()
  }

  drop(): void {
    this.backlog = []
    this.release()
  }

  private write(data: string | Uint8Array): number {
    // A closed socket returns -1.
    const written = Math.max(0, this.socket.write(data))
    if (written > 0) {
      this.stalledSince = performance.now()
      this.sendings++
    }
    return written
  }

  private keep(rest: Uint8Array): void {
    if (this.isEmpty) this.stalledSince = performance.now()
    this.backlog.push(rest)
  }

  private release(): void {
    const { waiters } = this
    this.waiters = []
    for (const resolve of waiters) resolve()
  }
}
