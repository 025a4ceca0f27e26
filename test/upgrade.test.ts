import { afterAll, describe, expect, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDevice } from '../src/devices/contract.ts'
import { saveSite } from '../src/sites/contract.ts'
import { Client } from './kit/client.ts'
import type { OwnDatabase } from './kit/database.ts'
import { type InstalledService, install, pack, startInstalled } from './kit/installed.ts'
import { RawConnection, rawPost } from './kit/raw-connection.ts'
import { deviceBody, newApplication, siteBody, type TestApplication } from './kit/records.ts'
import { tell } from './kit/scale.ts'
import { becomesTrue } from './kit/waits.ts'
import { Workplace } from './kit/workplace.ts'

// Two versions of the program on one database under load, as in an upgrade. FORECOURT_TEST_OLD and FORECOURT_TEST_NEW
// name their tarballs. Without them, the old version is this checkout, and the new version is this checkout with
// another version number, one more migration and other SQL routines. Only in the long run, because it installs two
// packages.

const clients = 16

describe.skipIf(process.env.FORECOURT_TEST_LONG === undefined)('an upgrade under load', () => {
  const place = new Workplace()
  afterAll(() => place.clear(), 60_000)

  test('old and new side by side, then the new one alone: no client sees an error', async () => {
    const old = process.env.FORECOURT_TEST_OLD ?? pack(place.home)
    const next = process.env.FORECOURT_TEST_NEW ?? nextVersionOf(old)
    const folders = [old, next].map((tarball, index) => ({ tarball, folder: join(place.home, `v${index + 1}`) }))
    for (const { tarball, folder } of folders) if (!install(tarball, folder)) return
    const [oldFolder = '', newFolder = ''] = folders.map(({ folder }) => folder)
    const database = await place.startDatabase()

    const first = await start(oldFolder, database)
    const app = await newApplication(new Client(first))
    const load = new Load(app, first)
    expect(await load.serves(first)).toBe(true)
    const second = await start(newFolder, database)
    load.balance(first, second)
    expect(await load.serves(first, second)).toBe(true)
    load.balance(second)
    const whenStopped = load.count(first)
    expect(await first.stop()).toBe(0)
    expect(await load.serves(second)).toBe(true)
    await load.stop()
    expect(await second.stop()).toBe(0)

    tell(
      `${whenStopped} and ${load.count(second)} creates by the old and the new version, ${load.errors.length} errors`,
    )
    expect(load.errors).toEqual([])
    const [kept] = await database.run(
      (sql) => sql`
        select (select count(*)::int from device where app_id = ${app.appId}) as devices,
          (select count(*)::int from site where app_id = ${app.appId}) as sites,
          (select count(*)::int from event where app_id = ${app.appId} and type in ('device.bound', 'site.created')) as events`,
    )
    const { devices, sites } = load
    expect(kept).toEqual({ devices, sites, events: devices + sites })
  }, 600_000)

  const start = (folder: string, database: OwnDatabase) =>
    startInstalled(folder, {
      dataDir: place.newFolder(),
      command: [join(folder, 'node_modules', '.bin', 'forecourt')],
      env: { DATABASE_URL: database.url() },
    })

  function nextVersionOf(tarball: string): string {
    const folder = join(place.home, 'next')
    mkdirSync(folder)
    execFileSync('tar', ['xzf', tarball, '-C', folder])
    const change = (name: string, from: string | RegExp, to: string) => {
      const path = join(folder, 'package', name)
      const text = readFileSync(path, 'utf8')
      expect(text).toMatch(from)
      writeFileSync(path, text.replace(from, to))
    }
    change('package.json', /"version": "[^"]+"/, '"version": "9999.0.0"')
    const routines = 'database/routine'
    for (const name of [`src/${routines}.ts`, `dist/${routines}.js`]) {
      change(name, '#variable_conflict use_column\n', '#variable_conflict use_column\n-- the next version\n')
    }
    const migrations = join(folder, 'package', 'migrations')
    const number = String(readdirSync(migrations).filter((file) => /^\d{4}-/.test(file)).length + 1).padStart(4, '0')
    writeFileSync(join(migrations, `${number}-next.sql`), 'create table next (id integer primary key);\n')
    const made = join(place.home, 'forecourt-9999.0.0.tgz')
    execFileSync('tar', ['czf', made, '-C', folder, 'package'])
    return made
  }
})

/**
 * Clients that create records without pause. Each uses one connection until the service closes it, then opens another.
 */
class Load {
  readonly errors: string[] = []
  devices = 0
  sites = 0
  private inUse: InstalledService[]
  private readonly answered = new Map<InstalledService, number>()
  private running = true
  private readonly all: Promise<unknown>

  constructor(app: TestApplication, ...services: InstalledService[]) {
    this.inUse = services
    this.all = Promise.all(Array.from({ length: clients }, (_, index) => this.work(app, index)))
  }

  balance(...services: InstalledService[]): void {
    this.inUse = services
  }

  count(service: InstalledService): number {
    return this.answered.get(service) ?? 0
  }

  /** Whether each of these services responds to more than 500 further requests. */
  async serves(...services: InstalledService[]): Promise<boolean> {
    const before = services.map((service) => this.count(service))
    return becomesTrue(() => services.every((service, index) => this.count(service) > (before[index] ?? 0) + 500))
  }

  async stop(): Promise<void> {
    this.running = false
    await this.all
  }

  private async work(app: TestApplication, index: number): Promise<void> {
    for (let turn = index; this.running; turn++) {
      const service = this.inUse[turn % this.inUse.length] as InstalledService
      const connection = await RawConnection.open(service.url)
      if (connection === undefined) this.errors.push('a connection was refused')
      else await this.use(connection, service, app)
      connection?.close()
    }
  }

  private async use(connection: RawConnection, service: InstalledService, app: TestApplication): Promise<void> {
    // Each connection is used for 50 requests, so that both services are used, whichever accepted the first
    // connections.
    for (let left = 50; left > 0 && this.running; left--) {
      const isSite = left % 5 === 0
      const [path, body] = isSite ? [saveSite.path, siteBody(app.appId)] : [createDevice.path, deviceBody(app.appId)]
      connection.send(rawPost(path, app.token, body).join(''))
      try {
        const { status, closes, body: text } = await connection.answer()
        if (status === 200) this[isSite ? 'sites' : 'devices']++
        else this.errors.push(`${status} ${text}`)
        this.answered.set(service, this.count(service) + 1)
        if (closes) return
      } catch (error) {
        this.errors.push((error as Error).message)
        return
      }
    }
  }
}
