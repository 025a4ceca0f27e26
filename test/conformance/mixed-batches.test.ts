import { expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import type { Answer } from '../kit/client.ts'
import { deviceBody, newApplication, newSerial, siteBody, takeOffline } from '../kit/records.ts'
import {
  bearer,
  client,
  createDeviceOf,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  newRule,
  post,
} from './support.ts'

// The service writes creates that arrive at the same time in one transaction. Each must still get its own response,
// independently of the other requests.

interface Request {
  send: () => Promise<Answer<unknown>>
  expectOwn: (answer: Answer<unknown>) => void
}

const one = (send: Request['send'], expectOwn: Request['expectOwn']) => (): Request => ({ send, expectOwn })

/** Sends several requests of each kind at once, with the kinds mixed, and checks each response. */
async function mix(kinds: (() => Request | Promise<Request>)[], times: number): Promise<void> {
  const requests: Request[] = []
  for (let index = 0; index < times * kinds.length; index++) {
    requests.push(await (kinds[(index * 7) % kinds.length] as (typeof kinds)[number])())
  }
  const answers = await Promise.all(requests.map((request) => request.send()))
  for (const [index, answer] of answers.entries()) requests[index]?.expectOwn(answer)
}

test('saveSite gives every one of many different requests at once its own answer', async () => {
  const [application, other, bare] = await Promise.all([
    newApplication(client),
    newApplication(client),
    newBareApplication(),
  ])
  const fast = await newRule(application, 1)
  const ids = new Set<number>()
  let made = 0

  const save = (appId: string, token: string, members: Record<string, unknown> = {}) =>
    client.call('saveSite', siteBody(appId, members), { token })
  const good =
    ({ appId, token }: typeof application, members: Record<string, unknown> = {}) =>
    (): Request => {
      const siteName = `site ${made++}`
      return {
        send: () => save(appId, token, { siteName, ...members }),
        expectOwn: (answer) => {
          const site = expectSuccess(answer) as { id: number }
          expect(site).toMatchObject({ appId, siteName, ...members })
          expect(ids.has(site.id)).toBe(false)
          ids.add(site.id)
        },
      }
    }
  const replayed = siteBody(other.appId, { siteName: 'replayed' })
  const headers = { ...bearer(other.token), 'idempotency-key': 'key' }
  const first = await post(saveSite.path, JSON.stringify(replayed), headers)
  expectSuccess(first)

  const kinds: (() => Request)[] = [
    good(application),
    good(application, { fastChargeBillRuleId: fast }),
    good(other),
    one(
      () => save(application.appId, application.token, { fastChargeBillRuleId: 0 }),
      (answer) => expectFaults(answer, ['fastChargeBillRuleId'], 'billingRuleNotFound'),
    ),
    one(
      () => save(application.appId, application.token, { rushingBillRuleId: fast }),
      (answer) => expectFaults(answer, ['rushingBillRuleId'], 'billingRuleWrongType'),
    ),
    one(
      () => save(other.appId, other.token, { placeholderBillRuleId: fast }),
      (answer) => expectFaults(answer, ['placeholderBillRuleId'], 'billingRuleNotFound'),
    ),
    one(
      () => save(bare.appId, bare.token),
      (answer) => expectRefusal(answer, 'thirdPartyConfigMissing'),
    ),
    one(
      () => save('no-such-application', client.operatorKey),
      (answer) => expectRefusal(answer, 'applicationNotFound'),
    ),
    one(
      () => post(saveSite.path, JSON.stringify(replayed), headers),
      (answer) => expect(answer.text).toBe(first.text),
    ),
    one(
      () => post(saveSite.path, JSON.stringify(siteBody(other.appId)), headers),
      (answer) => expectRefusal(answer, 'idempotencyKeyReused'),
    ),
  ]
  for (let round = 0; round < 3; round++) await mix(kinds, 20)
})

test('createDevice gives every one of many different requests at once its own answer', async () => {
  const [application, other, offline] = await Promise.all([
    newApplication(client),
    newApplication(client),
    newApplication(client),
  ])
  const [mine, foreign] = [newSerial(), newSerial()]
  expectSuccess(await createDeviceOf(application, { deviceNo: mine }))
  expectSuccess(await createDeviceOf(other, { deviceNo: foreign }))
  await takeOffline(client, offline.appId)
  const replayed = deviceBody(other.appId)
  const headers = { ...bearer(other.token), 'idempotency-key': 'key' }
  const first = await post(createDevice.path, JSON.stringify(replayed), headers)
  expectSuccess(first)

  const good =
    (owner: typeof application): (() => Request) =>
    () => {
      const deviceNo = newSerial()
      return {
        send: () => createDeviceOf(owner, { deviceNo, tag: deviceNo }),
        expectOwn: (answer) =>
          expect(expectSuccess(answer)).toMatchObject({ appId: owner.appId, deviceNo, tag: deviceNo }),
      }
    }
  const kinds: (() => Request)[] = [
    good(application),
    good(other),
    one(
      () => createDeviceOf(application, { deviceNo: mine }),
      (answer) => expectRefusal(answer, 'deviceAlreadyYours'),
    ),
    one(
      () => createDeviceOf(application, { deviceNo: foreign }),
      (answer) => expectRefusal(answer, 'deviceBoundElsewhere'),
    ),
    one(
      () => createDeviceOf(offline),
      (answer) => expectRefusal(answer, 'applicationOffline'),
    ),
    one(
      () => createDeviceOf({ ...application, appId: 'no-such-application', token: client.operatorKey }),
      (answer) => expectRefusal(answer, 'applicationNotFound'),
    ),
    one(
      () => post(createDevice.path, JSON.stringify(replayed), headers),
      (answer) => expect(answer.text).toBe(first.text),
    ),
    one(
      () => post(createDevice.path, JSON.stringify(deviceBody(other.appId)), headers),
      (answer) => expectRefusal(answer, 'idempotencyKeyReused'),
    ),
  ]
  for (let round = 0; round < 3; round++) await mix(kinds, 20)
})

test('of many different bodies at once with one key, one is done and the others are idempotencyKeyReused', async () => {
  for (const { operation, body } of [
    { operation: createDevice, body: deviceBody },
    { operation: saveSite, body: siteBody },
  ]) {
    const { appId, token } = await newApplication(client)
    const headers = { ...bearer(token), 'idempotency-key': 'key' }
    const bodies = Array.from({ length: 16 }, (_, index) =>
      JSON.stringify(body(appId, { detailAddress: `No. ${index}` })),
    )
    const answers = await Promise.all(bodies.map((text) => post(operation.path, text, headers)))
    const done = answers.filter((answer) => answer.code === 0)
    expect(done).toHaveLength(1)
    for (const answer of answers) {
      if (answer.code === 0) expectSuccess(answer)
      else expectRefusal(answer, 'idempotencyKeyReused')
    }
  }
})
