import { expect, test } from 'bun:test'
import { operations } from '../../src/reference/operations.ts'
import type { Call } from '../costs/calls.ts'
import { measuredOf } from '../costs/operations.ts'
import type { Answer } from '../kit/client.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newSerial } from '../kit/records.ts'
import { at, scheduledSoon, untilApplied } from './price-support.ts'
import { client, expectFaults, expectRefusal, expectSuccess, newBareApplication, newRule, succeed } from './support.ts'
import { callbackUrl, newWorld } from './world.ts'

// Every write that takes an Idempotency-Key (contract §4.3), with the calls of test/costs/operations.ts.

const world = await newWorld()
const { appId } = world.owner
const asOperator = { token: client.operatorKey }

/** Paths of the secrets that a response shows only once. */
const secretsOfOperation: Record<string, string[]> = {
  createApplication: ['appSecret', 'thirdPartyConfig.callbackSecret'],
  createOperator: ['setUpPath'],
  createOperatorKey: ['operatorKey'],
  resetOperator: ['setUpPath'],
  rotateApplicationSecret: ['appSecret'],
  rotateCallbackSecret: ['callbackSecret'],
  saveThirdPartyConfig: ['callbackSecret'],
}

/** While they run, they may refuse the same operation from another request (contract §6). */
const runningAlone = ['replayDeliveries', 'testDelivery']

/** Other calls than those: without a database at hand, with more secrets, or with a name of their own. */
const others: Record<string, () => Promise<Call>> = {
  async undoPriceChange() {
    const billingRuleId = await newRule(world.owner, 1)
    const { id } = await scheduledSoon(world.owner, { billingRuleId, periods: at('1') })
    await untilApplied(world.owner, id)
    return { input: { appId, id, reason: 'a mistake' } }
  },
  saveThirdPartyConfig: async () => ({
    input: { appId: (await newBareApplication()).appId, operatorName: 'Operator', callbackUrl },
    as: asOperator,
  }),
  createApplication: async () => ({
    input: { appName: 'made', thirdPartyConfig: { operatorName: 'Operator', callbackUrl } },
    as: asOperator,
  }),
  saveRegion: async () => ({ input: newRegion(), as: asOperator }),
  async deleteRegion() {
    const region = newRegion()
    await succeed('saveRegion', region)
    return { input: region, as: asOperator }
  },
  async deleteSession() {
    const headers = await signIn(client, await newPerson(client, 'viewer'))
    return { input: { id: (await succeed('getSession', {}, { headers })).id }, as: asOperator }
  },
}

const newRegion = () => ({ code: '360197', name: newSerial('Region') })

type Json = Record<string, unknown>

/** The secrets at these paths of a response's data. */
function secretsOf(data: unknown, places: string[]): unknown[] {
  return places.map((place) => place.split('.').reduce((value, member) => (value as Json)[member], data as unknown))
}

// Files have their keys tested with them.
for (const operation of operations.filter(({ idempotent, takes }) => idempotent && !takes)) {
  const { id } = operation
  const secrets = secretsOfOperation[id] ?? []

  test(`${id} with one key, twice at once and once more, is done once`, async () => {
    const call = others[id] ?? (() => measuredOf(id).call(world))
    const { input, as = world.owner } = await call()
    const send = (key: string, sent: unknown = input) =>
      client.call(operation, sent, { ...as, headers: { 'idempotency-key': key } })
    expectFaults(await send(''), ['Idempotency-Key'])
    const key = newSerial('key')
    const both = await Promise.all([send(key), send(key)])
    const done = both.filter(({ code }) => !(runningAlone.includes(id) && code === 10007))
    for (const answer of done) expectSuccess(answer)
    const first = done.find(({ headers }) => !headers.has('idempotency-replayed')) as Answer<unknown>
    let kept = first.text
    for (const secret of secretsOf(first.data, secrets)) {
      expect(secret).toBeString()
      kept = kept.replace(JSON.stringify(secret), 'null')
    }
    const again = await send(key)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    for (const replayed of [again, ...done.filter((answer) => answer !== first)]) {
      // Two concurrent requests with one key may share the rows of a batch: each row is written once, by one of them.
      if (replayed.headers.has('idempotency-replayed')) expect(JSON.parse(replayed.text)).toEqual(JSON.parse(kept))
      if (secrets.length === 0) expect(replayed.text).toBe(first.text)
    }
    expectRefusal(await send(key, { ...(input as object), other: 1 }), 'idempotencyKeyReused')
  })
}

test('updates and switches ignore the header, whatever it holds', async () => {
  for (const contacts of ['Li Na', 'Wang Fang']) {
    const headers = { 'idempotency-key': 'two words' }
    const updated = await client.call('updateSite', { id: world.site, contacts }, { ...world.owner, headers })
    expect(expectSuccess(updated)).toMatchObject({ contacts })
  }
})

test('an operator’s keys are its own', async () => {
  const token = (await succeed('createOperatorKey', { name: newSerial('k'), role: 'admin' })).operatorKey
  const headers = { 'idempotency-key': newSerial('key') }
  const body = { appName: 'mine' }
  const mine = expectSuccess(await client.operate('createApplication', body, { headers }))
  const theirs = await client.call('createApplication', body, { token: token ?? '', headers })
  expect(expectSuccess(theirs).appId).not.toBe(mine.appId)
})
