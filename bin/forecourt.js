#!/usr/bin/env node
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// The command `forecourt` of an installed package. The service runs on Bun where npm brought one that works here, else
// on the Node that runs this; every other command runs on this Node.

if (import.meta.dirname === undefined) {
  process.stderr.write(`Forecourt needs Node 20.12 or newer; this is ${process.version}.\n`)
  process.exit(1)
}
const root = join(import.meta.dirname, '..')
const compiled = join(root, 'dist', 'cli', 'main.js')
const args = process.argv.slice(2)

const command = args.find((argument) => !argument.startsWith('-'))
const isServe = command === 'serve'
// What a checkout has compiled may be older than its source.
const isCheckout = existsSync(join(root, 'tsconfig.json'))
const bun = (isServe || isCheckout) && process.env.FORECOURT_RUNTIME !== 'node' ? findBun() : undefined
if (bun === undefined && !existsSync(compiled)) {
  process.stderr.write('Without Bun it runs what npm run build makes, and that is not there.\n')
  process.exit(1)
}
// npm starts commands in a shell, to which it passes its signals on; the shell ends by them and tells us nothing.
const isBehindShell = process.env.npm_command !== undefined
if (['serve', 'listen', 'demo'].includes(command) && isBehindShell) {
  const shell = process.ppid
  setInterval(() => process.ppid === shell || process.kill(process.pid, 'SIGTERM'), 250).unref()
}
if (bun === undefined) await import(compiled)
else runOn(bun)

/** The first Bun that npm installed and that runs on this machine. */
function findBun() {
  return candidates().find((program) => {
    const { status } = spawnSync(program, ['--version'], { stdio: 'ignore', timeout: 10_000 })
    return status === 0
  })
}

/** Its install script moves the platform's program into the package `bun`; npm runs none unless it is allowed to. */
function candidates() {
  try {
    const manifest = createRequire(import.meta.url).resolve('bun/package.json')
    const requireFromBun = createRequire(manifest)
    const platforms = Object.keys(requireFromBun(manifest).optionalDependencies).flatMap((name) => {
      try {
        return [join(dirname(requireFromBun.resolve(`${name}/package.json`)), 'bin', 'bun')]
      } catch {
        return []
      }
    })
    return [...platforms, join(dirname(manifest), 'bin', 'bun.exe')].filter((program) => existsSync(program))
  } catch {
    return []
  }
}

function runOn(program) {
  // The folder from which it is started belongs to somebody else: its settings for Bun and its .env are not ours.
  const all = ['--no-install', '--no-env-file', `--config=${join(root, 'bin', 'bunfig.toml')}`]
  all.push(join(root, 'src', 'cli', 'main.ts'), ...args)
  const env = { ...process.env, BUN_JSC_forceRAMSize: process.env.BUN_JSC_forceRAMSize ?? '536870912' }
  // In the place of this process where Node can do that (22.15 and newer): then nothing stands between it and signals.
  if (process.execve !== undefined && !isBehindShell) process.execve(program, [program, ...all], env)
  // It ends when the channel does: also when this process is killed.
  const child = spawn(program, all, { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`${program} cannot be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}
