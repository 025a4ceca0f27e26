import { expect, test } from 'bun:test'
import { Client } from '../kit/client.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { deviceBody, newApplication, siteBody } from '../kit/records.ts'
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

const site = { ...siteBody(''), coordinates: null }
const kinds: [what: string, kind: 'sites' | 'devices', row: (row: number) => object][] = [
  // A column that queries rarely use is the harder case.
  ['sites that differ in a person alone', 'sites', (row) => ({ ...site, contacts: `Person ${row}` })],
  ['sites that differ in their names alone', 'sites', (row) => ({ ...site, siteName: `Site ${row}` })],
  ['devices', 'devices', (row) => deviceBody('', { deviceNo: `STAT-${row}` })],
]
test.each(kinds.slice(0, atScale(1, 3)))(
  'the second half of many %s is imported as quickly as the first',
  async (_, kind, rowOf) => {
    const { token } = await newApplication(client)
    const tookMs: number[] = []
    for (const half of [0, 1]) {
      const rows = Array.from({ length: count / 2 }, (_, row) => JSON.stringify(rowOf(half * count + row)))
      const headers = { 'content-type': 'application/x-ndjson' }
      const began = performance.now()
      const { id } = (await client.call('createImport', { kind, file: rows.join('\n') }, { token, headers })).data
      const told = async () => (await client.call('getImport', { id }, { token })).data
      await waitUntil(async () => (await told()).status > 2, 300_000)
      tookMs.push(performance.now() - began)
      expect(await told()).toMatchObject({ created: rows.length, refused: 0 })
    }
    // If the time were quadratic, the second half would take three times as long.
    expect(tookMs[1]).toBeLessThan(2 * (tookMs[0] ?? 0))
  },
  600_000,
)
