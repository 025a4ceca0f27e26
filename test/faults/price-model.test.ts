import { afterAll, beforeAll } from 'bun:test'
import { existsSync } from 'node:fs'
import { Client, newApplication } from '../harness.ts'
import { longTest } from '../long.ts'
import { fakeClock, libfaketime } from './clocks.ts'
import { Uncertain, Walk } from './price-walk.ts'
import { atScale, seed, tell, Workplace } from './support.ts'

// Compares random schedules, updates, cancels, undos and deletions, which two processes handle, one of them with a
// wrong clock, with a simple model of what was, is and will be in force.

const place = new Workplace()
const walks = atScale(4, 16)
const steps = atScale(50, 250)
let clients: Client[]

beforeAll(async () => {
  const env = { DATABASE_URL: (await place.findDatabase()).url() }
  const others = existsSync(libfaketime) ? fakeClock('+1h') : {}
  const services = await Promise.all([env, { ...env, ...others }].map((one) => place.startService({ env: one })))
  clients = services.map((service) => new Client(service))
}, 120_000)
afterAll(() => place.clear(), 60_000)

longTest(
  `${walks} random walks of ${steps} steps each are answered as the model says (FORECOURT_TEST_SEED=${seed})`,
  async () => {
    const counts = new Map<string, number>()
    let uncertain = 0
    await Promise.all(
      Array.from({ length: walks }, async (_, index) => {
        const walk = new Walk(clients, await newApplication(clients[0] as Client), seed + index)
        await walk.run(steps).catch((error) => {
          if (!(error instanceof Uncertain)) throw error
          uncertain++
        })
        for (const [name, count] of walk.counts) counts.set(name, (counts.get(name) ?? 0) + count)
      }),
    )
    tell(`${uncertain} walks ended early; ${[...counts].map(([name, count]) => `${count} × ${name}`).join(', ')}`)
  },
  1_200_000,
)
