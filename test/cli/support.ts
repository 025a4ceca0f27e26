import { expect } from 'bun:test'
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { Context } from '../../src/cli/context.ts'
import { run } from '../../src/cli/run.ts'
import { target } from '../kit/client.ts'
import { projectFolder } from '../kit/folders.ts'
import type { Ended } from '../kit/service.ts'

const isLong = process.env.FORECOURT_TEST_LONG !== undefined
const isNode = process.env.FORECOURT_TEST_RUNTIME === 'node'
/** The program and arguments that precede a command. */
export const commandLine = isNode
  ? ['node', join(projectFolder, 'dist', 'cli', 'main.js')]
  : [join(projectFolder, 'node_modules', '.bin', 'bun'), join(projectFolder, 'src', 'cli', 'main.ts')]

interface Started {
  child: ChildProcess
  ended: Promise<Ended>
}

const ownEnvironment = () => {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR }
}

/** Starts the command line as a process with only these environment variables. */
export function startForecourt(
  args: string[],
  env: Record<string, string | undefined> = {},
  options: Pick<SpawnOptions, 'detached'> = {},
): Started {
  const [command = '', ...first] = commandLine
  const child = spawn(command, [...first, ...args], {
    ...options,
    env: { ...ownEnvironment(), ...env } as NodeJS.ProcessEnv,
    stdio: 'pipe',
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (piece) => {
    output.stdout += piece
  })
  child.stderr.on('data', (piece) => {
    output.stderr += piece
  })
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, ...output })))
  return { child, ended }
}

/** Runs the command line to its end, with `input` as its standard input. */
export function forecourt(args: string[], env: Record<string, string | undefined> = {}, input = ''): Promise<Ended> {
  const { child, ended } = startForecourt(args, env)
  child.stdin?.end(input)
  return ended
}

/**
 * As `forecourt`, for commands that call the API: in the gate within this process, because a start takes longer than such a
 * command.
 */
export async function command(
  args: string[],
  env: Record<string, string | undefined> = {},
  input = '',
): Promise<Ended> {
  if (isLong || isNode) return forecourt(args, env, input)
  const written = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] }
  const into = (pieces: Uint8Array[]) =>
    new Writable({
      write(piece: Uint8Array, _, done) {
        pieces.push(piece)
        done()
      },
    })
  const context = new Context({
    environment: { ...ownEnvironment(), ...env },
    stdin: Readable.from([Buffer.from(input)]),
    stdout: into(written.stdout),
    stderr: into(written.stderr),
  })
  const code = await run(args, context)
  const text = (pieces: Uint8Array[]) => Buffer.concat(pieces).toString()
  return { code, stdout: text(written.stdout), stderr: text(written.stderr) }
}

/** The shared service, and the settings by which a command calls it as its operator. */
export async function asOperator() {
  const client = await target()
  return { client, settings: { FORECOURT_URL: client.url, FORECOURT_OPERATOR_KEY: client.operatorKey } }
}

/** What a command ended with: its code, and the JSON on its standard output. */
export const told = ({ code, stdout }: Ended) => ({ code, ...JSON.parse(stdout) })

/** How a command ends that writes nothing but this, to standard error. */
export const failed = (code: number, said: RegExp | string) => ({
  ...{ code, stdout: '' },
  stderr: typeof said === 'string' ? expect.stringContaining(said) : expect.stringMatching(said),
})
