import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { limits } from '../vocabulary/limits.ts'

/** Past `most`, cuts the longest idle connection: who opens thousands loses its own, and keeps nobody else out. */
export function boundConnections(server: Server, most: number): void {
  let open = 0
  const idle = new Set<Socket>()
  /** Requests without a response: a client may send the next one early. */
  const unanswered = new WeakMap<Socket, number>()
  server.on('connection', (socket: Socket) => {
    open++
    idle.add(socket)
    socket.once('close', () => {
      open--
      idle.delete(socket)
    })
    const [oldest = socket] = idle
    if (open > most) oldest.destroy()
  })
  server.on('request', ({ socket }, answer) => {
    idle.delete(socket)
    unanswered.set(socket, (unanswered.get(socket) ?? 0) + 1)
    answer.once('close', () => {
      const left = (unanswered.get(socket) ?? 1) - 1
      unanswered.set(socket, left)
      if (left === 0 && !socket.destroyed) idle.add(socket)
    })
  })
}

/** Bounded by the process's limit of open files, of which some must stay free. */
export function mostConnections(): number {
  let allowed = ''
  try {
    allowed = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // Only Linux has that file; elsewhere the number below must do.
  }
  const files = Number(/^Max open files\s+(\d+)/m.exec(allowed)?.[1] ?? Number.POSITIVE_INFINITY)
  return Math.max(64, Math.min(16_384, files - limits.openFilesKept))
}
