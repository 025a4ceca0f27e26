import type { BlockList } from 'node:net'
import { startRounds } from '../runtime/loop.ts'
import { limits } from '../vocabulary/limits.ts'
import { Connection, type Shared } from './bun-connection.ts'
import { parserMaker } from './bun-parser.ts'
import type { Drain } from './drain.ts'
import { mostConnections } from './idle-connections.ts'
import { type Listener, urlOf } from './listener.ts'

const sweepMs = 1000

export function listenOnBun(
  host: string,
  port: number,
  drain: Drain,
  isShared: boolean,
  proxies: BlockList | undefined,
): Listener {
  const parserOf = parserMaker(limits.headBytes)
  const shared: Shared = { drain, proxies, parserOf, idle: new Set() }
  const all = new Set<Connection>()
  const most = mostConnections()
  const options: Bun.TCPSocketListenOptions<Connection> & { reusePort: boolean } = {
    hostname: host,
    port,
    reusePort: isShared,
    // A client that closes its half still waits for its response.
    allowHalfOpen: true,
    socket: {
      open(socket) {
        const connection = new Connection(socket, shared)
        socket.data = connection
        all.add(connection)
        if (all.size > most) spareOf(all, shared.idle, connection).terminate()
      },
      data: (socket, bytes) => socket.data.received(bytes),
      drain: (socket) => socket.data.drained(),
      end: (socket) => socket.data.halfClosed(),
      error() {},
      close(socket) {
        all.delete(socket.data)
        socket.data.closed()
      },
    },
  }
  const server = Bun.listen(options)
  const sweeping = startRounds(() => {
    const now = performance.now()
    for (const connection of all) connection.checkTime(now)
  }, sweepMs)
  return {
    url: urlOf(host, server.port),
    async stop() {
      await drain.begin()
      server.stop()
      for (const connection of shared.idle) if (!connection.isInHead) connection.close()
      await drain.end()
      void sweeping.stop()
      for (const connection of all) connection.terminate()
    },
  }
}

/** The longest idle, or the new one if all others have a request. */
function spareOf(all: Set<Connection>, [oldest]: Iterable<Connection>, newest: Connection): Connection {
  if (oldest !== newest && oldest !== undefined) return oldest
  for (const connection of all) if (connection.isSpare) return connection
  return newest
}
