import { describe, expect, test } from 'bun:test'
import type { Found } from '../../src/service/search/contract.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'
import {
  client,
  createDeviceOf,
  deviceRow,
  expectFaults,
  expectRefusal,
  expectSuccess,
  occupancyTerms,
  saveSiteOf,
  succeed,
} from './support.ts'

type As = Parameters<typeof client.call>[2]

async function find(text: string, as: As = { token: client.operatorKey }): Promise<Found[]> {
  return (await succeed('search', { text }, as)).list
}

/**
 * An application that has a record of each kind, all with one word in their names, and a session of its developer, who
 * sees no other rows: a part of a name is searched only among the first rows, which could all be those of other tests.
 */
async function named() {
  const word = newSerial('Find')
  const app = await newApplication(client, { appName: `${word} charging` })
  const { appId, token } = app
  const device = expectSuccess(await createDeviceOf(app, { deviceNo: `${word}-0001`, deviceName: 'Gate' }))
  const site = expectSuccess(await saveSiteOf(app, { siteName: `North ${word}` }))
  const rule = { appId, ruleName: `Day ${word}`, ruleType: 3, ...occupancyTerms }
  const saved = await succeed('saveBillingRule', rule, { token })
  const found: Found[] = [
    { kind: 'device', id: device.deviceNo, appId, name: 'Gate' },
    { kind: 'site', id: String(site.id), appId, name: `North ${word}` },
    { kind: 'application', id: appId, appId, name: `${word} charging` },
    { kind: 'billingRule', id: String(saved.id), appId, name: `Day ${word}` },
  ]
  const own = { headers: await signIn(client, await newPerson(client, 'developer', [appId])) }
  return { word, app, own, found }
}

describe('a search', () => {
  test('finds a record of each kind by a part of its name, in upper or lower case', async () => {
    const { word, app, own, found } = await named()
    for (const text of [word, word.toUpperCase(), word.toLowerCase(), word.slice(2)])
      expect(await find(text, own)).toEqual(found)
    for (const as of [own, undefined]) {
      expect(await find(`${word}-0001`, as)).toEqual(found.slice(0, 1))
      expect(await find(app.appId, as)).toEqual(found.slice(2, 3))
      expect(await find(app.appId.slice(0, 12), as)).toEqual(found.slice(2, 3))
      expect(await find(`${word}?`, as)).toEqual([])
    }
    expect(await find(`%${word.slice(1)}`, own)).toEqual([])
  })

  test('answers eight of a kind at most, exact matches first', async () => {
    const { word, app, own } = await named()
    const serials = Array.from({ length: 12 }, (_, place) => `${word}-1${String(place).padStart(3, '0')}`)
    const devices = serials.map((deviceNo) => deviceRow({ deviceNo }))
    await succeed('createDevices', { appId: app.appId, devices }, app)
    for (let place = 0; place < 9; place++) expectSuccess(await saveSiteOf(app, { siteName: `${word} ${place}` }))
    expectSuccess(await saveSiteOf(app, { siteName: word }))
    const found = await find(word, own)
    expect(found.filter(({ kind }) => kind === 'device')).toHaveLength(8)
    const sites = found.filter(({ kind }) => kind === 'site')
    expect(sites).toHaveLength(8)
    expect(sites[0]?.name).toBe(word)
    // A serial that equals the text comes before serials that begin with it, in any case of letters.
    const short = newSerial('fIND')
    for (let end = 1; end < 10; end++) {
      expectSuccess(await createDeviceOf(app, { deviceNo: `${short.toUpperCase()}-${end}` }))
    }
    expectSuccess(await createDeviceOf(app, { deviceNo: short.toLowerCase() }))
    expect((await find(short.toUpperCase()))[0]?.id).toBe(short.toLowerCase())
    expect((await find(serials[11] as string)).map(({ id }) => id)).toEqual([serials[11] as string])
    expect((await find(`${word}-100`)).map(({ id }) => id).toSorted()).toEqual(serials.slice(0, 8))
  })

  test('shows developers what is their applications’, and accounts to admins alone', async () => {
    const { word, app, found } = await named()
    const developer = await newPerson(client, 'developer', [app.appId])
    const own = await signIn(client, developer)
    const foreign = await newPerson(client, 'developer', [(await newApplication(client)).appId])
    for (const person of [foreign, await newPerson(client, 'developer')]) {
      const headers = await signIn(client, person)
      for (const text of [word, word.slice(2), `${word}-0001`]) expect(await find(text, { headers })).toEqual([])
    }
    expect(await find(word.slice(2), { headers: own })).toEqual(found)
    expect(await find(`${word}-0001`, { headers: own })).toEqual(found.slice(0, 1))
    const account: Found = { kind: 'operator', id: String(developer.id), appId: null, name: developer.name }
    expect(await find(developer.name)).toEqual([account])
    for (const role of ['operator', 'viewer']) {
      const headers = await signIn(client, await newPerson(client, role))
      expect(await find(developer.name, { headers })).toEqual([])
      expect((await find(word, { headers })).slice(0, 1)).toEqual(found.slice(0, 1))
    }
    expect(await find(developer.name, { headers: own })).toEqual([])
    expectRefusal(await client.call('search', { text: word }, app), 'notPermitted')
  })

  test('finds a refused write by its request id', async () => {
    const { app } = await named()
    const id = newSerial('req')
    const headers = { 'x-request-id': id }
    const refused = await client.call('saveBillingRule', { ruleName: '' }, { token: app.token, headers })
    expect(refused.code).toBe(10001)
    const expected: Found = { kind: 'request', id, appId: app.appId, name: 'saveBillingRule' }
    expect(await becomesTrue(async () => (await find(id)).length > 0)).toBe(true)
    expect(await find(id)).toEqual([expected])
    const foreign = await signIn(client, await newPerson(client, 'developer', [(await newApplication(client)).appId]))
    expect(await find(id, { headers: foreign })).toEqual([])
  })

  test('is refused without a text, with one that is too long, and with members that it does not know', async () => {
    const as = { token: client.operatorKey }
    for (const input of [{}, ...['', '  ', 'x'.repeat(129), 'a\u0000b'].map((text) => ({ text }))]) {
      expectFaults(await client.call('search', input as never, as), ['text'])
    }
    expectFaults(await client.call('search', { text: 'x', kind: 'device' } as never, as), ['kind'])
    expectRefusal(await client.call('search', { text: 'x' }), 'tokenInvalid')
    for (const text of ["'", '\\', '%', '_', '"; drop table device', '\u{10FFFF}', '😀', 'Ünïcode', '中文']) {
      expect(Array.isArray(await find(text))).toBe(true)
    }
  })
})
