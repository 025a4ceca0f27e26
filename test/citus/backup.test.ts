import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { BackupReader, RowSum, verifyBackup } from '../../src/backup/format.ts'
import { forecourt } from '../cli/support.ts'
import { expectServes, inconsistencies } from '../faults/restored.ts'
import { type Create, contradictions, Writers } from '../faults/writers.ts'
import { Client } from '../kit/client.ts'
import { type OwnDatabase, withSql } from '../kit/database.ts'
import { newApplication } from '../kit/records.ts'
import { atScale, seed, tell } from '../kit/scale.ts'
import { becomesTrue } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'
import { Cluster, coordinatorUrl } from './cluster.ts'

// Backups of a distributed database, and restores into a distributed database.

const onCluster = test.if(coordinatorUrl !== undefined)
const place = new Workplace()
const rounds = atScale(3, 20)
const said = `seed ${seed}`
let cluster: Cluster | undefined
let plain: OwnDatabase
let databases = 0
let atWork: Writers[] = []

beforeAll(async () => {
  if (coordinatorUrl === undefined) return
  cluster = await Cluster.find()
  plain = await place.startDatabase()
}, 120_000)
afterEach(() => {
  for (const writers of atWork.splice(0)) writers.abandon()
})
afterAll(async () => {
  await place.clear()
  await cluster?.clear()
}, 120_000)

const settingsOf = (url: string) => ({ DATABASE_URL: url, FORECOURT_DATA_DIR: place.newFolder() })

async function newPlain() {
  const name = `restored_${++databases}`
  await plain.run((sql) => sql.unsafe(`create database ${name} template template1`))
  return { env: settingsOf(plain.url(name)), connection: { ...plain.connection, database: name } }
}

async function run(args: string[], env: Record<string, string>): Promise<void> {
  const { code, stderr } = await forecourt(args, env)
  expect([code, stderr]).toEqual([0, ''])
}

/** The rows of each table in a backup, in any order, except tables that a restore changes. */
async function sumsIn(path: string): Promise<Map<string, RowSum>> {
  const changed = ['callback_pause', 'device_catalogue', 'third_party_config']
  const file = await open(path)
  const verified = await verifyBackup(file, () => {})
  const reader = new BackupReader(file, verified, () => {})
  const sums = new Map<string, RowSum>()
  for (const { name } of verified.head.tables) {
    const sum = new RowSum()
    for await (const text of reader.nextTable()) sum.add(text)
    if (!changed.includes(name)) sums.set(name, sum)
  }
  await file.close()
  return sums
}

onCluster(
  `under load, ${rounds} times: all that was acknowledged before a backup is in it, consistent over all nodes`,
  async () => {
    const source = (await cluster?.newDistributed()) ?? ''
    const service = await place.startService({ env: { DATABASE_URL: source } })
    const client = new Client(service)
    const apps = [await newApplication(client), await newApplication(client)]
    atWork = apps.map((app) => new Writers(app, service))
    const file = join(place.home, 'backup')
    let before: Create[][] = []
    for (let round = 0; round < rounds; round++) {
      const had = atWork.map(({ settled }) => settled.length)
      const isBusy = () => atWork.every(({ settled }, index) => settled.length > (had[index] ?? 0) + 50)
      expect(await becomesTrue(isBusy)).toBe(true)
      before = atWork.map(({ settled }) => [...settled])
      await run(['backup', file], settingsOf(source))
      const after = atWork.reduce((sum, { settled }) => sum + settled.length, 0)
      const { env, connection } = await newPlain()
      await run(['restore', file], env)
      await withSql(connection, async (sql) => {
        expect(await inconsistencies(sql), said).toEqual([])
        for (const [index, { appId }] of apps.entries()) {
          expect(await contradictions(sql, appId, before[index] ?? []), said).toEqual([])
        }
      })
      const sum = before.flat().length
      tell(`backup ${round + 1}: ${sum} acknowledged before it, ${after - sum} while it ran`)
    }
    for (const writers of atWork) await writers.finish()
    expect(atWork.flatMap(({ wrong }) => wrong)).toEqual([])
    await service.stop()

    // Restored into a distributed database, the backup must give the same rows, and a service must run on it.
    const target = (await cluster?.newDistributed()) ?? ''
    await run(['restore', file], settingsOf(target))
    const again = join(place.home, 'again')
    await run(['backup', again], settingsOf(target))
    expect(await sumsIn(again)).toEqual(await sumsIn(file))
    await expectServes(
      await place.startService({ env: { DATABASE_URL: target } }),
      apps[0] as (typeof apps)[0] & {},
      before[0] ?? [],
    )
  },
  600_000,
)
