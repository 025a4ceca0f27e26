import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { OwnDatabase } from '../kit/database.ts'
import { isLong } from '../kit/scale.ts'
import { Workplace } from '../kit/workplace.ts'
import { driverWithout, patchHunks } from './variants.ts'

// Every hunk of the patch for the database driver has a scenario that fails with a driver without that hunk.

/** The scenarios, each with the numbers of the hunks that it tests. */
const scenarios = [
  { scenario: 'a connection shows what it waits for, and a cut fails its query', numbers: [1, 12] },
  { scenario: 'without prepared statements, nothing is sent behind a query', numbers: [2] },
  { scenario: 'a query on a reserved connection that is gone fails, and the process lives on', numbers: [3] },
  { scenario: 'the certificate is verified for the address that was given', numbers: [4] },
  { scenario: 'a reply waits while there is doubt, and is never read when the server is not believed', numbers: [5] },
  { scenario: 'the end of a COPY that the server refuses fails the copy', numbers: [6] },
  { scenario: 'nothing of a reply that was cut off is left for the next query', numbers: [7] },
  { scenario: 'a query that is sent between a reset and its close fails', numbers: [8] },
  { scenario: 'a reply that says read-only ends the connection', numbers: [9, 10] },
  { scenario: 'a query that fails behind some of its rows leaves the next one whole', numbers: [11] },
  { scenario: 'queries that wait in a transaction fail when its connection ends', numbers: [13] },
  { scenario: 'a transaction that lost its connection writes nothing on the next one', numbers: [14] },
]

/** Bun verifies a server's address without the patch. */
const isNeeded = (hunk: number, runtime: string) => hunk !== 4 || runtime === 'node'

/** The scenario with TLS creates its certificate with openssl. */
const hasOpenssl = spawnSync('openssl', ['version']).status === 0
const runnable = scenarios.filter(({ numbers }) => hasOpenssl || !numbers.includes(4))

const hunks = patchHunks()
const place = new Workplace()
let database: OwnDatabase

beforeAll(async () => {
  database = await place.startDatabase()
}, 60_000)

afterAll(async () => {
  await database.stop()
  await place.clear()
}, 60_000)

function run(runtime: string, scenario: string, without: readonly number[]) {
  const folder = join(place.home, `driver-without-${without.join('-')}`)
  const driver = driverWithout(
    hunks.filter(({ number }) => without.includes(number)),
    folder,
  )
  const { status, stderr } = spawnSync(runtime, [join(import.meta.dirname, 'scenarios.mjs'), scenario, driver], {
    encoding: 'utf8',
    env: { ...process.env, DRIVER_TEST_SERVER: JSON.stringify(database.connection) },
    timeout: 20_000,
  })
  return { passed: status === 0, stderr }
}

test('every hunk has its scenario', () => {
  const named = scenarios.flatMap(({ numbers }) => numbers).sort((one, other) => one - other)
  expect(named).toEqual(hunks.map(({ number }) => number))
})

describe.each(isLong ? ['bun', 'node'] : ['bun'])('on %s', (name) => {
  const runtime = name === 'bun' ? process.execPath : 'node'

  test.each(runnable)('$scenario', ({ scenario, numbers }) => {
    expect(run(runtime, scenario, [])).toEqual({ passed: true, stderr: '' })
    // Whether a scenario fails without its hunk depends only on the patch, so only the long run checks it.
    for (const number of isLong ? numbers : []) {
      expect([number, run(runtime, scenario, [number]).passed]).toEqual([number, !isNeeded(number, name)])
    }
  })
})
