import { expect } from 'bun:test'
import { limits } from '../../src/vocabulary/limits.ts'
import { Client } from '../kit/client.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { longTest } from '../kit/scale.ts'
import { waitUntil } from '../kit/waits.ts'

// Two long imports run at once, and leave places to short imports and bulk actions of others.

const rows = 3 * limits.shortJobRows
const headers = { 'content-type': 'application/x-ndjson' }
const client = new Client(await ownWorkplace().startService({}))

const newRow = () => {
  const { appId: _, ...row } = deviceBody('')
  return JSON.stringify(row)
}

longTest('a short import and a bulk action of others are done before two long imports are', async () => {
  const owners = await Promise.all([true, false].map(async (dryRun) => ({ dryRun, ...(await newApplication(client)) })))
  const ids: number[] = []
  for (const { token, dryRun } of owners) {
    const file = Array.from({ length: rows }, newRow).join('\n')
    const asked = { kind: 'devices', dryRun: dryRun ? 'true' : 'false', file } as const
    ids.push((await client.call('createImport', asked, { token, headers })).data.id)
  }
  const imported = async (id: number) => (await client.operate('getImport', { id })).data
  await waitUntil(async () => (await Promise.all(ids.map(imported))).every(({ status }) => status === 2))

  const other = await newApplication(client)
  const short = { kind: 'devices', file: newRow() }
  const { id } = (await client.call('createImport', short, { token: other.token, headers })).data
  await waitUntil(async () => (await imported(id)).status === 3)
  const act = { appId: other.appId, kind: 'devices', act: 'update', filter: { all: true }, set: { tag: 'x' } }
  const begun = (await client.call('createAct', act, other)).data
  await waitUntil(async () => (await client.operate('getAct', { id: begun.id })).data.status === 3)
  expect((await Promise.all(ids.map(imported))).map(({ status }) => status)).toEqual([2, 2])

  await waitUntil(async () => (await Promise.all(ids.map(imported))).every(({ status }) => status === 3), 120_000)
  for (const id of ids) expect(await imported(id)).toMatchObject({ rows, created: rows })
})
