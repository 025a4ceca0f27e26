import { afterAll, expect, test } from 'bun:test'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { atScale } from '../../test/kit/scale.ts'
import { lockDataDir } from './instance-lock.ts'

const home = mkdtempSync(join(tmpdir(), 'fc-lock-'))
const rivals: ChildProcess[] = []

afterAll(() => {
  for (const rival of rivals) rival.kill('SIGKILL')
  rmSync(home, { recursive: true, force: true })
})

/** A process that tries to take the lock at the given moment, prints the outcome and stays. */
async function rival(dataDir: string, at: number) {
  const script = `
    import { lockDataDir } from ${JSON.stringify(join(import.meta.dir, 'instance-lock.ts'))}
    while (Date.now() < ${at});
    console.log(await lockDataDir(${JSON.stringify(dataDir)}).then(() => 'held', (fault) => fault.message))
    process.stdin.resume()`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  rivals.push(child)
  const { value } = await createInterface(child.stdout)[Symbol.asyncIterator]().next()
  return { child, said: value as string }
}

test('a data folder that is made is open to nobody but its owner, who as root lets the database pass', async () => {
  const dataDir = join(home, 'fresh')
  const lock = await lockDataDir(dataDir)
  expect(statSync(dataDir).mode & 0o777).toBe(process.getuid?.() === 0 ? 0o711 : 0o700)
  lock.release()
})

test('of many instances that start at once one gets the folder, empty or with the lock of a killed one', async () => {
  const dataDir = join(home, 'race')
  for (let round = 0; round < atScale(2, 4); round++) {
    const at = Date.now() + 400
    const all = await Promise.all(Array.from({ length: 6 }, () => rival(dataDir, at)))
    const holder = all.find(({ said }) => said === 'held')
    const others = all.filter((one) => one !== holder).map(({ said }) => said)
    expect(new Set(others)).toEqual(
      new Set([`Another Forecourt (process ${holder?.child.pid}) already uses the data folder ${dataDir}.`]),
    )
    expect(readdirSync(dataDir)).toEqual(['forecourt.lock'])
    for (const { child } of all) {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    }
  }
})

test('a lock is refused while it is held and free when it was released', async () => {
  const dataDir = join(home, 'one', 'more')
  const first = await lockDataDir(dataDir)
  await expect(lockDataDir(dataDir)).rejects.toThrow(`Another Forecourt (process ${process.pid}) already uses`)
  first.release()
  const second = await lockDataDir(dataDir)
  first.release()
  await expect(lockDataDir(dataDir)).rejects.toThrow('already uses')
  second.release()
  expect(readdirSync(dataDir)).toEqual([])
})

test('a lock whose process number now belongs to another process, or that lost its content, is stale', async () => {
  const dataDir = join(home, 'stale')
  const path = join(dataDir, 'forecourt.lock')
  for (const content of [JSON.stringify({ pid: process.pid, started: 'long ago', nonce: 'abc' }), '']) {
    const earlier = await lockDataDir(dataDir)
    writeFileSync(path, content)
    earlier.release()
    ;(await lockDataDir(dataDir)).release()
  }
  expect(readdirSync(dataDir)).toEqual([])
})

test('a data folder that is a file is refused in one sentence', async () => {
  const dataDir = join(home, 'file')
  writeFileSync(dataDir, '')
  await expect(lockDataDir(dataDir)).rejects.toThrow(`The data folder ${dataDir} is not a folder.`)
  await expect(lockDataDir(join(dataDir, 'below'))).rejects.toThrow(dataDir)
})
