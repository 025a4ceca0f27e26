import { expect, test } from 'bun:test'
import type { Client } from '../kit/client.ts'
import { newApplication, newToken, shownSecret, type TestApplication } from '../kit/records.ts'
import { atScale, longTest } from '../kit/scale.ts'
import { twoServices } from '../kit/two-services.ts'
import { becomesTrue, load, waitUntil } from '../kit/waits.ts'

const { database, clients } = await twoServices()
const each = (index: number) => clients[index % 2] as Client
/** Sends an invalid body, so that only the token decides the code; returns 0 for a valid token. */
const ask = async (client: Client, token: string) => {
  const { code } = await client.call('createDevice', {}, { token })
  return code === 10001 ? 0 : code
}

async function took(change: () => Promise<{ code: number; text: string }>): Promise<number> {
  const since = performance.now()
  const { code, text } = await change()
  expect(code, text).toBe(0)
  return performance.now() - since
}

longTest('however many tokens there are, rotations and freezes take as long as with one', async () => {
  const apps = [await newApplication(each(0)), await newApplication(each(0))] as [TestApplication, TestApplication]
  const many = atScale(100_000, 1_500_000)
  await database.run(async (sql) => {
    await sql`
      insert into access_token (token_hash, app_id, generation, expires_at)
      select 'many ' || n, ${apps[1].appId}, 1, now() + interval '7 days' from generate_series(1, ${many}::integer) n`
    await sql`vacuum analyze access_token`
  })
  const rows = async () =>
    (await database.sql`select count(*)::int as n from access_token where app_id = ${apps[1].appId}`)[0]?.n
  // The ended tokens are removed later, in background work: if the rotation removed them, it would take long.
  const first = await took(() => each(0).operate('rotateApplicationSecret', { appId: apps[1].appId }))
  expect(await rows()).toBeGreaterThan(many / 2)
  const times = { one: [] as number[], many: [first] }
  for (let round = 0; round < 7; round++) {
    for (const [kind, { appId }] of [
      ['one', apps[0]],
      ['many', apps[1]],
    ] as const) {
      times[kind].push(await took(() => each(0).operate('freezeApplication', { appId, reason: 'test' })))
      times[kind].push(await took(() => each(0).operate('unfreezeApplication', { appId })))
      times[kind].push(await took(() => each(0).operate('rotateApplicationSecret', { appId })))
      await each(0).operate('rotateApplicationSecret', { appId, overlapSeconds: 600 })
      times[kind].push(await took(() => each(0).operate('endPreviousApplicationSecret', { appId })))
    }
  }
  const median = (list: number[]) => list.toSorted((a, b) => a - b)[list.length >> 1] as number
  expect(median(times.many), 'ms').toBeLessThan(Math.max(100, 10 * median(times.one)))
  expect(await ask(each(1), apps[1].token)).toBe(10002)
})

test('issues on two processes at once never leave more than 1,000 living tokens, and every process hears of the ended', async () => {
  const app = await newApplication(each(0))
  const { appId, appSecret } = app
  const tokens: string[] = []
  const issued = Array.from({ length: 32 }, async (_, lane) => {
    for (let n = 0; n < 50; n++) tokens.push(await newToken(each(lane), appId, appSecret))
  })
  const living = async () => {
    const [row] = await database.sql`
        select count(*)::int as n from access_token where app_id = ${appId} and expires_at > now()`
    return row?.n as number
  }
  let most = 0
  const watching = load(
    async () => {
      most = Math.max(most, await living())
    },
    { pauseMs: 20 },
  )
  await Promise.all(issued)
  await watching.stop()
  expect(Math.max(most, await living())).toBe(1000)

  const newest = tokens.at(-1) as string
  expect([await ask(each(0), newest), await ask(each(1), newest)]).toEqual([0, 0])
  // Both processes have the token in memory before it ends. One process alone issues the tokens that end it, so the
  // other must notice.
  const codes = await Promise.all(tokens.map((token, index) => ask(each(index), token)))
  const alive = tokens.filter((_, index) => codes[index] === 0)
  expect(alive).toHaveLength(1000)
  for (const client of clients) expect(await ask(client, alive[0] as string)).toBe(0)
  for (let n = 0; n < 1000; n++)
    if (n % 50 === 0) await Promise.all(Array.from({ length: 50 }, () => newToken(each(0), appId, appSecret)))
  for (const client of clients) {
    const isGone = async () => (await ask(client, alive[0] as string)) === 10002
    expect(await becomesTrue(isGone, 1000), 'ended on every process within 1 s').toBe(true)
  }
})

test('every process honours the end of an overlap, and an issue beside a rotation is of the one secret or the other', async () => {
  const app = await newApplication(each(0))
  const { appId, appSecret } = app
  for (const client of clients) expect(await ask(client, app.token)).toBe(0)
  const byOld = issuing(appId, appSecret)
  await waitUntil(() => byOld.codes.size > 0)
  const { data } = await each(0).operate('rotateApplicationSecret', { appId, overlapSeconds: 2 })
  const endsAt = performance.now() + 2000
  const fresh = await newToken(each(1), appId, shownSecret(data.appSecret))
  for (const client of clients) expect(await ask(client, app.token)).toBe(0)
  await becomesTrue(async () => {
    const sentAt = performance.now()
    const answers = await Promise.all(clients.map((client) => ask(client, app.token)))
    for (const code of answers) {
      if (performance.now() < endsAt - 500) expect(code).toBe(0)
      if (sentAt > endsAt + 900) expect(code).toBe(10002)
    }
    return sentAt > endsAt + 1000
  })
  await byOld.stop()
  expect([...byOld.codes].sort()).toEqual([0, 10030])
  expect(byOld.tokens.length).toBeGreaterThan(10)
  expect(await answersOf(byOld.tokens)).toEqual(new Set([10002]))
  for (const client of clients) expect(await ask(client, fresh)).toBe(0)
})

/** Sends requests for tokens by one secret to both processes until it is stopped. Returns the tokens that they get. */
function issuing(appId: string, appSecret: string) {
  const tokens: string[] = []
  const codes = new Set<number>()
  const credentials = { grant_type: 'client_credentials', client_id: appId, client_secret: appSecret }
  const running = load(
    async (loop) => {
      const { code, data } = await each(loop).call('issueToken', credentials)
      codes.add(code)
      if (code === 0) tokens.push(data.accessToken)
    },
    // Slow enough that the tokens of a test stay below the limit of 1,000.
    { loops: 4, pauseMs: 30 },
  )
  return { tokens, codes, stop: () => running.stop() }
}

const answersOf = async (tokens: readonly string[]) =>
  new Set(await Promise.all(tokens.flatMap((token) => clients.map((client) => ask(client, token)))))
