import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
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
import { connect as connectTls } from 'node:tls'
import { type Client, target } from './kit/client.ts'
import { EventReader } from './kit/event-reader.ts'
import { projectFolder } from './kit/folders.ts'
import { newApplication, siteBody } from './kit/records.ts'
import { freePort } from './kit/replicated.ts'
import { becomes, becomesTrue } from './kit/waits.ts'
import { expectAnswered, wireCases } from './wire-cases.ts'

// Checks of the files in deploy/ with the programs that read them, where those programs are installed on this machine.

const deploy = join(projectFolder, 'deploy')
const isThere = (program: string) => Bun.which(program) !== null
const run = (program: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

test('they, and the pages that tell of them, name this version', () => {
  const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'))
  const files = readdirSync(deploy, { recursive: true, encoding: 'utf8' }).map((name) => join('deploy', name))
  const pages = ['README.md', 'docs/deployment.md', 'docs/zh/deployment.md']
  const texts = [...files.filter((name) => /file$|\.\w+$/.test(name)), ...pages]
  const named = texts.flatMap((name) => {
    const text = readFileSync(join(projectFolder, name), 'utf8')
    return [...text.matchAll(/(?:\bforecourt[-:]|newTag: |image\.version=")(\d+\.\d+\.\d+)/g)].map(([, number]) => [
      name,
      number,
    ])
  })
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter(([, number]) => number !== version)).toEqual([])
})

test.skipIf(!isThere('systemd-analyze'))('systemd takes the unit, and finds little exposed', () => {
  const unit = join(deploy, 'forecourt.service')
  const units = ['forecourt.service', 'forecourt-backup.service', 'forecourt-backup.timer'].map((name) =>
    join(deploy, name),
  )
  expect(run('systemd-analyze', 'verify', '--man=no', ...units)).toEqual({ status: 0, said: '' })
  // systemd-analyze counts the threshold in tenths: 15 means an exposure of 1.5 at most.
  const { status, said } = run('systemd-analyze', 'security', '--offline=true', '--no-pager', '--threshold=15', unit)
  expect(status, said.split('\n').at(-2)).toBe(0)
})

const scrape = (client: Client) =>
  client.send('/metrics', { headers: { authorization: `Bearer ${client.operatorKey}` } })

describe.skipIf(!isThere('nginx') || !isThere('openssl'))('nginx', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-nginx-'))
  let nginx: ChildProcess | undefined
  afterAll(async () => {
    if (nginx?.kill('SIGTERM')) await once(nginx, 'exit')
    rmSync(folder, { recursive: true })
  })

  /**
   * Writes deploy/nginx.conf with another certificate, other ports and another upstream; returns the path of nginx's
   * main configuration.
   */
  function write(plain: number, tls: number, service: string): string {
    const [key, certificate] = [join(folder, 'privkey.pem'), join(folder, 'fullchain.pem')]
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
    const request = ['req', '-x509', ...curve, '-nodes', '-subj', '/CN=forecourt.example.org']
    expect(run('openssl', ...request, '-keyout', key, '-out', certificate).status).toBe(0)
    const site = readFileSync(join(deploy, 'nginx.conf'), 'utf8')
      .replaceAll('/etc/ssl/forecourt', folder)
      .replaceAll(/listen (\[::\]:)?80;/g, (_, all) => (all ? '' : `listen 127.0.0.1:${plain};`))
      .replaceAll(/listen (\[::\]:)?443 ssl http2;/g, (_, all) => (all ? '' : `listen 127.0.0.1:${tls} ssl http2;`))
      .replace('server 127.0.0.1:8080;', `server ${service};`)
      .replace('/var/log/nginx/forecourt.log', join(folder, 'access.log'))
    writeFileSync(join(folder, 'site.conf'), site)
    const user = process.getuid?.() === 0 ? 'user root;' : ''
    const main = `${user} pid ${folder}/pid; error_log stderr; daemon off; events {} http { gzip on; gzip_min_length 1; gzip_proxied any; gzip_types *; access_log off; include ${folder}/site.conf; }`
    writeFileSync(join(folder, 'nginx.conf'), main)
    return join(folder, 'nginx.conf')
  }

  test('takes its configuration, and serves by it: TLS alone, a plain token refused, the metrics within', async () => {
    const client = await target()
    const [plain, tls] = [await freePort(), await freePort()]
    const configuration = write(plain, tls, new URL(client.url).host)
    const { status, said } = run('nginx', '-t', '-c', configuration)
    expect(status, said).toBe(0)
    expect(said).not.toContain('[warn]')

    nginx = spawn(Bun.which('nginx') ?? '', ['-c', configuration], { stdio: 'ignore' })
    const insecure = `http://127.0.0.1:${plain}`
    const options = { redirect: 'manual', headers: { host: 'forecourt.example.org' } } as const
    expect(await becomesTrue(async () => (await fetch(insecure, options).catch(() => undefined)) !== undefined)).toBe(
      true,
    )
    const moved = await fetch(`${insecure}/console`, options)
    expect([moved.status, moved.headers.get('location')]).toEqual([301, 'https://forecourt.example.org/console'])
    const token = { ...options, method: 'POST', headers: { ...options.headers, authorization: 'Bearer secret' } }
    const refused = await fetch(`${insecure}/api/device/entrance/guard/create`, token)
    expect([refused.status, refused.headers.get('location')]).toEqual([403, null])

    const secure = (path: string, ...more: string[]) =>
      run(
        ...['curl', '-sk', '--max-time', '10', '-w', ' %{http_code} %{http_version}', ...more],
        `https://127.0.0.1:${tls}${path}`,
      )
    expect(secure('/healthz').said).toMatch(/ 200 2$/)
    expect(secure('/healthz', '-D', '-').said).toMatch(/strict-transport-security: max-age=31536000\r/)
    // This client's network may request the metrics, but without a key the service still responds with 401.
    expect(secure('/metrics').said).toMatch(/ 401 2$/)
    const old = ['--tls-max', '1.2', '--tlsv1.2', '--ciphers']
    expect(secure('/healthz', ...old, 'ECDHE-ECDSA-AES128-GCM-SHA256').said).toMatch(/ 200 2$/)
    expect(secure('/healthz', ...old, 'ECDHE-ECDSA-AES128-SHA').status).not.toBe(0)

    // Every form of a request: what is carried out is answered, through nginx as well.
    const application = await newApplication(client)
    const open = async () => {
      const socket = connectTls({ host: '127.0.0.1', port: tls, rejectUnauthorized: false, allowHalfOpen: true })
      await once(socket, 'secureConnect')
      return socket
    }
    for (const wireCase of wireCases('forecourt.example.org', application)) {
      await expectAnswered(wireCase, open, client, application, true)
    }

    // Events come through one by one, uncompressed, even where nginx compresses everything; a reader that leaves is told.
    const places = async () => /^forecourt_streams (\d+)$/m.exec((await scrape(client)).text)?.[1]
    const before = await places()
    const headers = { host: 'forecourt.example.org', 'accept-encoding': 'gzip' }
    const init = { tls: { rejectUnauthorized: false } }
    const reader = await EventReader.open(`https://127.0.0.1:${tls}`, { token: application.token, headers, init })
    expect(reader.response.headers.get('content-encoding')).toBeNull()
    await reader.until(() => reader.blocks.length === 2, 1_000)
    for (let count = 1; count <= 3; count++) {
      await client.call('saveSite', siteBody(application.appId), { token: application.token })
      await reader.untilEvents(count, 1_200)
    }
    reader.close()
    expect(await becomes(before, places, 5_000)).toBe(before)

    // Strangers are limited, and the log keeps no query.
    const limited = await Promise.all(
      Array.from({ length: 30 }, () =>
        fetch(`https://127.0.0.1:${tls}/api/platform/v1/signOn/callback?code=secret-code&state=x`, {
          redirect: 'manual',
          headers: { host: 'forecourt.example.org' },
          tls: { rejectUnauthorized: false },
        }).then(({ status }) => status),
      ),
    )
    expect(limited).toContain(429)
    const log = join(folder, 'access.log')
    expect(await becomesTrue(() => readFileSync(log, 'utf8').includes('/api/platform/v1/signOn/callback'))).toBe(true)
    expect(readFileSync(log, 'utf8')).not.toContain('secret-code')
  }, 120_000)
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
  })

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

interface Manifest {
  kind: string
  resources?: string[]
}
interface Compose {
  services: Record<string, { secrets?: string[]; profiles?: string[] }>
  secrets: Record<string, unknown>
}

test('every manifest, and compose.yaml, is YAML that names what is there', () => {
  const kubernetes = join(deploy, 'kubernetes')
  const objects: Manifest[] = readdirSync(kubernetes, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => [Bun.YAML.parse(readFileSync(join(kubernetes, name), 'utf8')) as Manifest | Manifest[]].flat())
  const kinds = objects.map(({ kind }) => kind)
  for (const kind of ['Deployment', 'CronJob', 'NetworkPolicy', 'ServiceMonitor', 'Kustomization'])
    expect(kinds).toContain(kind)
  const resources = objects.find(({ kind }) => kind === 'Kustomization')?.resources ?? ['none']
  expect(resources.filter((name) => !existsSync(join(kubernetes, name)))).toEqual([])
  const compose = Bun.YAML.parse(readFileSync(join(deploy, 'compose.yaml'), 'utf8')) as Compose
  const ofProfile = (profile?: string) =>
    Object.keys(compose.services).filter((name) => compose.services[name]?.profiles?.[0] === profile)
  expect(ofProfile()).toEqual(['forecourt', 'backup', 'postgres'])
  expect(ofProfile('monitoring')).toEqual(['prometheus', 'alertmanager', 'grafana'])
  for (const service of Object.values(compose.services)) {
    expect(Object.keys(service)).toEqual(expect.arrayContaining(['logging', 'mem_limit', 'pids_limit']))
    for (const name of service.secrets ?? []) expect(Object.keys(compose.secrets)).toContain(name)
  }
})

test.skipIf(!isThere('kubectl'))('kustomize takes the manifests, and names the settings by what they hold', () => {
  const { status, said } = run('kubectl', 'kustomize', join(deploy, 'kubernetes'))
  expect(status, said).toBe(0)
  const [name] = /forecourt-[a-z0-9]{10}$/m.exec(said) ?? []
  // The name occurs three times: in the ConfigMap itself, in the pods of the service and in those of the backup.
  expect(said.split(`name: ${name}\n`)).toHaveLength(4)
})

test('the lock of the image has all that the service needs, with digests, and nothing that only builds or tests', () => {
  const folder = mkdtempSync(join(tmpdir(), 'forecourt-lock-'))
  try {
    writeFileSync(join(folder, 'forecourt.tgz'), 'a tarball')
    expect(run('node', join(deploy, 'image-lock.mjs'), join(folder, 'forecourt.tgz'), folder)).toEqual({
      status: 0,
      said: '',
    })
    const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
    const manifest = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'))
    const { dependencies, optionalDependencies, devDependencies } = manifest
    for (const [name, version] of Object.entries({ ...dependencies, ...optionalDependencies })) {
      const path = name === 'postgres' ? 'node_modules/forecourt/node_modules/postgres' : `node_modules/${name}`
      expect([name, packages[path]?.version]).toEqual([name, version])
    }
    for (const name of [...Object.keys(devDependencies), 'react', 'antd', 'vite', 'patch-package']) {
      expect([name, name in dependencies || packages[`node_modules/${name}`] === undefined]).toEqual([name, true])
    }
    const open = Object.entries<{ integrity?: string }>(packages).filter(
      ([path, { integrity }]) => path !== '' && !integrity,
    )
    expect(open).toEqual([])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
