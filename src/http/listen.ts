import { createServer } from 'node:http'
import type { BlockList } from 'node:net'
import type { Logger } from 'pino'
import { UserError } from '../runtime/user-error.ts'
import { Drain } from './drain.ts'
import { listenOnBun } from './listen-bun.ts'
import { listenOnNode, portOf, startListening } from './listen-node.ts'
import type { Listener } from './listener.ts'
import type { HttpHandler } from './message.ts'

export interface ListenOptions {
  log: Logger
  /** The proxies whose `X-Forwarded-Proto` is trusted; any other client could forge the header. */
  trustedProxies?: BlockList | undefined
  /** Answers all requests under way with 50003: the process stops, and cannot wait for them. */
  giveUp?: () => void
  /** Other processes of this service listen there as well. */
  isShared?: boolean
}

/** Listens with the server of the runtime, Bun or Node. */
export function listen(host: string, port: number, handler: HttpHandler, options: ListenOptions): Promise<Listener> {
  const { log, isShared = false, trustedProxies } = options
  const drain = new Drain(handler, log, options.giveUp)
  // On Node the parent owns the socket, and node:cluster shares it.
  return explained(host, port, () =>
    typeof Bun === 'undefined'
      ? listenOnNode(host, port, drain, trustedProxies)
      : listenOnBun(host, port, drain, isShared, trustedProxies),
  )
}

/** Finds the port that several processes will share; a free one for 0. Throws when another program has it. */
export function findPort(host: string, port: number): Promise<number> {
  return explained(host, port, async () => {
    if (typeof Bun !== 'undefined') {
      const probe = Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response() })
      const found = probe.port ?? port
      await probe.stop(true)
      return found
    }
    const probe = createServer()
    await startListening(probe, host, port)
    const found = portOf(probe)
    await new Promise((resolve) => probe.close(resolve))
    return found
  })
}

async function explained<Result>(host: string, port: number, attempt: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await attempt()
  } catch (error) {
    const code = (error as { code?: string }).code
    if (code === 'EADDRINUSE')
      throw new UserError(
        `Port ${port} on ${host} is used by another program. Stop that program, or set FORECOURT_PORT to another port.`,
      )
    if (code === 'EACCES')
      throw new UserError(`No permission to open port ${port} on ${host}. Set FORECOURT_PORT to a port above 1023.`)
    throw new UserError(`Can’t listen on ${host}:${port} (${code ?? (error as Error).message}).`)
  }
}
