import { expect, test } from 'bun:test'
import { Client } from '../kit/client.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication, siteBody, type TestApplication } from '../kit/records.ts'
import { atScale } from '../kit/scale.ts'
import { waitUntil } from '../kit/waits.ts'

// Imports into a database without statistics, with autovacuum off.

const place = ownWorkplace()

const database = await place.startDatabase()
await database.run(async (sql) => {
  await sql`alter system set autovacuum = off`
  await sql`select pg_reload_conf()`
})
const client = new Client(await place.startService({ env: { DATABASE_URL: database.url() } }))

const count = atScale(6_000, 60_000)

/** Imports rows in two files, one after the other. Returns the rows per second of each file. */
async function rates({ token }: TestApplication, kind: 'sites' | 'devices', rowOf: (row: number) => object) {
  const rates: number[] = []
  for (const half of [0, 1]) {
    const rows = Array.from({ length: count / 2 }, (_, row) => JSON.stringify(rowOf(half * count + row)))
    const headers = { 'content-type': 'application/x-ndjson' }
    const began = performance.now()
    const { id } = (await client.call('createImport', { kind, file: rows.join('\n') }, { token, headers })).data
    const isDone = async () => (await client.call('getImport', { id }, { token })).data.status > 2
    await waitUntil(isDone, 300_000)
    expect((await client.call('getImport', { id }, { token })).data).toMatchObject({ created: rows.length, refused: 0 })
    rates.push(rows.length / ((performance.now() - began) / 1000))
  }
  return rates as [number, number]
}

const site = { ...siteBody(''), coordinates: null }
// A column that queries rarely use is the harder case.
test.each<[string, 'sites' | 'devices', (row: number) => object]>([
  ['sites that differ in their names alone', 'sites', (row) => ({ ...site, siteName: `Site ${row}` })],
  ['sites that differ in a person alone', 'sites', (row) => ({ ...site, contacts: `Person ${row}` })],
  ['devices', 'devices', (row) => deviceBody('', { deviceNo: `STAT-${row}` })],
])(
  'the second half of many %s is imported as quickly as the first',
  async (_, kind, rowOf) => {
    const [first, second] = await rates(await newApplication(client), kind, rowOf)
    // If the time were quadratic, the second half would have a third of the first half's rate.
    expect(second).toBeGreaterThan(first / 2)
  },
  600_000,
)
