import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { projectFolder } from './folders.ts'

// The package as users get it: the tarball, and a folder in which npm has installed it.

/** Packs this checkout as it is built now, or the named workspace, and returns the tarball's path. */
export function pack(folder: string, ...workspace: string[]): string {
  for (const built of ['dist/main.js', 'sdk/dist/index.js', 'console/dist/index.html']) {
    if (!existsSync(join(projectFolder, built))) throw new Error(`${built} is not set: run npm run build first`)
  }
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder, ...workspace]
  const [{ filename }] = JSON.parse(execFileSync('npm', args, { cwd: projectFolder, encoding: 'utf8' }))
  return join(folder, filename)
}

/**
 * Installs a tarball into an empty folder without running install scripts. Returns false, and prints why, when the
 * registry cannot be reached; in CI that throws.
 */
export function install(tarball: string, folder: string): boolean {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"name":"installation","version":"1.0.0","private":true}')
  const args = ['install', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', tarball]
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' })
  if (status === 0) return true
  const isAway = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH/.test(stderr)
  if (!isAway || process.env.CI === 'true') throw new Error(stderr)
  process.stdout.write('The registry cannot be reached, so nothing was installed and nothing of it tested.\n')
  return false
}

/** A PATH for a machine without development tools: the system's programs, Node and npm. */
export const barePath = [
  dirname(execFileSync('node', ['-p', 'process.execPath'], { encoding: 'utf8' }).trim()),
  '/usr/bin',
  '/bin',
].join(delimiter)

export interface InstalledService {
  url: string
  operatorKey: string
  process: ChildProcess
  stderr(): string
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
}

export interface StartOptions {
  dataDir: string
  env?: Record<string, string>
  /** The command line before `serve`. */
  command: readonly string[]
  user?: { uid: number; gid: number } | undefined
}

/** Starts the service of an installed package on a free port. */
export async function startInstalled(folder: string, options: StartOptions): Promise<InstalledService> {
  const { dataDir, user, command } = options
  const operatorKey = options.env?.FORECOURT_OPERATOR_KEY ?? randomBytes(24).toString('hex')
  const [program = '', ...args] = command
  const child = spawn(program, [...args, 'serve'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: barePath,
      HOME: dataDir,
      FORECOURT_PORT: '0',
      FORECOURT_DATA_DIR: dataDir,
      FORECOURT_OPERATOR_KEY: operatorKey,
      ...options.env,
    },
    ...user,
  })
  const output = { stdout: '', stderr: '' }
  child.stderr.on('data', (piece) => {
    output.stderr += piece
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (piece) => {
      output.stdout += piece
      const ready = /^Forecourt is ready at (\S+)$/m.exec(output.stdout)
      if (ready?.[1] !== undefined) resolve(ready[1])
    })
    void ended.then((code) => reject(new Error(`the service ended with ${code}: ${output.stderr}`)))
  })
  return {
    url,
    operatorKey,
    process: child,
    stderr: () => output.stderr,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}
