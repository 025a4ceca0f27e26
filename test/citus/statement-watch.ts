import { connect, createServer, type Socket } from 'node:net'
import { withNode } from './cluster.ts'

/** A statement that was sent to the database, with its values if it was a prepared statement. */
export interface SeenStatement {
  text: string
  values: (string | null)[]
}

/**
 * A proxy in front of a database that records every statement, and which of them ran on several nodes. Citus reports
 * the latter by notices, also for statements inside functions.
 */
export class StatementWatch {
  readonly seen: SeenStatement[] = []
  /** Statements that ran on several nodes; for a function, the statement inside it. */
  readonly wide: string[] = []
  private readonly server
  private readonly open = new Set<Socket>()

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.server = createServer((near) => {
      const far = connect(Number(port), hostname)
      near.pipe(far)
      far.pipe(near)
      this.watch(near, far)
      for (const socket of [near, far]) {
        this.open.add(socket)
        socket.on('error', () => {})
        socket.on('close', () => {
          near.destroy()
          far.destroy()
        })
      }
    })
  }

  /** Returns a URL of the same database that leads through this proxy. */
  async start(url: string): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve))
    const through = new URL(url)
    through.host = `127.0.0.1:${(this.server.address() as { port: number }).port}`
    for (const setting of ['citus.multi_task_query_log_level', 'client_min_messages']) {
      await withNode(url, (sql) => sql.unsafe(`alter database "${through.pathname.slice(1)}" set ${setting} = notice`))
    }
    return through.href
  }

  stop(): void {
    this.server.close()
    for (const socket of this.open) socket.destroy()
  }

  /** Matches each statement with the notices that the server sends up to the next `ReadyForQuery`. */
  private watch(near: Socket, far: Socket): void {
    const prepared = new Map<string, string>()
    const asked: string[] = []
    let bound = ''
    const toServer: Record<string, (body: Buffer) => void> = {
      P: (body) => {
        const [name = '', text = ''] = body.toString().split('\0')
        prepared.set(name, text)
      },
      B: (body) => {
        const portalEnd = body.indexOf(0)
        const nameEnd = body.indexOf(0, portalEnd + 1)
        bound = prepared.get(body.subarray(portalEnd + 1, nameEnd).toString()) ?? ''
        this.seen.push({ text: bound, values: valuesOf(body.subarray(nameEnd + 1)) })
      },
      Q: (body) => asked.push(body.toString()),
      S: () => asked.push(bound),
    }
    const toClient: Record<string, (body: Buffer) => void> = {
      N: (body) => {
        const fields = body.toString().split('\0')
        const field = (code: string) => fields.find((one) => one.startsWith(code))?.slice(1) ?? ''
        if (!field('M').startsWith('multi-task query')) return
        const within = /^[^"]*"([\s\S]*)"\s*PL\/pgSQL function/.exec(field('W'))?.[1] ?? field('W')
        this.wide.push((within || asked[0] || '').replace(/\s+/g, ' ').trim())
      },
      Z: () => asked.shift(),
    }
    near.on('data', messages(toServer, false))
    far.on('data', messages(toClient, true))
  }
}

/** The values of a `Bind` message, all as text; its body here starts behind the two names. */
function valuesOf(body: Buffer): (string | null)[] {
  let at = 2 + 2 * body.readInt16BE(0)
  const count = body.readInt16BE(at)
  at += 2
  return Array.from({ length: count }, () => {
    const length = body.readInt32BE(at)
    at += 4 + Math.max(0, length)
    return length === -1 ? null : body.subarray(at - length, at).toString()
  })
}

/** Splits a connection's bytes into protocol messages. A client's first message has no type byte. */
function messages(handle: Record<string, (body: Buffer) => void>, isBegun: boolean): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  let typeBytes = isBegun ? 1 : 0
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= typeBytes + 4 && rest.length >= typeBytes + rest.readUInt32BE(typeBytes)) {
      const end = typeBytes + rest.readUInt32BE(typeBytes)
      if (typeBytes === 1) handle[String.fromCharCode(rest[0] ?? 0)]?.(rest.subarray(5, end))
      rest = rest.subarray(end)
      typeBytes = 1
    }
  }
}
