import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectFolder } from './harness.ts'

// The files of deploy/, held to the programs that they are for where those are on the machine.

const deploy = join(projectFolder, 'deploy')
const isThere = (program: string) => Bun.which(program) !== null
const run = (program: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

test('they, and the pages that tell of them, name this version', () => {
  const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'))
  const files = readdirSync(deploy, { recursive: true, encoding: 'utf8' }).map((name) => join('deploy', name))
  const texts = [...files.filter((name) => /file$|\.\w+$/.test(name)), 'README.md', 'docs/deployment.md']
  const named = texts.flatMap((name) => {
    const text = readFileSync(join(projectFolder, name), 'utf8')
    return [...text.matchAll(/\bforecourt[-:](\d+\.\d+\.\d+)/g)].map(([, number]) => [name, number])
  })
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter(([, number]) => number !== version)).toEqual([])
})

test.skipIf(!isThere('systemd-analyze'))('systemd takes the unit, and finds little exposed', () => {
  const unit = join(deploy, 'forecourt.service')
  expect(run('systemd-analyze', 'verify', '--man=no', unit)).toEqual({ status: 0, said: '' })
  // In tenths.
  const { status, said } = run('systemd-analyze', 'security', '--offline=true', '--no-pager', '--threshold=15', unit)
  expect(status, said.split('\n').at(-2)).toBe(0)
})

test.skipIf(!isThere('nginx') || !isThere('openssl'))('nginx takes its configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-nginx-'))
  try {
    const [key, certificate] = [join(folder, 'privkey.pem'), join(folder, 'fullchain.pem')]
    const request = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-subj',
      '/CN=test',
    ]
    expect(run('openssl', ...request, '-keyout', key, '-out', certificate).status).toBe(0)
    const site = readFileSync(join(deploy, 'nginx.conf'), 'utf8').replaceAll('/etc/ssl/forecourt', folder)
    writeFileSync(join(folder, 'site.conf'), site)
    const main = `pid ${folder}/pid; error_log stderr; events {} http { access_log off; include ${folder}/site.conf; }`
    writeFileSync(join(folder, 'nginx.conf'), main)
    const { status, said } = run('nginx', '-t', '-c', join(folder, 'nginx.conf'))
    expect(status, said).toBe(0)
    expect(said).not.toContain('[warn]')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test.skipIf(!isThere('caddy'))('Caddy takes its configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-caddy-'))
  try {
    copyFileSync(join(deploy, 'Caddyfile'), join(folder, 'Caddyfile'))
    const { status, said } = run('caddy', 'validate', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile')
    expect(status, said).toBe(0)
    expect(run('caddy', 'fmt', join(folder, 'Caddyfile')).said).toBe(readFileSync(join(deploy, 'Caddyfile'), 'utf8'))
  } finally {
    rmSync(folder, { recursive: true })
  }
})

describe('the secrets that compose.yaml has people put in its folder', () => {
  const folder = join(deploy, 'secrets')
  const path = 'deploy/secrets/database_password'
  const isOurs = !existsSync(folder)
  beforeAll(() => {
    if (!isOurs) return
    mkdirSync(folder, { mode: 0o700 })
    writeFileSync(join(projectFolder, path), 'a password', { mode: 0o600 })
  })
  afterAll(() => {
    if (isOurs) rmSync(folder, { recursive: true })
  })

  test('are not packed', () => {
    const options = { cwd: projectFolder, encoding: 'utf8' } as const
    const packed = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], options)
    const [{ files }] = JSON.parse(packed.stdout)
    const paths = files.map((file: { path: string }) => file.path)
    expect(paths).toContain('deploy/compose.yaml')
    expect(
      paths.filter((packedPath: string) => packedPath.includes('secrets/') && !/^(src|dist)\//.test(packedPath)),
    ).toEqual([])
  }, 60_000)

  test.skipIf(!existsSync(join(projectFolder, '.git')))('are not for git', () => {
    const isIgnored = (name: string) =>
      spawnSync('git', ['check-ignore', '-q', name], { cwd: projectFolder }).status === 0
    expect(isIgnored(path)).toBe(true)
    expect(isIgnored('deploy/compose.yaml')).toBe(false)
  })

  test('are not sent to the build of the image, and the folder is closed to others', () => {
    const ignored = readFileSync(join(deploy, 'Dockerfile.dockerignore'), 'utf8').split('\n')
    expect(ignored).toContain('deploy/secrets')
    expect(ignored.filter((line) => line.startsWith('!'))).toEqual([])
    expect(readFileSync(join(deploy, 'compose.yaml'), 'utf8')).toContain('chmod 700 secrets')
  })
})
