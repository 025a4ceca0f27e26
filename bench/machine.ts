import { execFileSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import type { Cluster } from './cluster.ts'
import type { Options } from './options.ts'

/** Describes the machine of the figures, which mean nothing without it. */
export async function describeMachine({ admin }: Cluster, options: Options): Promise<string> {
  const [database] = await admin`
    select current_setting('server_version') as version, current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as commit, current_setting('full_page_writes') as pages`
  if (database?.fsync !== 'on' || database.commit !== 'on') throw new Error('The database does not run with fsync on.')
  const [processor] = cpus()
  const gigabytes = Math.round(totalmem() / 2 ** 30)
  const { connections, rounds, seconds, serials } = options
  return [
    `Machine: ${cpus().length} cores (${processor?.model.trim()}), ${gigabytes} GB, load generator and database included.`,
    `Runtimes: Bun ${Bun.version}, Node ${nodeVersion() ?? 'none'}.`,
    `PostgreSQL ${database.version}, fsync ${database.fsync}, synchronous_commit ${database.commit}, ` +
      `full_page_writes ${database.pages}.`,
    `wrk, ${connections} connections, serials ${serials}; medians of ${rounds} × ${seconds} s.`,
  ].join('\n')
}

/** The version of the Node that runs the baseline and `dist/`. */
function nodeVersion(): string | undefined {
  try {
    return execFileSync('node', ['--version'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}
