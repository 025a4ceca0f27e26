import { describe, expect, onTestFinished, test } from 'bun:test'
import { lockApplication } from '../../src/database/application-lock.ts'
import { type Client, rememberedMs } from '../kit/client.ts'
import { deviceBody, newApplication, siteBody } from '../kit/records.ts'
import { atScale } from '../kit/scale.ts'
import { twoServices } from '../kit/two-services.ts'
import { becomes, sleep, standStill, staysTrue, waitUntil } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'
import { accessChanges } from './access-changes.ts'

/** The code of a request that timed out, so that its outcome is unknown. */
const unknown = 50003
const {
  database,
  clients: [a, b],
} = await twoServices()

/**
 * Holds the application's lock while `use` runs, as a writer in another process would; or, with `isOrdered`, the row
 * that a change needs once it has the lock. Such a change keeps the lock meanwhile, so that no writer can overtake it.
 */
function holdingLock<T>(
  appId: string,
  use: (waiting: () => Promise<number>) => Promise<T>,
  isOrdered = false,
): Promise<T> {
  return database.run(
    async (holder) =>
      (await holder.begin(async (tx) => {
        if (isOrdered) await tx`select 1 from application where app_id = ${appId} for no key update`
        else await lockApplication(tx, appId)
        return use(() => database.countWaiting())
      })) as T,
  )
}

describe.each(accessChanges)('after $what', ({ refused, isOrdered, change }) => {
  test('a batch that is refused as a whole keeps no key, and one that another carries on keeps its own', async () => {
    const app = await newApplication(a)
    const { appId, token } = app
    const bodies = ['sent', 'corrected'].map((siteName) => ({
      appId,
      sites: [1, 2].map(() => ({ ...siteBody(''), appId: undefined, siteName })),
    }))
    const send = (key: string, body = bodies[0], by: Client = a, as = token) =>
      by.call('saveSites', body, { token: as, headers: { 'idempotency-key': key } })
    const claims = () => database.sql`select from idempotency_key where app_id = ${appId}`
    const { changed, lone, first, second } = await holdingLock(
      appId,
      async (waiting) => {
        let changed = isOrdered ? change(a, app) : undefined
        const ahead = isOrdered ? 1 : 0
        await waitUntil(async () => (await waiting()) === ahead)
        const [lone, first] = [send('lone'), send('shared')]
        await waitUntil(async () => (await claims()).length === 2 && (await waiting()) === ahead + 1)
        // An operator repeats, at the other process, the request that the application has begun.
        const second = send('shared', bodies[0], b, b.operatorKey)
        await waitUntil(async () => (await waiting()) === ahead + 2)
        changed ??= change(a, app)
        if (!isOrdered) expect((await changed).code).toBe(0)
        return { changed, lone, first, second }
      },
      isOrdered,
    )
    expect([(await changed).code, (await lone).code]).toEqual([0, refused])
    expect((await first).code).toBe(refused)
    const carriedOn = await second
    expect(carriedOn.data?.results.map(({ code }) => code)).toEqual([0, 0])
    if (refused === 10005) expect((await a.operate('unfreezeApplication', { appId })).code).toBe(0)
    const corrected = await send('lone', bodies[1], a, a.operatorKey)
    expect(corrected.data?.results.map(({ code }) => code)).toEqual([0, 0])
    expect((await send('shared', bodies[0], a, a.operatorKey)).text).toBe(carriedOn.text)
    expect((await send('shared', bodies[1], a, a.operatorKey)).code).toBe(10008)
  })

  test('what is read is not told to a request that waited meanwhile', async () => {
    const app = await newApplication(a)
    const { appId, token } = app
    const read = () => Promise.all([a, b].map((client) => client.call('pageSites', { appId }, { token })))
    expect((await read()).map(({ code }) => code)).toEqual([0, 0])
    const sent = await database.run((sql) =>
      sql.begin(async (tx) => {
        await tx`lock table site in access exclusive mode`
        const sent = read()
        expect(await becomes(2, () => database.countWaiting())).toBe(2)
        expect((await change(a, app)).code).toBe(0)
        // Both processes know of it.
        const others = () =>
          Promise.all([a, b].map(async (client) => (await client.call('pageBillingRules', { appId }, { token })).code))
        expect(await becomes([refused, refused], others)).toEqual([refused, refused])
        return { answers: sent }
      }),
    )
    expect((await sent.answers).map(({ code }) => code)).toEqual([refused, refused])
  })

  test('batches that were under way bind nothing more', async () => {
    const app = await newApplication(a)
    const { appId, token } = app
    const batches = atScale(8, 40)
    const count = async () => {
      const [row] = await database.sql`select count(*)::int as n from device where app_id = ${appId}`
      return row?.n as number
    }
    const bodies = Array.from({ length: batches }, () => ({
      appId,
      devices: Array.from({ length: 1000 }, () => ({ ...deviceBody(appId), appId: undefined })),
    }))
    const send = async (index: number) => {
      const headers = { 'idempotency-key': `batch-${index}` }
      return (index % 2 === 0 ? a : b).call('createDevices', bodies[index], { token, headers })
    }
    const sent = bodies.map((_, index) => send(index))
    await waitUntil(async () => (await count()) > 200)
    const answer = await change(a, app)
    expect(answer.code).toBe(0)
    // Writers are ordered with a freeze or a rotation. They notice a revocation within a second.
    if (!isOrdered) await sleep(1000)
    const after = await count()
    const answers = await Promise.all(sent)
    const outcomes = answers.flatMap(
      ({ data, code }) => data?.results?.map((row) => row.code) ?? Array(1000).fill(code),
    )
    expect(await count(), 'devices that appeared after the answer').toBe(after)
    expect(after, 'else nothing was raced').toBeLessThan(batches * 1000)
    const told = (wanted: number) => outcomes.filter((code) => code === wanted).length
    // On a busy machine some requests time out, and their devices may or may not have been bound.
    expect(after, 'no fewer than were told so').toBeGreaterThanOrEqual(told(0))
    expect(after, 'no more than were told so').toBeLessThanOrEqual(told(0) + told(unknown))
    expect(new Set(outcomes.filter((code) => ![0, unknown].includes(code)))).toEqual(new Set([refused]))
    if (refused !== 10005) return
    // The stored response for the key has no outcome for rows that were not decided, so repeating the request creates
    // them.
    expect((await a.operate('unfreezeApplication', { appId })).code).toBe(0)
    await waitUntil(async () => (await b.call('pageSites', { appId }, { token })).code === 0, 1000)
    for (const index of [0, 1]) {
      const { data } = await send(index)
      expect(data.results.map((row) => row.code)).toEqual(Array(1000).fill(0))
    }
  })
})

test.skipIf(atScale(true, false))(
  'a process that was still for minutes asks for what it missed meanwhile',
  async () => {
    const place = new Workplace()
    onTestFinished(() => place.clear())
    const { service, client } = await place.start({ env: { DATABASE_URL: database.url() } })
    const app = await newApplication(a)
    const { appId, appSecret, token } = app
    const read = () => client.call('pageSites', { appId }, { token })
    expect((await read()).code).toBe(0)
    const still = standStill((name) => service.process.kill(name), 200_000)
    expect((await a.call('revokeToken', { client_id: appId, client_secret: appSecret, token })).code).toBe(0)
    await still
    // Connections may have ended meanwhile, which gives 50003.
    expect(await staysTrue(async () => [10002, 50003].includes((await read()).code), rememberedMs)).toBe(true)
    expect(await becomes(10002, async () => (await read()).code)).toBe(10002)
  },
  300_000,
)
