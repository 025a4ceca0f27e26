import { expect, test } from 'bun:test'
import { createDevice } from '../../src/devices/contract.ts'
import { saveSite } from '../../src/sites/contract.ts'
import type { Answer } from '../kit/client.ts'
import { deviceBody, newApplication, siteBody, type TestApplication, takeOffline } from '../kit/records.ts'
import type { RefusalName } from './refusals.ts'
import {
  bearer,
  client,
  createDeviceOf,
  expectFaults,
  expectRefusal,
  expectSuccess,
  newBareApplication,
  newDevice,
  newRule,
  post,
  saveSiteOf,
} from './support.ts'

// The service writes creates that arrive at the same time in one transaction. Each must still get its own response,
// independently of the other requests.

type Kind = [send: (nth: number) => Promise<Answer<unknown>>, expectOwn: (answer: Answer<unknown>, nth: number) => void]

/** Sends 20 requests of each kind at once, with the kinds mixed, three times, and checks each response. */
async function mix(kinds: Kind[]): Promise<void> {
  for (let round = 0; round < 3; round++) {
    const requests = Array.from({ length: 20 * kinds.length }, (_, nth) => kinds[(nth * 7) % kinds.length] as Kind)
    const answers = await Promise.all(requests.map(([send], nth) => send(nth)))
    for (const [nth, answer] of answers.entries()) requests[nth]?.[1](answer, nth)
  }
}

const refused = (refusal: RefusalName) => (answer: Answer<unknown>) => expectRefusal(answer, refusal)
const faulty = (refusal: RefusalName, field: string) => (answer: Answer<unknown>) =>
  void expectFaults(answer, [field], refusal)

/** Requests with a key whose first answer is known: the same again, and another body. */
async function ofKey(
  { path }: { path: string },
  body: (appId: string) => object,
  { appId, token }: TestApplication,
): Promise<Kind[]> {
  const sent = body(appId)
  const send = (sent: object) => post(path, JSON.stringify(sent), { ...bearer(token), 'idempotency-key': 'key' })
  const first = await send(sent)
  expectSuccess(first)
  return [
    [() => send(sent), (answer) => expect(answer.text).toBe(first.text)],
    [() => send({ ...sent, detailAddress: 'another' }), refused('idempotencyKeyReused')],
  ]
}

test('saveSite gives every one of many different requests at once its own answer', async () => {
  const [application, other] = await Promise.all([newApplication(client), newApplication(client)])
  const bare = await newBareApplication()
  const fast = await newRule(application, 1)
  const ids = new Set<number>()
  const good = (owner: TestApplication, members: object = {}): Kind => [
    (nth) => saveSiteOf(owner, { siteName: `site ${nth}`, ...members }),
    (answer, nth) => {
      const site = expectSuccess(answer) as { id: number }
      expect(site).toMatchObject({ appId: owner.appId, siteName: `site ${nth}`, ...members })
      expect(ids.has(site.id)).toBe(false)
      ids.add(site.id)
    },
  ]
  await mix([
    good(application),
    good(application, { fastChargeBillRuleId: fast }),
    good(other),
    [() => saveSiteOf(application, { fastChargeBillRuleId: 0 }), faulty('billingRuleNotFound', 'fastChargeBillRuleId')],
    [() => saveSiteOf(application, { rushingBillRuleId: fast }), faulty('billingRuleWrongType', 'rushingBillRuleId')],
    [() => saveSiteOf(other, { placeholderBillRuleId: fast }), faulty('billingRuleNotFound', 'placeholderBillRuleId')],
    [() => saveSiteOf(bare), refused('thirdPartyConfigMissing')],
    [() => client.operate('saveSite', siteBody('no-such-application')), refused('applicationNotFound')],
    ...(await ofKey(saveSite, siteBody, other)),
  ])
})

test('createDevice gives every one of many different requests at once its own answer', async () => {
  const [application, other] = await Promise.all([newApplication(client), newApplication(client)])
  const offline = await newApplication(client)
  await takeOffline(client, offline.appId)
  const [mine, foreign] = [await newDevice(application), await newDevice(other)]
  const good = (owner: TestApplication): Kind => [
    (nth) => createDeviceOf(owner, { deviceName: `device ${nth}` }),
    (answer, nth) =>
      void expect(expectSuccess(answer)).toMatchObject({ appId: owner.appId, deviceName: `device ${nth}` }),
  ]
  await mix([
    good(application),
    good(other),
    [() => createDeviceOf(application, { deviceNo: mine }), refused('deviceAlreadyYours')],
    [() => createDeviceOf(application, { deviceNo: foreign }), refused('deviceBoundElsewhere')],
    [() => createDeviceOf(offline), refused('applicationOffline')],
    [() => client.operate('createDevice', deviceBody('no-such-application')), refused('applicationNotFound')],
    ...(await ofKey(createDevice, deviceBody, other)),
  ])
})
