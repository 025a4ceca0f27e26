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
  /** `X-Forwarded-Proto` is trusted only from these: any other client could forge it. */
  trustedProxies?: BlockList | undefined
  /** The process stops: requests under way are answered with 50003. */
  giveUp?: () => void
  isShared?: boolean
}

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

/** For several processes; a free port for 0. Throws if another program has it. */
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
