import { residentMegabytes } from './cpu.ts'
import { load } from './load.ts'
import type { Options } from './options.ts'
import { table } from './report.ts'
import type { Server } from './servers.ts'

const connections = 512

/** The memory of servers under twice as many connections. */
export async function measureMemory(servers: Server[], { seconds, serials }: Options): Promise<string> {
  const rows: string[][] = []
  for (const server of servers) {
    const loaded = load(server, { connections, seconds, serials })
    let under = residentMegabytes(server.pid)
    const timer = setInterval(() => {
      under = residentMegabytes(server.pid)
    }, 250)
    try {
      await loaded
    } finally {
      clearInterval(timer)
    }
    rows.push([server.name, under.now.toFixed(0), residentMegabytes(server.pid).peak.toFixed(0)])
  }
  return table([`memory, ${connections} connections`, 'resident MB', 'peak MB'], rows)
}
