import { describe, expect, onTestFinished, test } from 'bun:test'
import { saveBillingRule } from '../../src/billing-rules/contract.ts'
import { createImport } from '../../src/bulk/contract.ts'
import { lockApplication } from '../../src/database/application-lock.ts'
import { createDevice, createDevices, updateDevice } from '../../src/devices/contract.ts'
import { unbindDevice } from '../../src/devices/ownership/contract.ts'
import { reportDeviceState, reportDeviceStates } from '../../src/devices/state/contract.ts'
import { saveSite, saveSites, updateSite } from '../../src/sites/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { type Answer, Client, rememberedMs } from '../kit/client.ts'
import { deviceBody, newApplication, siteBody, type TestApplication } from '../kit/records.ts'
import { atScale, tell } from '../kit/scale.ts'
import { twoServices } from '../kit/two-services.ts'
import { becomes, becomesTrue, sleep, standStill, staysTrue } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

/** The code of a request that timed out, so that its outcome is unknown. */
const unknown = 50003
const {
  database,
  clients: [a, b],
} = await twoServices()

interface Change {
  what: string
  refused: number
  /** Whether the change waits for running writes of the application. */
  isOrdered: boolean
  change: (app: TestApplication) => Promise<Answer<unknown>>
}

const changes: Change[] = [
  {
    what: 'a freeze',
    refused: 10005,
    isOrdered: true,
    change: ({ appId }) => a.operate('freezeApplication', { appId, reason: 'test' }),
  },
  {
    what: 'a rotation',
    refused: 10002,
    isOrdered: true,
    change: ({ appId }) => a.operate('rotateApplicationSecret', { appId }),
  },
  {
    what: 'a revocation',
    refused: 10002,
    isOrdered: false,
    change: ({ appId, appSecret, token }) =>
      a.call('revokeToken', { client_id: appId, client_secret: appSecret, token }),
  },
]

const rule = {
  ruleName: 'Day',
  ruleType: 1,
  periods: [{ startTime: '00:00:00', electricityPrice: '0.65', servicePrice: '0.8' }],
}

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

/** Every row of an application, as one text. */
function belongings(appId: string): Promise<string> {
  return database.run(async (sql) => {
    const rows = await sql`
      select 'device' as kind, row_to_json(d)::text as row from device d where app_id = ${appId}
      union all select 'presence', row_to_json(p)::text from device_presence p where app_id = ${appId}
      union all select 'site', row_to_json(s)::text from site s where app_id = ${appId}
      union all select 'rule', row_to_json(r)::text from billing_rule r where app_id = ${appId}
      union all select 'terms', row_to_json(t)::text from rule_terms t where app_id = ${appId}
      union all select 'config', row_to_json(c)::text from third_party_config c where app_id = ${appId}
      union all select 'event', id || type from event
        where app_id = ${appId} and type not in ('application.frozen', 'application.secretRotated')
      order by 1, 2`
    return rows.map((row) => `${row.kind} ${row.row}`).join('\n')
  })
}

describe.each(changes)('after $what', ({ what, refused, isOrdered, change }) => {
  test('nothing that was admitted before and waits is written', async () => {
    const app = await newApplication(a)
    const { appId, token } = app
    const call = async <Data>(client: Client, operation: { path: string }, body: object, key?: string) =>
      client.call(operation as Operation, body, {
        token,
        headers: key === undefined ? {} : { 'idempotency-key': key },
      }) as Promise<Answer<Data>>
    const device = deviceBody(appId)
    expect((await call(a, createDevice, device, 'kept')).code).toBe(0)
    const { deviceNo } = device
    const site = siteBody(appId)
    const { id: siteId } = (await call<{ id: number }>(b, saveSite, site, 'kept')).data
    // One of each kind; `access-of-writes.test.ts` has every write of its own.
    const writes: [{ path: string; id: string }, object, string?][] = [
      [createDevice, deviceBody(appId)],
      [createDevice, device, 'kept'],
      [createDevices, { appId, devices: [{ ...deviceBody(appId), appId: undefined }] }],
      [saveSite, siteBody(appId)],
      [saveSite, site, 'kept'],
      [saveSites, { appId, sites: [{ ...siteBody(appId), appId: undefined }] }],
      [reportDeviceState, { deviceNo, onlineStatus: 1 }],
      [reportDeviceStates, { reports: [{ deviceNo, version: '7' }] }, 'fresh'],
      [updateDevice, { deviceNo, deviceName: 'other' }],
      [unbindDevice, { deviceNo }],
      [updateSite, { id: siteId, siteName: 'other' }],
      [saveBillingRule, { ...rule, ruleName: 'other' }],
    ]
    // Both processes have the token in memory now, so that they admit the next requests without a query.
    expect((await call(b, updateDevice, { deviceNo, deviceName: device.deviceName })).code).toBe(0)
    const before = await belongings(appId)

    const { changed, sent } = await holdingLock(
      appId,
      async (waiting) => {
        let changed: Promise<Answer<unknown>> | undefined
        if (isOrdered) {
          changed = change(app)
          expect(await becomesTrue(async () => (await waiting()) === 1)).toBe(true)
        }
        const sent = writes.map(([operation, body, key], index) => call(index % 2 === 0 ? a : b, operation, body, key))
        // At least the writers of both processes and several other requests; the size of the pools limits their number.
        expect(await becomesTrue(async () => (await waiting()) >= 6)).toBe(true)
        // The others wait in their processes, which no query shows.
        await sleep(100)
        changed ??= change(app)
        if (!isOrdered) expect((await changed).code).toBe(0)
        return { changed, sent }
      },
      isOrdered,
    )
    expect((await changed).code).toBe(0)
    const answers = await Promise.all(sent)
    // On a busy machine some wait too long for the lock, and get 50003.
    const inTime = answers.map(({ code }, index) => `${writes[index]?.[0].id} ${code === unknown ? refused : code}`)
    expect(inTime).toEqual(writes.map(([{ id }]) => `${id} ${refused}`))
    expect(answers.filter(({ code }) => code === refused).length).toBeGreaterThan(writes.length / 2)
    expect(await belongings(appId)).toBe(before)
  })

  test('a batch that is refused as a whole keeps no key, and one that another carries on keeps its own', async () => {
    const app = await newApplication(a)
    const { appId, token } = app
    const bodies = ['sent', 'corrected'].map((siteName) => ({
      appId,
      sites: [1, 2].map(() => ({ ...siteBody(''), appId: undefined, siteName })),
    }))
    const send = (key: string, body = bodies[0], by: Client = a, as = token) =>
      by.call('saveSites', body, { token: as, headers: { 'idempotency-key': key } })
    const claims = () => database.run((sql) => sql`select from idempotency_key where app_id = ${appId}`)
    const { changed, lone, first, second } = await holdingLock(
      appId,
      async (waiting) => {
        let changed = isOrdered ? change(app) : undefined
        const ahead = isOrdered ? 1 : 0
        expect(await becomesTrue(async () => (await waiting()) === ahead)).toBe(true)
        const [lone, first] = [send('lone'), send('shared')]
        expect(await becomesTrue(async () => (await claims()).length === 2 && (await waiting()) === ahead + 1)).toBe(
          true,
        )
        // An operator repeats, at the other process, the request that the application has begun.
        const second = send('shared', bodies[0], b, b.operatorKey)
        expect(await becomesTrue(async () => (await waiting()) === ahead + 2)).toBe(true)
        changed ??= change(app)
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
        expect((await change(app)).code).toBe(0)
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
    const count = () =>
      database.run(async (sql) => {
        const [row] = await sql`select count(*)::int as n from device where app_id = ${appId}`
        return row?.n as number
      })
    const bodies = Array.from({ length: batches }, () => ({
      appId,
      devices: Array.from({ length: 1000 }, () => ({ ...deviceBody(appId), appId: undefined })),
    }))
    const send = async (index: number) => {
      const headers = { 'idempotency-key': `batch-${index}` }
      return (index % 2 === 0 ? a : b).call('createDevices', bodies[index], { token, headers })
    }
    const sent = bodies.map((_, index) => send(index))
    expect(await becomesTrue(async () => (await count()) > 200)).toBe(true)
    const answer = await change(app)
    expect(answer.code).toBe(0)
    // Writers are ordered with a freeze or a rotation. They notice a revocation within a second.
    if (!isOrdered) await sleep(1000)
    const after = await count()
    const answers = await Promise.all(sent)
    const outcomes = answers.flatMap(
      ({ data, code }) => data?.results?.map((row) => row.code) ?? Array(1000).fill(code),
    )
    expect(await count(), 'devices that appeared after the answer').toBe(after)
    tell(`${what}: ${after} of ${batches * 1000} devices were bound`)
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
    expect(await becomesTrue(async () => (await b.call('pageSites', { appId }, { token })).code === 0, 1000)).toBe(true)
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
    const service = await place.startService({ env: { DATABASE_URL: database.url() } })
    const client = new Client(service)
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

test('an import is refused after the revocation of its token, also when that would have come to its end', async () => {
  const app = await newApplication(a)
  const { appId, appSecret, token } = app
  const id = await holdingLock(appId, async () => {
    const devices = [1, 2, 3].map(() => JSON.stringify({ ...deviceBody(appId), appId: undefined }))
    const sent = await fetch(`${b.url}${createImport.path}?kind=devices`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
      body: devices.join('\n'),
    })
    const { data } = (await sent.json()) as { data: { id: number } }
    expect((await a.call('revokeToken', { client_id: appId, client_secret: appSecret, token })).status).toBe(200)
    await database.run(
      (sql) => sql`update import set token_until = token_until - interval '1 day' where id = ${data.id}`,
    )
    return data.id
  })
  const told = async () => (await a.operate('getImport', { id })).data
  expect(await becomesTrue(async () => (await told()).status === 4)).toBe(true)
  expect(await told()).toMatchObject({ created: 0, error: expect.stringContaining('10002 tokenInvalid') })
})
