import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import postgres from 'postgres'
import { type EmbeddedDatabase, type EmbeddedOptions, startEmbeddedDatabase } from '../src/embedded/embedded.ts'
import { goneWithin, postgresProcessesIn, signal } from '../src/embedded/processes.ts'

/** What a process reports after it has tried to start an embedded database; `refused` is the error's text. */
export type Started = Pick<EmbeddedDatabase, 'connection' | 'firstStart' | 'pid'> & { refused?: string }

const starters: ChildProcess[] = []
const sources = join(import.meta.dirname, '..', 'src', 'embedded')

/** A new folder that every user of the machine can enter. */
export function freshHome(): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'fc-')))
  chmodSync(home, 0o755)
  return home
}

/** Kills every process that was started below this folder, and removes the folder. */
export async function removeHome(home: string): Promise<void> {
  for (const starter of starters) starter.kill('SIGKILL')
  const versions = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((at) => at.endsWith('PG_VERSION'))
  const left = versions.flatMap((path) => postgresProcessesIn(dirname(join(home, path))))
  for (const server of left) signal(server, 'SIGKILL')
  await Promise.all(left.map((server) => goneWithin(server, 2000)))
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
}

/** Starts the database in a separate process, which a test can kill. Closing its standard input stops both. */
export async function startInProcess(
  dataDir: string,
  options: EmbeddedOptions = {},
  user?: { uid: number; gid: number },
) {
  const script = `
    import { startEmbeddedDatabase } from ${JSON.stringify(join(sources, 'embedded.ts'))}
    try {
      const started = await startEmbeddedDatabase(${JSON.stringify(dataDir)}, () => {}, ${JSON.stringify(options)})
      console.log(JSON.stringify(started))
      process.stdin.on('end', () => started.stop()).resume()
    } catch (fault) {
      console.log(JSON.stringify({ refused: fault.name + ': ' + fault.message }))
    }`
  const child = spawn(process.execPath, ['-e', script], {
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(user && { uid: user.uid, gid: user.gid }),
  })
  starters.push(child)
  const said = createInterface(child.stdout)[Symbol.asyncIterator]().next()
  return { child, started: said.then(({ value }) => JSON.parse(value ?? '{}') as Started) }
}

export async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

export async function stop(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.stdin?.end()
  await gone
}

/** The error of a start that must fail, or 'it started'. */
export async function refusal(dataDir: string, options: EmbeddedOptions = {}): Promise<string> {
  const outcome = await startEmbeddedDatabase(dataDir, () => {}, options).catch((fault: Error) => fault)
  if (outcome instanceof Error) return `${outcome.name}: ${outcome.message}`
  await outcome.stop()
  return 'it started'
}

export async function withSql<T>(
  { connection }: Pick<Started, 'connection'>,
  use: (sql: postgres.Sql) => Promise<T>,
): Promise<T> {
  const sql = postgres({ ...connection, max: 1, fetch_types: false, onnotice: () => {} })
  try {
    return await use(sql)
  } finally {
    await sql.end()
  }
}
