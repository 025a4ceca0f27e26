import { describe, expect, test } from 'bun:test'
import { type Client, rememberedMs } from '../kit/client.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial, newToken, shownSecret, type TestApplication } from '../kit/records.ts'
import { atScale, randomNumbers, seed } from '../kit/scale.ts'
import { twoServices } from '../kit/two-services.ts'
import { anyMoment, becomesTrue, load, waitUntil } from '../kit/waits.ts'
import { type AccessChange, accessChanges } from './access-changes.ts'

const random = randomNumbers(seed)
const {
  clients: [a, b],
} = await twoServices()

const ask = (client: Client, app: TestApplication) =>
  client.call('getThirdPartyConfig', { appId: app.appId }, { token: app.token })

const changes: (AccessChange & { prepare?: (app: TestApplication) => Promise<unknown> })[] = [
  ...accessChanges,
  {
    ...{ what: 'the end of a previous secret', refused: 10002, isOrdered: true },
    prepare: ({ appId }) => a.operate('rotateApplicationSecret', { appId, overlapSeconds: 604_800 }),
    change: (by, { appId }) => by.operate('endPreviousApplicationSecret', { appId }),
  },
]

describe.each(changes)('after $what', (each) => {
  test('a token is refused at once by the process that was told, and within 1 second by the other', async () => {
    const took = await Promise.all(Array.from({ length: atScale(2, 10) }, () => changeUnderUse(each)))
    expect(Math.max(...took), 'how long it was admitted, in ms').toBeLessThan(1000)
  })
})

/**
 * Changes an application through process A while process B gets its requests. Returns for how many ms B still admitted
 * them.
 */
async function changeUnderUse({ refused, prepare, change }: (typeof changes)[0]): Promise<number> {
  const app = await newApplication(a)
  await prepare?.(app)
  // Both processes have the token in memory before the change, and B gets requests all the time.
  expect((await ask(a, app)).code).toBe(0)
  expect((await ask(b, app)).code).toBe(0)
  const seen: { sentAt: number; answeredAt: number; code: number }[] = []
  const asking = load(
    async () => {
      const sentAt = performance.now()
      const { code } = await ask(b, app)
      seen.push({ sentAt, answeredAt: performance.now(), code })
    },
    { loops: 2, pauseMs: 4 },
  )
  // B reads changes at intervals; the random pause puts the change at any point between two reads.
  await anyMoment(random, 900)
  // A would believe the token for another second, too, if it weren't told.
  expect((await ask(a, app)).code).toBe(0)
  await change(a, app)
  const changedAt = performance.now()
  expect((await ask(a, app)).code, 'the process that was told').toBe(refused)
  expect((await a.call('createDevice', deviceBody(app.appId), { token: app.token })).code).toBe(refused)
  await waitUntil(() => (seen.at(-1)?.sentAt ?? 0) > changedAt + 1200)
  await asking.stop()
  expect(seen.filter(({ code }) => code !== 0 && code !== refused)).toEqual([])
  const lastAdmitted = Math.max(...seen.filter(({ code }) => code === 0).map(({ sentAt }) => sentAt))
  const firstRefused = Math.min(...seen.filter(({ code }) => code === refused).map(({ answeredAt }) => answeredAt))
  expect(firstRefused, 'refused by the other process').toBeLessThan(changedAt + 1000)
  // A process that has begun to refuse must not admit again. With several workers this is not checked, because any of
  // them may respond.
  if (process.env.FORECOURT_TEST_WORKERS === undefined) {
    expect(lastAdmitted, 'admitted after it was refused').toBeLessThan(firstRefused)
  }
  return Math.max(0, lastAdmitted - changedAt)
}

test('who loses an account, a key or an application is refused at once by one process, within 1 second by the other', async () => {
  const app = await newApplication(a)
  const [disabled, developer] = [await newPerson(a, 'operator'), await newPerson(a, 'developer', [app.appId])]
  const key = (await a.operate('createOperatorKey', { name: newSerial('key'), role: 'viewer' })).data
  const members = { role: 'developer', appIds: [] } as const
  const losses: { headers: Record<string, string>; refused: number; take: () => Promise<{ code: number }> }[] = [
    {
      headers: await signIn(a, disabled),
      refused: 10002,
      take: () => a.operate('updateOperator', { id: disabled.id, role: 'operator', status: 2 }),
    },
    {
      headers: { authorization: `Bearer ${key.operatorKey}` },
      refused: 10002,
      take: () => a.operate('deleteOperatorKey', { id: key.id }),
    },
    {
      headers: await signIn(a, developer),
      refused: 10003,
      take: () => a.operate('updateOperator', { id: developer.id, ...members }),
    },
  ]
  for (const { headers, refused, take } of losses) {
    const see = async (client: Client) =>
      (await client.call('getThirdPartyConfig', { appId: app.appId }, { headers })).code
    expect([await see(a), await see(b)]).toEqual([0, 0])
    expect((await take()).code).toBe(0)
    expect(await see(a)).toBe(refused)
    expect(await becomesTrue(async () => (await see(b)) === refused, 1000), `${refused} by the other`).toBe(true)
  }
})

test('a token that is used for the first time after the change is refused by both at once', async () => {
  const app = await newApplication(a)
  await a.operate('freezeApplication', { appId: app.appId, reason: 'test' })
  expect([(await ask(b, app)).code, (await ask(a, app)).code]).toEqual([10005, 10005])
  await a.operate('unfreezeApplication', { appId: app.appId })
  expect((await ask(a, app)).code).toBe(0)
  expect(await becomesTrue(async () => (await ask(b, app)).code === 0, 1000), 'admitted again').toBe(true)
  const { data } = await a.operate('rotateApplicationSecret', { appId: app.appId })
  expect((await ask(a, { ...app, token: await newToken(b, app.appId, shownSecret(data.appSecret)) })).code).toBe(0)
})

test('what one process saves of models and the inventory is what a create on the other sees at once', async () => {
  const app = await newApplication(a)
  const serialPrefix = newSerial('M')
  const modelOf = async (client: Client, deviceNo = `${serialPrefix}-${newSerial()}`) => {
    const body = deviceBody(app.appId, { deviceNo })
    const answer = await client.call('createDevice', body, { token: app.token })
    expect(answer.code, answer.text).toBe(0)
    return answer.data.modelName
  }
  for (let round = 0; round < atScale(4, 20); round++) {
    const [one, other] = (round % 2 === 0 ? [a, b] : [b, a]) as [Client, Client]
    expect(await modelOf(other)).toBeNull()
    await one.operate('saveDeviceModel', { serialPrefix, modelName: `first ${round}` })
    expect(await modelOf(other)).toBe(`first ${round}`)
    await one.operate('saveDeviceModel', { serialPrefix, modelName: `second ${round}` })
    expect(await Promise.all([modelOf(other), modelOf(one)])).toEqual([`second ${round}`, `second ${round}`])
    const deviceNo = newSerial()
    const entries = [{ deviceNo, modelName: `second ${round}` }]
    expect((await one.operate('importDeviceInventory', { entries })).code).toBe(0)
    await one.operate('deleteDeviceModel', { serialPrefix })
    expect([await modelOf(other), await modelOf(other, deviceNo)]).toEqual([null, `second ${round}`])
  }
})

test('a region that one process saves or deletes is in the records of the other within a second', async () => {
  const app = await newApplication(a)
  const code = '360191'
  const deviceNo = newSerial()
  const body = deviceBody(app.appId, { deviceNo, districtCode: code })
  expect((await a.call('createDevice', body, { token: app.token })).code).toBe(0)
  const nameAt = async (client: Client) =>
    (await client.call('getDevice', { deviceNo }, { token: app.token })).data.deviceBattery.districtName
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    expect((await one.operate('saveRegion', { code, name: '新区' })).code).toBe(0)
    expect(await nameAt(one), 'at once where it was saved').toBe('新区')
    await waitUntil(async () => (await nameAt(other)) === '新区', rememberedMs)
    expect((await one.operate('deleteRegion', { code })).code).toBe(0)
    expect(await nameAt(one)).toBeNull()
    await waitUntil(async () => (await nameAt(other)) === null, rememberedMs)
  }
})

test('creates of one application under one key, on both processes side by side, make one', async () => {
  const body = { appName: newSerial('once'), rateLimitPerSecond: null }
  const as = { token: a.operatorKey, headers: { 'idempotency-key': newSerial('key') } }
  const creates = Array.from({ length: 16 }, (_, index) =>
    (index % 2 === 0 ? a : b).call('createApplication', body, as),
  )
  const answers = await Promise.all(creates)
  expect(new Set(answers.map(({ code, data }) => (code === 0 ? data.appId : code))).size).toBe(1)
  expect((await a.operate('pageApplications', { appName: body.appName })).data.total).toBe(1)
})
