import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { forceUnbindDevice, transferDevice, unbindDevice } from '../../src/devices/ownership/contract.ts'
import { removePlacement, savePlacement, savePlacements } from '../../src/devices/placement/contract.ts'
import { deleteSite, saveSite } from '../../src/sites/contract.ts'
import {
  type Answer,
  Client,
  deviceBody,
  newApplication,
  newSerial,
  siteBody,
  type TestApplication,
} from '../harness.ts'
import { longTest } from '../long.ts'
import { placementFaults } from './placement-story.ts'
import { anyMoment, atScale, becomesTrue, type OwnDatabase, randomNumbers, seed, tell, Workplace } from './support.ts'

const place = new Workplace()
const random = randomNumbers(seed)
const said = `seed ${seed}`
const rounds = atScale(100, 2_000)
/** Rounds under way at once. */
const sideBySide = 10

let database: OwnDatabase
let clients: Client[]
let app: TestApplication
let other: TestApplication

beforeAll(async () => {
  database = await place.findDatabase()
  const env = { DATABASE_URL: database.url() }
  clients = await Promise.all([1, 2].map(async () => new Client(await place.startService({ env }))))
}, 120_000)
afterAll(() => place.clear(), 60_000)

beforeEach(async () => {
  app = await newApplication(each())
  other = await newApplication(each())
}, 60_000)

/** One of the processes. */
const each = () => clients[Math.floor(random() * clients.length)] as Client

async function done<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  const { code, text, data } = await answer
  if (code !== 0) throw new Error(text)
  return data
}

const newDevice = async () => (await done(each().call(createDevice, deviceBody(app.appId), app))).deviceNo
const newSite = async () => (await done(each().call(saveSite, siteBody(app.appId), app))).id
const put = (deviceNo: string, siteId: number, laneType = 1) =>
  each().call(savePlacement, { deviceNo, siteId, laneType }, app)
const takeAway = (deviceNo: string) => each().call(removePlacement, { deviceNo }, app)
const unbind = (deviceNo: string) => each().call(unbindDevice, { deviceNo }, app)
const transfer = (deviceNo: string) =>
  each().operate(transferDevice, { deviceNo, targetAppId: other.appId, reason: 'race' })

/** Sends requests in a random order, each after a random moment of at most some milliseconds. */
async function race(...requests: (() => Promise<Answer<unknown>>)[]): Promise<Answer<unknown>[]> {
  return Promise.all(
    requests.map(async (send) => {
      await anyMoment(random, 4)
      return send()
    }),
  )
}

/** How often each outcome occurred, by the codes of the responses of a round. */
async function run(
  name: string,
  round: () => Promise<Answer<unknown>[]>,
  allowed: readonly number[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const wrong: string[] = []
  let left = rounds
  await Promise.all(
    Array.from({ length: sideBySide }, async () => {
      while (left-- > 0) {
        const answers = await round()
        // A busy machine may refuse a request for having waited too long.
        const expected = [0, 50003, ...allowed]
        wrong.push(...answers.filter(({ code }) => !expected.includes(code)).map(({ text }) => text))
        const outcome = answers.map(({ code }) => code).join(' ')
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
      }
    }),
  )
  expect(wrong, `${said}: ${name}`).toEqual([])
  expect(await database.run((sql) => placementFaults(sql)), `${said}: ${name}`).toEqual([])
  tell(`${name}: ${rounds} rounds, ${[...counts].map(([outcome, count]) => `${count} × ${outcome}`).join(', ')}`)
  return counts
}

const minutes = (count: number) => count * 60_000

longTest(
  'placing against unbinding: no placement of an unbound device lasts',
  async () => {
    const site = await newSite()
    const counts = await run('place, unbind', async () => {
      const deviceNo = await newDevice()
      return race(
        () => put(deviceNo, site),
        () => unbind(deviceNo),
      )
    }, [20002])
    // Each came first now and then.
    expect(counts.size, said).toBeGreaterThan(1)
  },
  minutes(10),
)

longTest(
  'placing against a forced unbinding and a new owner: the next holder has no placement',
  async () => {
    const site = await newSite()
    await run('place, forceUnbind, create by another', async () => {
      const deviceNo = await newDevice()
      return race(
        () => put(deviceNo, site),
        () => each().operate(forceUnbindDevice, { deviceNo, reason: 'race' }),
        () => each().call(createDevice, deviceBody(other.appId, { deviceNo }), other),
        () => put(deviceNo, site, 2),
      )
    }, [20002, 20013])
  },
  minutes(10),
)

longTest(
  'placing against a transfer: no placement lasts at the former owner’s site',
  async () => {
    const site = await newSite()
    await run('place, transfer, place again', async () => {
      const deviceNo = await newDevice()
      await done(put(deviceNo, site))
      return race(
        () => put(deviceNo, site, 2),
        () => transfer(deviceNo),
        () => takeAway(deviceNo),
      )
    }, [20002, 20030])
  },
  minutes(10),
)

longTest(
  'placing against the deletion: no placement lasts Has a site that is not set',
  async () => {
    const counts = await run('place, place by batch, delete the site', async () => {
      const site = await newSite()
      const [one, two] = [await newDevice(), await newDevice()]
      return race(
        () => put(one, site),
        () => each().call(savePlacements, { placements: [{ deviceNo: two, siteId: site, laneType: 1 }] }, app),
        () => each().call(deleteSite, { id: site }, app),
      )
    }, [30002])
    expect(counts.size, said).toBeGreaterThan(1)
  },
  minutes(10),
)

longTest(
  'placing against placing and removing: a device stands at one site at most, and its times do not overlap',
  async () => {
    const sites = [await newSite(), await newSite(), await newSite()] as const
    await run('place at three sites, remove', async () => {
      const deviceNo = await newDevice()
      return race(
        () => put(deviceNo, sites[0]),
        () => put(deviceNo, sites[1]),
        () => takeAway(deviceNo),
        () => put(deviceNo, sites[2]),
        () => put(deviceNo, sites[0], 2),
      )
    }, [20030])
  },
  minutes(10),
)

test(
  'everything at once about few serials and sites tells one story',
  async () => {
    const sites = [await newSite(), await newSite()]
    const serials = await Promise.all(Array.from({ length: 4 }, newDevice))
    const anyOf = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item
    const acts = [
      () => put(anyOf(serials), anyOf(sites), 1 + Math.floor(random() * 4)),
      () => put(anyOf(serials), anyOf(sites), 1 + Math.floor(random() * 4)),
      () => takeAway(anyOf(serials)),
      () => unbind(anyOf(serials)),
      () => transfer(anyOf(serials)),
      () => each().operate(forceUnbindDevice, { deviceNo: anyOf(serials), reason: 'race' }),
      () => each().call(createDevice, deviceBody(app.appId, { deviceNo: anyOf(serials) }), app),
      async () => {
        const at = Math.floor(random() * sites.length)
        const answer = await each().call(deleteSite, { id: sites[at] }, app)
        sites[at] = await newSite()
        return answer
      },
    ]
    await run('everything', () => race(anyOf(acts), anyOf(acts), anyOf(acts)), [20002, 20013, 20017, 20030, 30002])
  },
  minutes(10),
)

test(
  'what a process that is killed has answered is there whole, and what it has not is there whole or Don’t keep it',
  async () => {
    const site = await newSite()
    const serials = await Promise.all(Array.from({ length: 40 }, newDevice))
    const env = { DATABASE_URL: database.url() }
    for (let kill = 0; kill < atScale(2, 20); kill++) {
      const doomed = await place.startService({ env })
      const client = new Client(doomed)
      /** By serial: the lane of the last response (0 for none), and the lane that was asked for without a response. */
      const told = new Map<string, { answered: number | undefined; asked: number }>()
      const writers = serials.map(async (deviceNo, index) => {
        for (let turn = 0; ; turn++) {
          const asked = turn % 3 === 2 ? 0 : 1 + ((turn + index) % 4)
          told.set(deviceNo, { answered: told.get(deviceNo)?.answered, asked })
          const sent =
            asked === 0
              ? client.call(removePlacement, { deviceNo }, app)
              : client.call(savePlacement, { deviceNo, siteId: site, laneType: asked }, app)
          const answer = await sent.catch(() => undefined)
          if (answer === undefined) return
          if (answer.code === 0) told.set(deviceNo, { answered: asked, asked })
        }
      })
      expect(await becomesTrue(() => [...told.values()].some(({ answered }) => answered !== undefined))).toBe(true)
      await anyMoment(random, 500)
      await doomed.kill('SIGKILL')
      await Promise.all(writers)
      const rows = await database.run(
        (sql) => sql`select device_no, lane_type from placement where app_id = ${app.appId} and lasts`,
      )
      const lanes = new Map(rows.map((row) => [row.device_no, row.lane_type]))
      const lost = [...told].filter(([deviceNo, { answered, asked }]) => {
        const lane = lanes.get(deviceNo) ?? 0
        return answered !== undefined && lane !== answered && lane !== asked
      })
      expect(lost, said).toEqual([])
      expect(await database.run((sql) => placementFaults(sql)), said).toEqual([])
    }
  },
  minutes(10),
)

test('a serial that no process knows is placed by none', async () => {
  const site = await newSite()
  const answers = await race(...Array.from({ length: 8 }, () => () => put(newSerial(), site)))
  expect(answers.map(({ code }) => code)).toEqual(Array(8).fill(20002))
})
