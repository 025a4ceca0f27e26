import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { forecourt } from '../cli/support.ts'
import { compareKept, keepRelease, keptBackup } from '../kept-release.ts'
import { Client } from '../kit/client.ts'
import { projectFolder } from '../kit/folders.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { BackupBed, expectDone } from './backup-bed.ts'

// A database of each release works with this version. `scripts/keep-release.ts` makes test/releases/VERSION.

const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8'))
const bed = new BackupBed()
const releases = join(projectFolder, 'test', 'releases')
const ofThisVersion = join(bed.place.home, 'this version')

beforeAll(async () => {
  mkdirSync(ofThisVersion)
  await keepRelease(await bed.place.startService(), ofThisVersion, version)
}, 120_000)
afterAll(() => bed.clear(), 120_000)

const released = existsSync(releases) ? readdirSync(releases).map((version) => join(releases, version)) : []

test.each([ofThisVersion, ...released])('%s restores, and tells what it told', async (folder) => {
  const { env } = await bed.newDatabase()
  expectDone(await forecourt(['restore', keptBackup(folder)], env))
  // Nothing of it is too old to be kept.
  const service = await bed.place.startService({
    env: { ...env, FORECOURT_EVENT_DAYS: '3650', FORECOURT_STATE_DAYS: '3650' },
  })
  const { told, tells } = await compareKept(folder, service)
  // A later version may tell more.
  expect(tells).toMatchObject(told as object)
  const client = new Client(service)
  const app = await newApplication(client)
  expect((await client.operate('createDevice', deviceBody(app.appId, { deviceNo: 'KEPT-1' }))).code).toBe(20013)
  expect((await client.operate('createDevice', deviceBody(app.appId, { deviceNo: 'KEPT-3' }))).code).toBe(0)
})
