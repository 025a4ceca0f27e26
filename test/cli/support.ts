import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { join } from 'node:path'
import { type Ended, projectFolder } from '../harness.ts'

const isNode = process.env.FORECOURT_TEST_RUNTIME === 'node'
/** The program and arguments that precede a command. */
export const commandLine = isNode
  ? ['node', join(projectFolder, 'dist', 'cli', 'main.js')]
  : [join(projectFolder, 'node_modules', '.bin', 'bun'), join(projectFolder, 'src', 'cli', 'main.ts')]

interface Started {
  child: ChildProcess
  ended: Promise<Ended>
}

/** Starts the command line as a process with only these environment variables. */
export function startForecourt(
  args: string[],
  env: Record<string, string | undefined> = {},
  options: Pick<SpawnOptions, 'detached'> = {},
): Started {
  const { PATH, HOME, TMPDIR } = process.env
  const [command = '', ...first] = commandLine
  const child = spawn(command, [...first, ...args], {
    ...options,
    env: { PATH, HOME, TMPDIR, ...env } as NodeJS.ProcessEnv,
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
