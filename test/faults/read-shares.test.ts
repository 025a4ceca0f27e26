import { afterAll, expect } from 'bun:test'
import { Database } from '../../src/database/database.ts'
import { Reads } from '../../src/database/reads.ts'
import { Company } from '../../src/runtime/company.ts'
import { longTest, tell } from '../kit/scale.ts'
import { sleep } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

// How much of the read connections' time one owner gets while other owners read too. The reads only sleep in the
// database, so other work on the machine changes little.

const place = new Workplace()
afterAll(() => place.clear(), 60_000)

/** After this time an owner that began earlier has no advantage any more. */
const settleMs = 2_500
const measuredMs = 4_000

interface Shared {
  reads: Reads
  company: Company
}

/**
 * Reads repeatedly on `connections` connections, with a pause after each read. Returns the time in reads, as a share of
 * one connection's time.
 */
async function shareOf(
  { reads, company }: Shared,
  name: string,
  { connections = 1, seconds = 0.1, pauseMs = 0 },
): Promise<number> {
  const { signal } = new AbortController()
  const beginAt = performance.now() + settleMs
  const endAt = beginAt + measuredMs
  let heldMs = 0
  const readOn = async () => {
    while (performance.now() < endAt) {
      company.note(name)
      await reads.run(name, signal, async (sql) => {
        const from = Math.max(performance.now(), beginAt)
        await sql`select pg_sleep(${seconds})`
        heldMs += Math.max(0, Math.min(performance.now(), endAt) - from)
      })
      // A pause in which others read.
      await sleep(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: connections }, readOn))
  return heldMs / measuredMs
}

longTest('beside others, reads without an end have the same share over one connection as over several', async () => {
  const own = await place.findDatabase()
  const database = new Database(own.url(), 20_000)
  const shared = (company: Company): Shared => ({ company, reads: new Reads(database, company) })
  const [alone, beside] = [shared(new Company()), shared(new Company())]
  try {
    const [all, one, paused, several, short] = await Promise.all([
      shareOf(alone, 'alone', {}),
      shareOf(beside, 'one', {}),
      shareOf(beside, 'paused', { pauseMs: 5 }),
      shareOf(beside, 'several', { connections: 3 }),
      shareOf(beside, 'short', { seconds: 0.003, pauseMs: 1 }),
    ])
    const shares = { all, one, paused, several, short }
    tell(
      Object.entries(shares)
        .map(([name, share]) => `${name}: ${share.toFixed(2)}`)
        .join(', '),
    )
    expect(all).toBeGreaterThan(0.8)
    for (const share of [one, paused, several]) {
      expect(share).toBeLessThan(0.45)
      expect(share).toBeGreaterThan(0.1)
    }
    // Short reads, one after the other, keep most of their rate.
    expect(short).toBeGreaterThan(0.4)
  } finally {
    await database.close()
    await own.stop()
  }
})
