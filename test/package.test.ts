import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseProcesses } from './kit/database.ts'
import { projectFolder } from './kit/folders.ts'
import { barePath, type InstalledService, install, pack, type StartOptions, startInstalled } from './kit/installed.ts'
import { deviceBody, siteBody } from './kit/records.ts'
import { isLong, tell } from './kit/scale.ts'
import { becomesTrue } from './kit/waits.ts'
import { Workplace } from './kit/workplace.ts'

// Installs the tarball of `npm pack` on a machine with only Node and npm, and uses it as a reader of the README would.
// When the tests run as root, the service runs as another user, who can only read the installed files. It takes half a
// minute, so `npm test` leaves it out: it runs in `npm run check` after the build, and with FORECOURT_TEST_LONG=1.

const mostMegabytes = 250
const isRoot = process.getuid?.() === 0
const user = isRoot ? { uid: 65534, gid: 65534 } : undefined

const place = new Workplace()
const folder = join(place.home, 'installed')
const isInstalled = isLong && install(pack(place.home), folder)
afterAll(() => place.clear(), 60_000)

describe.skipIf(!isInstalled)('the package in an empty folder', () => {
  const dataDir = join(place.home, 'data')
  const command = join(folder, 'node_modules', '.bin', 'forecourt')
  const start = (options: Partial<StartOptions> = {}) =>
    startInstalled(folder, { command: [command], dataDir, user, ...options })

  beforeAll(() => {
    mkdirSync(dataDir)
    if (user !== undefined) chownSync(dataDir, user.uid, user.gid)
    // The service must ignore these files in its working directory.
    writeFileSync(join(folder, '.env'), 'FORECOURT_PORT=1\nDATABASE_URL=postgres://nobody@127.0.0.1:1/none\n')
    writeFileSync(join(folder, 'bunfig.toml'), 'preload = ["./missing.ts"]\n')
  })

  test('is small, and brings nothing that only builds or tests', () => {
    const megabytes = Number(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }).split('\t')[0]) / 1024
    tell(`installed: ${megabytes.toFixed(0)} MB`)
    expect(megabytes).toBeLessThan(mostMegabytes)
    const manifest = (at: string) => JSON.parse(readFileSync(join(projectFolder, at, 'package.json'), 'utf8'))
    const { dependencies, devDependencies, bundleDependencies } = manifest('.')
    const others = { ...devDependencies, ...manifest('console').dependencies, ...manifest('patches').dependencies }
    const modules = join(folder, 'node_modules')
    const names = readdirSync(modules).flatMap((name) =>
      name.startsWith('@') ? readdirSync(join(modules, name)).map((own) => `${name}/${own}`) : [name],
    )
    expect(names).toContain('forecourt')
    expect(names.filter((name) => name in others && !(name in dependencies) && name !== 'pg')).toEqual([])
    expect(readdirSync(join(modules, 'forecourt', 'node_modules'))).toEqual(bundleDependencies)
  })

  test('has a command that tells how it is used', () => {
    const run = (...args: string[]) => {
      const options = { cwd: folder, encoding: 'utf8', env: { PATH: barePath, HOME: dataDir }, ...user } as const
      const { status, stdout } = spawnSync('npx', ['forecourt', ...args], options)
      return { status, stdout }
    }
    expect(run('--help')).toEqual({ status: 0, stdout: expect.stringMatching(/^Usage: forecourt [\s\S]+\bserve\b/) })
    const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'))
    expect(run('--version')).toEqual({ status: 0, stdout: `${version}\n` })
    expect(run('openapi', '--json').stdout).toBe(readFileSync(join(projectFolder, 'openapi.json'), 'utf8'))
    expect(run('sreve').status).toBe(2)
  })

  test('serves on Bun, with its driver mended, its console, and its SDK for programs on Node', async () => {
    const service = await start()
    await works(service, folder, 'forecourt/sdk')
    // The SDK's own package, installed alone in a folder.
    const consumer = join(place.home, 'consumer')
    install(pack(place.home, '--workspace', 'sdk'), consumer)
    expect(readdirSync(join(consumer, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      'forecourt-sdk',
    ])
    await works(service, consumer, 'forecourt-sdk')
    expect(await service.stop()).toBe(0)
    // The service has ended, so its output is complete.
    expect(service.stderr()).toMatch(/"runtime":"Bun /)
    expect(service.stderr()).not.toContain('patch')
  })

  test('serves on Node where Bun cannot run, or is not wanted', async () => {
    const [bun = ''] = new Bun.Glob('@oven/bun-*/bin/bun').scanSync({
      cwd: join(folder, 'node_modules'),
      absolute: true,
    })
    renameSync(bun, `${bun}.aside`)
    // This program ends like Bun on a processor that lacks the instructions Bun was compiled for.
    writeFileSync(bun, '#!/bin/sh\nkill -ILL $$\n', { mode: 0o755 })
    const service = await start()
    renameSync(`${bun}.aside`, bun)
    await works(service, folder, 'forecourt/sdk')
    expect(await service.stop()).toBe(0)
    // The service has ended, so its output is complete.
    expect(service.stderr()).toMatch(/"runtime":"Node /)
    expect(service.stderr()).not.toContain('patch')
    const unwanted = await start({ env: { FORECOURT_RUNTIME: 'node' } })
    expect(await unwanted.stop()).toBe(0)
    expect(unwanted.stderr()).toMatch(/"runtime":"Node /)
  })

  test.each([
    ['npx is stopped, whose shell passes no signal on', ['npx', 'forecourt'], 'SIGTERM'],
    ['its command is killed', [command], 'SIGKILL'],
  ] as const)(
    'ends in order when %s',
    async (_, started, signal) => {
      const service = await start({ command: started })
      service.process.kill(signal)
      const isGone = () => databaseProcesses(dataDir).length === 0
      expect(await becomesTrue(isGone, 15_000)).toBe(true)
      await expect(fetch(`${service.url}/healthz`)).rejects.toThrow()
    },
    60_000,
  )

  /**
   * Creates a site and a device with the SDK installed in a folder, on Node, and loads the console's page with its
   * files.
   */
  async function works({ url, operatorKey }: InstalledService, folder: string, sdk: string): Promise<void> {
    const { appId: _, ...site } = siteBody('')
    const { appId: __, ...device } = deviceBody('')
    const program = `
      import { Forecourt, type Site, type Device } from '${sdk}'
      const baseUrl = ${JSON.stringify(url)}
      const operator = new Forecourt({ baseUrl, operatorKey: ${JSON.stringify(operatorKey)} })
      const thirdPartyConfig = { operatorName: 'Test operator' }
      const { appId, appSecret } = await operator.createApplication({ appName: 'consumer', thirdPartyConfig })
      const own = new Forecourt({ baseUrl, appId, appSecret: appSecret ?? '' })
      const site: Site = await own.saveSite({ appId, ...${JSON.stringify(site)} })
      const device: Device = await own.createDevice({ appId, ...${JSON.stringify(device)} })
      console.log(JSON.stringify([site.siteName, device.deviceNo]))`
    writeFileSync(join(folder, 'consumer.mts'), program)
    const tsc = join(projectFolder, 'node_modules', '.bin', 'tsc')
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom,dom.iterable']
    const types = spawnSync(tsc, [...options, 'consumer.mts'], { cwd: folder, encoding: 'utf8' })
    expect(types.stdout).toBe('')
    const said = execFileSync('node', ['consumer.mjs'], { cwd: folder, encoding: 'utf8', env: { PATH: barePath } })
    expect(JSON.parse(said)).toEqual([site.siteName, device.deviceNo])

    const page = await (await fetch(`${url}/console`)).text()
    const [, script = ''] = /<script[^>]+src="([^"]+)"/.exec(page) ?? []
    const loaded = await fetch(new URL(script, `${url}/console`))
    expect([loaded.status, loaded.headers.get('content-type')]).toEqual([200, expect.stringMatching('javascript')])
  }
})
