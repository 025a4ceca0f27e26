import { expect } from 'bun:test'
import { Client } from '../kit/client.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import { longTest } from '../kit/scale.ts'
import { waitUntil } from '../kit/waits.ts'

// Long imports, of which two run at once, share their places with the imports and acts of others.

const rows = 150_000
/** The place of a row that the last one repeats; only so many serial numbers are remembered. */
const place = rows - 90_000
const headers = { 'content-type': 'application/x-ndjson' }
const client = new Client(await ownWorkplace().startService({}))

const rowOf = (deviceNo: string, deviceName: string) => {
  const { appId: _, ...row } = deviceBody('', { deviceNo, deviceName })
  return JSON.stringify(row)
}

longTest(
  'an import and an act of others are done before two long imports are, which then go on where they were',
  async () => {
    const owners = await Promise.all(
      [true, false].map(async (dryRun) => ({ dryRun, ...(await newApplication(client)) })),
    )
    const ids: number[] = []
    for (const { token, dryRun } of owners) {
      const first = newSerial('TURN')
      const lines = Array.from({ length: rows }, (_, row) => rowOf(row === place ? first : newSerial('TURN'), 'Gate'))
      const file = [...lines, rowOf(first, 'Other')].join('\n')
      const asked = { kind: 'devices', dryRun: dryRun ? 'true' : 'false', file } as const
      ids.push((await client.call('createImport', asked, { token, headers })).data.id)
    }
    const imported = async (id: number) => (await client.operate('getImport', { id })).data
    await waitUntil(async () => (await Promise.all(ids.map(imported))).every(({ status }) => status === 2))

    const other = await newApplication(client)
    const short = { kind: 'devices', file: rowOf(newSerial('TURN'), 'Gate') }
    const { id } = (await client.call('createImport', short, { token: other.token, headers })).data
    await waitUntil(async () => (await imported(id)).status === 3)
    const act = { appId: other.appId, kind: 'devices', act: 'update', filter: { all: true }, set: { tag: 'x' } }
    const begun = (await client.call('createAct', act, other)).data
    await waitUntil(async () => (await client.operate('getAct', { id: begun.id })).data.status === 3)
    expect((await Promise.all(ids.map(imported))).map(({ status }) => status)).toEqual([2, 2])

    await waitUntil(async () => (await Promise.all(ids.map(imported))).every(({ status }) => status === 3), 120_000)
    for (const id of ids) {
      expect(await imported(id)).toMatchObject({ rows: rows + 1, created: rows, refused: 1 })
      const { text } = await client.operate('getImportResult', { id, outcome: 'refused' })
      expect(text).toContain(`also appears in line ${place + 1} of this file`)
    }
  },
)
