import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CliCommand } from '../../src/cli/command.ts'
import { Context } from '../../src/cli/context.ts'
import { createProgram } from '../../src/cli/program.ts'
import { newDataDir, projectFolder } from '../kit/folders.ts'
import { command, forecourt } from './support.ts'

// The command line's help and usage errors.

const { stdin, stdout, stderr } = process
const program = createProgram(new Context({ environment: {}, stdin, stdout, stderr }))
const commandsOf = (parent: CliCommand): CliCommand[] =>
  (parent.commands as CliCommand[]).flatMap((child) => [child, ...commandsOf(child)])

test('every command says what it does, and those that run show an example', () => {
  const all = commandsOf(program)
  expect(all.length).toBeGreaterThan(1)
  expect(all.filter((command) => command.description() === '').map((command) => command.name())).toEqual([])
  const running = all.filter((command) => command.commands.length === 0)
  expect(running.filter((command) => command.examples.length === 0).map((command) => command.name())).toEqual([])
  const lines = running.flatMap(({ path, examples }) =>
    examples.map(({ line }) => [path, `forecourt ${line}`] as const),
  )
  expect(lines.filter(([path, line]) => !`${line} `.startsWith(`${path} `))).toEqual([])
})

test('a wrong use ends with 2, says why, and writes nothing to standard output', async () => {
  const wrong: [string[], RegExp][] = [
    [[], /^Usage: forecourt /],
    [['spread'], /^error: unknown command 'spread'/],
    [['distribute', 'twice'], /^error: too many arguments for 'distribute'/],
    [['distribute', '--fast'], /^error: unknown option '--fast'/],
  ]
  for (const [args, said] of wrong) {
    const { code, stdout, stderr } = await command(args)
    expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' })
    expect(stderr).toMatch(said)
  }
})

test('a command’s help and the version are told on standard output', async () => {
  const { code, stdout } = await command(['help', 'distribute'])
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^Usage: forecourt distribute [\s\S]+Examples:\n/),
  })
  const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'))
  expect(await command(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test('openapi prints the document, whole also where it is read slowly', async () => {
  const { code, stdout } = await forecourt(['openapi', '--json'])
  expect(code).toBe(0)
  expect(stdout).toBe(readFileSync(join(projectFolder, 'openapi.json'), 'utf8'))
})

/** The completions that a shell offers for each of these lines when Tab is pressed. */
async function completed(shell: 'bash' | 'fish', lines: string[][]): Promise<string[]> {
  const file = join(newDataDir(), 'completion')
  await Bun.write(file, (await command(['completion', shell])).stdout)
  const ask = {
    bash: (words: string[]) => {
      const given = words.map((word) => `'${word}'`).join(' ')
      return `COMP_WORDS=(forecourt ${given}); COMP_CWORD=${words.length}; _forecourt; echo "\${COMPREPLY[@]}"`
    },
    fish: (words: string[]) => `echo (complete -C 'forecourt ${words.join(' ')}' | cut -f1 | sort)`,
  }[shell]
  const script = [`source '${file}'`, ...(shell === 'bash' ? ['complete -p forecourt'] : []), ...lines.map(ask)].join(
    '\n',
  )
  const { stdout, stderr, status } = spawnSync(shell, ['-c', script], { encoding: 'utf8' })
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  return stdout.trimEnd().split('\n')
}

const lines = [
  ['app', 'o'],
  ['--json', 'app', 'rot'],
  ['operator', 'create', 'x', '--role', ''],
  ['app', 'freeze', 'some', '--re'],
]
const answers = ['offline online', 'rotate-secret', 'admin developer operator viewer', '--reason']

test('bash completes commands, options and their values', async () => {
  const [registered, ...said] = await completed('bash', lines)
  expect(registered).toEndWith('-F _forecourt forecourt')
  expect(said.map((line) => line.split(' ').sort().join(' '))).toEqual(answers)
})

test.if(Bun.which('fish') !== null)('so does fish', async () => {
  expect(await completed('fish', lines)).toEqual(answers)
})

test.if(Bun.which('zsh') !== null)('zsh reads what it is given', async () => {
  const { stdout } = await command(['completion', 'zsh'])
  const { status, stderr } = spawnSync('zsh', ['-f', '-n'], { input: stdout, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
})
