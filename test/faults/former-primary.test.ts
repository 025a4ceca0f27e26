import { afterAll, expect, test } from 'bun:test'
import { Client } from '../kit/client.ts'
import { hasOldestPostgres } from '../kit/database.ts'
import { deviceBody, newApplication } from '../kit/records.ts'
import { type Host, startPair } from '../kit/replicated.ts'
import { isLong } from '../kit/scale.ts'
import { becomesTrue, sleep } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

// A former primary that still runs, and a service process that only reads.

const place = new Workplace()
const hosts: Host[] = []
afterAll(async () => {
  for (const host of hosts) host.signalAll('SIGKILL')
  await place.clear()
}, 60_000)

/** docs/high-availability.md promises a second; the limit is longer, because the machine may be busy. */
const oldReadsEndWithinMs = 3_000
const readingMs = 1_200

test.skipIf(!isLong || !hasOldestPostgres)(
  'no process believes a former primary that woke up, was asked late, or was never told',
  async () => {
    let { primary, standby } = await startPair(place.newFolder())
    hosts.push(primary, standby)
    const url = `postgres://forecourt@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`
    const env = { DATABASE_URL: url }
    const [reading, writing] = await Promise.all([place.startService({ env }), place.startService({ env })])
    const [reader, writer] = [new Client(reading), new Client(writing)]
    const { appId, token } = await newApplication(writer)
    const rounds: Record<string, Round> = {
      'the former primary stood still': {
        before: (former) => former.signalAll('SIGSTOP'),
        after: (former) => former.signalAll('SIGCONT'),
        oldReadsForMs: 0,
      },
      'the process stood still': {
        before: () => reading.process.kill('SIGSTOP'),
        after: () => reading.process.kill('SIGCONT'),
        oldReadsForMs: 0,
      },
      'nothing stood still': { before: () => {}, after: () => {}, oldReadsForMs: oldReadsEndWithinMs },
    }
    for (const [name, { before, after, oldReadsForMs }] of Object.entries(rounds)) {
      const body = deviceBody(appId)
      const { deviceNo } = body
      expect((await writer.call('createDevice', body, { token })).code).toBe(0)
      const read = () => reader.call('getDevice', { deviceNo }, { token })
      // Opens the connections that are used afterwards.
      await Promise.all(Array.from({ length: 8 }, async () => expect((await read()).code).toBe(0)))
      before(primary)
      const beganAt = performance.now()
      await standby.promote()
      const unbind = () => writer.call('unbindDevice', { deviceNo }, { token })
      expect(await becomesTrue(async () => [0, 20002].includes((await unbind()).code)), name).toBe(true)
      const unboundAt = performance.now()
      // By then the reader may return nothing old any more.
      if (oldReadsForMs === 0) await sleep(Math.max(0, 1_200 - (unboundAt - beganAt)))
      after(primary)
      const wakeAt = performance.now()
      let [old, last] = [0, 0]
      while (performance.now() - wakeAt < readingMs) {
        const sentAt = performance.now()
        const answers = await Promise.all(Array.from({ length: 4 }, read))
        for (const { code, text } of answers) {
          expect([0, 20002, 50003], text).toContain(code)
          if (code === 0) [old, last] = [old + 1, sentAt - unboundAt]
        }
      }
      expect(last, name).toBeLessThanOrEqual(oldReadsForMs)
      expect(await becomesTrue(async () => (await read()).code === 20002, oldReadsEndWithinMs), name).toBe(true)
      const former = primary
      await former.kill()
      ;[primary, standby] = [standby, former]
      standby.follow(primary)
      await standby.start()
      await primary.waitFor(standby)
    }
    expect(await Promise.all([reading.stop(), writing.stop()])).toEqual([0, 0])
  },
)

interface Round {
  before(former: Host): void
  after(former: Host): void
  /** For how long reads that began after the response to the unbinding may still return the earlier state. */
  oldReadsForMs: number
}
