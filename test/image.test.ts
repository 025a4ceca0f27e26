import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Image, makeImage } from '../scripts/image.ts'
import { projectFolder } from './kit/folders.ts'
import { pack, startInstalled } from './kit/installed.ts'
import { isLong } from './kit/scale.ts'
import { Workplace } from './kit/workplace.ts'

// Makes the container image for amd64 and looks into it; as root it also starts it, with chroot in the place of an engine.
// It needs the build, npm's registry and Debian's, and a minute, so it is in the long run only.

const isRoot = process.getuid?.() === 0
const canMake = ['apt-get', 'dpkg-deb'].every((name) => Bun.which(name)) && process.arch === 'x64'
const text = (...path: string[]) => readFileSync(join(...path), 'utf8')
const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

test('the package of the SDK has the licence of the service', () => {
  expect(text(projectFolder, 'sdk/LICENSE')).toBe(text(projectFolder, 'LICENSE'))
})

describe.skipIf(!isLong || !canMake)('the container image', () => {
  const place = new Workplace()
  const [layout, root] = [join(place.home, 'layout'), join(place.home, 'root')]
  const blob = (digest: string) => join(layout, 'blobs', digest.replace(':', '/'))
  let tarball: string
  let image: Image
  let manifest: { config: { digest: string }; layers: { digest: string }[] }

  beforeAll(() => {
    tarball = pack(place.home)
    image = makeImage(tarball, 'amd64', place.home)
    for (const folder of [layout, root]) mkdirSync(folder)
    execFileSync('tar', ['-xf', image.path, '-C', layout])
    manifest = JSON.parse(text(blob(image.digest)))
    for (const { digest } of manifest.layers) execFileSync('tar', ['-xzpf', blob(digest), '-C', root])
  }, 300_000)
  afterAll(() => place.clear(), 60_000)

  test('is a whole OCI layout, and the same each time', () => {
    expect(JSON.parse(text(layout, 'index.json')).manifests[0].digest).toBe(image.digest)
    const blobs = readdirSync(join(layout, 'blobs/sha256'))
    const needed = [image.digest, manifest.config.digest, ...manifest.layers.map(({ digest }) => digest)]
    expect(blobs.map((name) => `sha256:${name}`).sort()).toEqual(needed.sort())
    for (const digest of needed) expect(sha256(readFileSync(blob(digest)))).toBe(digest)
    const contents = manifest.layers.map(({ digest }) => sha256(Bun.gunzipSync(readFileSync(blob(digest)))))
    expect(JSON.parse(text(blob(manifest.config.digest))).rootfs.diff_ids).toEqual(contents)
    const again = join(place.home, 'again')
    mkdirSync(again)
    expect(makeImage(tarball, 'amd64', again).digest).toBe(image.digest)
    expect(text(image.list).trim().split('\n')).toHaveLength(8)
  }, 300_000)

  test('is set up as the Dockerfile says', () => {
    const { config } = JSON.parse(text(blob(manifest.config.digest)))
    const dockerfile = text(projectFolder, 'deploy/Dockerfile').replaceAll('\\\n', ' ')
    const says = (instruction: string) => dockerfile.match(new RegExp(`^${instruction} +(.*)$`, 'gm'))?.at(-1)
    const value = (instruction: string) => says(instruction)?.replace(/^\w+ +/, '')
    expect(config.User).toBe(value('USER') ?? '')
    expect(config.WorkingDir).toBe(value('WORKDIR'))
    expect(config.StopSignal).toBe(value('STOPSIGNAL'))
    expect(Object.keys(config.Volumes)).toEqual([value('VOLUME') ?? ''])
    expect(Object.keys(config.ExposedPorts)).toEqual([`${value('EXPOSE')}/tcp`])
    expect(JSON.stringify(config.Entrypoint)).toBe(value('ENTRYPOINT') ?? '')
    expect(JSON.stringify(config.Cmd)).toBe(value('CMD') ?? '')
    expect(config.Env.slice(1)).toEqual((value('ENV') ?? '').split(/ +/))
    const labels = [...(value('LABEL') ?? '').matchAll(/([\w.]+)="([^"]*)"/g)].map(([, name, label]) => [name, label])
    expect(config.Labels).toEqual(Object.fromEntries(labels))
    expect(config.Healthcheck).toMatchObject({ Interval: 30e9, Timeout: 5e9, StartPeriod: 60e9 })
  })

  test('has licences, and neither a secret nor a package for development', () => {
    const modules = join(root, 'opt/forecourt/node_modules')
    expect(text(modules, 'forecourt/LICENSE')).toBe(text(projectFolder, 'LICENSE'))
    expect(existsSync(join(root, 'usr/share/doc/libc6/copyright'))).toBe(true)
    const { dependencies, devDependencies } = JSON.parse(text(projectFolder, 'package.json'))
    const unwanted = Object.keys(devDependencies).filter((name) => !(name in dependencies))
    expect(unwanted.filter((name) => existsSync(join(modules, name)))).toEqual([])
    const names = readdirSync(root, { recursive: true, encoding: 'utf8' })
    expect(
      names
        .filter((name) => /(^|\/)(secrets|\.npmrc|\.env|\.git|secrets\.key|\.package-lock\.json)$/.test(name))
        .filter((name) => !name.includes('forecourt/src/') && !name.includes('forecourt/dist/')),
    ).toEqual([])
  })

  test.skipIf(!isRoot)(
    'serves, and its health check finds it',
    async () => {
      const { config } = JSON.parse(text(blob(manifest.config.digest)))
      const own = Object.fromEntries(config.Env.map((line: string) => line.split('=')))
      // An engine mounts these two. The mounts end with the process.
      const mounts = `mount -t proc proc ${root}/proc && mount --rbind /dev ${root}/dev`
      const enter = `cd ${root} && exec chroot --userspec=${config.User} ${root} "$@"`
      const command = [
        'unshare',
        '--mount',
        'sh',
        '-c',
        `${mounts} && ${enter}`,
        'sh',
        '/usr/bin/env',
        `PATH=${own.PATH}`,
        ...config.Entrypoint,
      ]
      const env = {
        ...own,
        PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
        FORECOURT_HOST: '127.0.0.1',
        FORECOURT_PORT: '0',
        HOME: '/nonexistent',
      }
      const service = await startInstalled(root, { command, dataDir: '/data', env })
      try {
        expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
        const check = config.Healthcheck.Test[1]
        const healthy = (port: string) => {
          const args = [`--userspec=${config.User}`, root, '/bin/sh', '-c', check]
          return spawnSync(Bun.which('chroot') ?? 'chroot', args, { env: { ...own, FORECOURT_PORT: port } }).status
        }
        expect(healthy(new URL(service.url).port)).toBe(0)
        expect(healthy('1')).toBe(1)
      } finally {
        expect(await service.stop()).toBe(0)
      }
      expect(service.stderr()).toMatch(/"runtime":"Bun /)
    },
    120_000,
  )
})
