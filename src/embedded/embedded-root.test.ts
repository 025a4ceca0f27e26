import { afterAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { freshHome, refusal, removeHome, startInProcess, stop } from '../../test/embedded-starts.ts'
import { isLong, longTest } from '../../test/kit/scale.ts'
import { findBinaries } from './binaries.ts'
import { type EmbeddedOptions, startEmbeddedDatabase } from './embedded.ts'
import { closedFolder } from './user.ts'

const home = freshHome()
const nobody = { name: 'nobody', uid: 65534, gid: 65534 }
const closedToNobody = [import.meta.dir, dirname(process.execPath)].some((folder) => closedFolder(folder, nobody))

const tool = (name: string, args: string[]) => spawnSync(name, args)

// Slow where deleting is: each cluster is more than a thousand files.
afterAll(() => removeHome(home), 60_000)

describe.skipIf(process.getuid?.() !== 0)('as root', () => {
  const closed = join(home, 'closed')
  const systemFolders = [join(home, 'system')]
  const closedBinaries = async () => {
    const { folder, version } = await findBinaries()
    if (!existsSync(closed)) {
      mkdirSync(closed, { mode: 0o700 })
      copyWithoutLinks(folder, join(closed, 'native'))
    }
    return { folder: join(closed, 'native'), version }
  }
  /** Copies the package as npm leaves it when it runs no install script: without its links. */
  const copyWithoutLinks = (from: string, to: string) =>
    cpSync(from, to, { recursive: true, filter: (path) => !lstatSync(path).isSymbolicLink() })

  test('a folder that only root can enter works: two first starts at once, with one copy of the programs', async () => {
    const options = { binaries: await closedBinaries(), systemFolders }
    const folders = ['one', 'two'].map((name) => join(closed, name))
    const both = await Promise.all(folders.map((folder) => startInProcess(folder, options)))
    for (const { started } of both) expect(await started).toMatchObject({ firstStart: true })
    for (const { child } of both) await stop(child)
    expect(readdirSync(join(home, 'system')).sort()).toEqual(['clusters', `postgresql-${options.binaries.version}`])
    const again = await startEmbeddedDatabase(folders[0] as string, () => {}, options)
    expect(again.firstStart).toBe(false)
    expect(dirname(again.connection.host)).toBe(join(home, 'system', 'clusters'))
    await again.stop()
  })

  longTest(
    'the data folder that a first start makes is passed through by the database, and read by nobody',
    async () => {
      const folder = join(home, 'fresh', 'data')
      const { started, child } = await startInProcess(folder, { systemFolders })
      expect(await started).toMatchObject({ firstStart: true })
      expect(statSync(folder).mode & 0o777).toBe(0o711)
      expect(statSync(join(folder, 'postgres')).mode & 0o777).toBe(0o700)
      expect(spawnSync('ls', [folder], { uid: nobody.uid, gid: nobody.gid }).status).not.toBe(0)
      await stop(child)
    },
  )

  test('a system folder that others can write is not trusted', async () => {
    const trap = join(home, 'trap')
    mkdirSync(trap)
    chmodSync(trap, 0o777)
    const options = { binaries: await closedBinaries(), systemFolders: [trap] }
    expect(await refusal(join(closed, 'three'), options)).toMatch(
      /^UserError: PostgreSQL runs as the user \w+, who can’t access this folder or /,
    )
  })

  test.skipIf(closedToNobody)('everything runs as the ordinary user who starts it', async () => {
    const mine = join(home, 'mine')
    mkdirSync(mine)
    chownSync(mine, nobody.uid, nobody.gid)
    // The programs are incomplete where root may not write, so a complete copy is made of them.
    const installed = join(home, 'installed')
    const { folder, version } = await findBinaries()
    copyWithoutLinks(folder, installed)
    const options = { binaries: { folder: installed, version } }
    const { child, started } = await startInProcess(join(mine, 'data'), options, nobody)
    const { firstStart, pid } = await started
    expect(firstStart).toBe(true)
    expect(readdirSync(join(mine, 'data')).sort()).toEqual(['embedded.json', 'postgres', `postgresql-${version}`])
    expect([statSync(`/proc/${pid}`).uid, statSync(join(mine, 'data', 'postgres')).uid]).toEqual([
      nobody.uid,
      nobody.uid,
    ])
    await stop(child)
    // Root takes the cluster as its owner.
    const asRoot = await startEmbeddedDatabase(join(mine, 'data'))
    expect(statSync(`/proc/${asRoot.pid}`).uid).toBe(nobody.uid)
    await asRoot.stop()
  })

  test.skipIf(closedToNobody || !isLong)('an ordinary user is told what may not be used', async () => {
    const binaries = await closedBinaries()
    const told = async (dataDir: string, options: EmbeddedOptions) =>
      (await (await startInProcess(dataDir, options, nobody)).started).refused
    expect(await told(join(home, 'mine', 'other'), { binaries })).toMatch(
      /^UserError: Forecourt has no permission to use .*\.$/,
    )
    const roots = join(home, 'roots')
    mkdirSync(roots)
    expect(await told(join(roots, 'data'), {})).toBe(`UserError: Forecourt has no permission to use ${roots}/data.`)
  })

  longTest('a full disk is told, at the first start and at a later one', async () => {
    const disk = join(home, 'disk')
    mkdirSync(disk)
    // Without the right to mount there is no small disk to fill.
    if (tool('mount', ['-t', 'tmpfs', '-o', 'size=20m,mode=755', 'tmpfs', disk]).status !== 0) return
    try {
      expect(await refusal(join(disk, 'data'))).toMatch(/^UserError: The disk that holds .* is full\.$/)
      expect(readdirSync(join(disk, 'data'))).toEqual(['embedded.json'])
      tool('mount', ['-o', 'remount,size=120m', disk])
      expect(await refusal(join(disk, 'data'))).toBe('it started')
      tool('dd', ['if=/dev/zero', `of=${join(disk, 'rest')}`, 'bs=64k'])
      expect(await refusal(join(disk, 'data'))).toMatch(/^UserError: The disk that holds .* is full\.$/)
      rmSync(join(disk, 'rest'))
      expect(await refusal(join(disk, 'data'))).toBe('it started')
    } finally {
      tool('umount', ['-l', disk])
    }
  })
})
