import { expect, test } from 'bun:test'
import type postgres from 'postgres'
import { drawEventIds, lockApplication } from '../../src/database/application-lock.ts'
import type { Client } from '../kit/client.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication } from '../kit/records.ts'
import { atScale, randomNumbers, seed } from '../kit/scale.ts'
import { twoServices } from '../kit/two-services.ts'
import { anyMoment, becomesTrue, load, sleep } from '../kit/waits.ts'

// Ids of a sequence are drawn in order, but become visible in the order of the commits. A follower who remembers the
// last id would miss an event with a lower id that commits later, unless one lock orders both.

const random = randomNumbers(seed)
const slowTransactions = atScale(2, 4)
const slowMs = atScale(500, 1000)
const { database, clients } = await twoServices()

/** Uses the service processes in turn. */
const each = (index: number) => clients[index % 2] as Client

interface Page {
  list: { id: number }[]
  nextCursor: string | null
}

interface Place {
  seen: number[]
  cursor: string | null
  /** The filter that the cursor belongs to. */
  begun: { afterId: string }
}

type Step = (client: Client, app: TestApplication, place: Place) => Promise<Page>

async function readPage(client: Client, { token }: TestApplication, query: Record<string, string>): Promise<Page> {
  const answer = await client.call('pageEvents', query, { token })
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.data
}

const afterLast = (seen: number[]) => ({ afterId: String(seen.at(-1) ?? 0) })

/** The ways to follow a feed: by the last id, or by cursor until the last page and then again from the last id. */
const ways: Record<string, Step> = {
  'by afterId': (client, app, { seen }) => readPage(client, app, { ...afterLast(seen), pageSize: '100' }),
  'by afterId, few at a time': (client, app, { seen }) => readPage(client, app, { ...afterLast(seen), pageSize: '7' }),
  'by cursor': (client, app, { cursor, begun }) =>
    readPage(client, app, { ...begun, ...(cursor === null ? {} : { cursor }), pageSize: '20' }),
}

interface Followed {
  name: string
  seen: number[]
}

/** Follows an application's feed in every way, through every process, until it is stopped and has the last event. */
function follow(app: TestApplication): { stop(lastId: number): Promise<Followed[]> } {
  let lastId = Number.POSITIVE_INFINITY
  const followers = Object.entries(ways).flatMap(([name, step]) =>
    clients.map(async (client, index) => {
      const seen: number[] = []
      let cursor: string | null = null
      let begun = afterLast(seen)
      while ((seen.at(-1) ?? 0) < lastId) {
        if (cursor === null) begun = afterLast(seen)
        const page: Page = await step(client, app, { seen, cursor, begun })
        seen.push(...page.list.map(({ id }) => id))
        cursor = page.nextCursor
        // As a program does that reads the feed at intervals.
        if (page.list.length === 0) await sleep(40)
      }
      return { name: `${name}, process ${index + 1}`, seen }
    }),
  )
  return {
    stop(id) {
      lastId = id
      return Promise.all(followers)
    },
  }
}

/**
 * Writes events in every way that the service has: grouped creates and reports, batches, and transactions of a single
 * change.
 */
async function write(client: Client, app: TestApplication): Promise<void> {
  const { appId, token } = app
  const deviceNo = newSerial()
  const done = async (sending: Promise<{ status: number; text: string }>) => {
    const { status, text } = await sending
    if (status !== 200) throw new Error(text)
  }
  await done(client.call('createDevice', deviceBody(appId, { deviceNo }), { token }))
  const kind = Math.floor(random() * 5)
  if (kind === 0) await done(client.call('reportDeviceState', { deviceNo, onlineStatus: 1 }, { token }))
  if (kind === 1) await done(client.call('updateDevice', { deviceNo, deviceName: 'changed' }, { token }))
  if (kind === 2) await done(client.operate('forceUnbindDevice', { deviceNo, reason: 'test' }))
  if (kind === 3) await done(client.call('saveSite', siteBody(appId), { token }))
  if (kind === 4)
    await done(client.call('createDevices', { devices: [deviceBody(appId), deviceBody(appId)] }, { token }))
}

/** Draws an event's id in a transaction that commits later. The event copies the data of an earlier one. */
function writeSlowly(connection: postgres.Sql, { appId }: TestApplication): Promise<number> {
  return connection.begin(async (tx) => {
    const now = new Date()
    await lockApplication(tx, appId)
    const id = await drawEventIds(tx, appId, now)
    await tx`
      insert into event (app_id, id, type, time, actor, subject, data)
      select ${appId}, ${id}, type, ${now}, 'operator:slow', null, data from event
      where app_id = ${appId} and type = 'device.bound' limit 1`
    // So long that others commit meanwhile.
    await sleep(slowMs)
    return id
  }) as Promise<number>
}

test('followers of the feed skip nothing that commits late and see nothing twice, in ascending order', async () => {
  const [app, neighbour] = [await newApplication(each(0)), await newApplication(each(1))]
  // The event that the slow transactions copy.
  await write(each(0), app)
  const following = [app, neighbour].map((one) => ({ one, feed: follow(one) }))
  let written = 0
  const writing = load(
    async (index) => {
      await write(each(index), index % 4 === 3 ? neighbour : app)
      written++
    },
    // No faster than the slowest follower reads: one that lags behind reads an event only after it has become visible,
    // and so cannot miss it.
    { loops: 8, pauseMs: 30 },
  )
  const slow: number[] = []
  await database.run(async (connection) => {
    for (let count = 0; count < slowTransactions; count++) {
      await anyMoment(random, 300)
      slow.push(await writeSlowly(connection, app))
    }
  })
  const before = written
  expect(await becomesTrue(() => written > before + 40), 'events after the last slow one').toBe(true)
  await writing.stop()
  const feeds = following.map(async ({ one, feed }) => {
    const ids = await database.sql`
        select id from event where app_id = ${one.appId}
        union all select id from state_change where app_id = ${one.appId} order by id`
    const all = ids.map((row) => row.id as number)
    return { all, followed: await feed.stop(all.at(-1) as number) }
  })
  const done = await Promise.all(feeds)
  for (const { all, followed } of done) {
    for (const { name, seen } of followed) expect(seen, name).toEqual(all)
    expect(all.length).toBeGreaterThan(4)
  }
  // Other events were written after each slow one.
  for (const id of slow) expect(done[0]?.all.filter((other) => other > id).length).toBeGreaterThan(0)
})
