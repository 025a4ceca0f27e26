import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Found } from '../../src/service/search/contract.ts'
import { limits } from '../../src/vocabulary/limits.ts'
import { Client } from '../kit/client.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { type Service, startService } from '../kit/service.ts'
import { becomesTrue } from '../kit/waits.ts'
import { expectFaults, expectRefusal, expectSuccess, oauthMembers as oauth, walk } from './support.ts'

// Refusals of writes that name no application. All of them together have one limit a minute, which the tests of the
// shared service reach, so these have a service of their own.
// They are skipped for a deployment given by address.

const isElsewhere = process.env.FORECOURT_BASE_URL !== undefined
let service: Service
let client: Client
beforeAll(async () => {
  if (isElsewhere) return
  service = await startService({ env: { FORECOURT_LOG_LEVEL: 'info' } })
  client = new Client(service)
})
afterAll(() => service?.stop())

interface Line {
  level: number
  msg: string
  requestId?: string
  operation?: string
  actor?: string
  address?: string
}

describe.skipIf(isElsewhere)('refusals of no application', () => {
  test('are shown to operators alone', async () => {
    const app = await newApplication(client)
    const person = await newPerson(client, 'operator')
    const requestId = newSerial('req')
    const headers = { ...(await signIn(client, person)), 'x-request-id': requestId }
    const deviceNo = newSerial()
    const sent = [
      await client.call('transferDevice', { deviceNo, targetAppId: app.appId }, { headers }),
      await client.call('transferDevice', { deviceNo, targetAppId: app.appId, reason: 'moved' }, { headers }),
      await client.call('createApplication', { appName: '' }, { headers }),
      await client.call('freezeApplication', { appId: 'not-there', reason: 'x' }, { headers }),
    ]
    expect(sent.map(({ code }) => code)).toEqual([10001, 20002, 10001, 10004])
    const seen = async (as: Record<string, string>) =>
      expectSuccess(await client.call('pageRefusals', { requestId }, { headers: as })).list
    await becomesTrue(async () => (await seen(headers)).length >= sent.length)
    const told = (await seen(headers)).map(({ operation, code, subject }) => [operation, code, subject])
    expect(told.reverse()).toEqual([
      ['transferDevice', 10001, deviceNo],
      ['transferDevice', 20002, deviceNo],
      ['createApplication', 10001, ''],
      ['freezeApplication', 10004, null],
    ])
    // This log shows the person's name; the id, which the audit trail shows, is left out.
    const actor = `operator:${person.name}`
    expect(new Set((await seen(headers)).map((row) => [row.appId, row.actor].join()))).toEqual(new Set([`,${actor}`]))
    expect(await seen(await signIn(client, await newPerson(client, 'viewer')))).toHaveLength(sent.length)
    expect(await seen(await signIn(client, await newPerson(client, 'developer', [app.appId])))).toEqual([])
    expect(expectSuccess(await client.call('pageRefusals', { requestId }, { token: app.token })).list).toEqual([])
  })

  test('come, with those of several applications, in the order of time where that is asked for', async () => {
    const [one, two] = [await newApplication(client), await newApplication(client)]
    const ofOne = () => client.call('createDevice', {}, one)
    const ofTwo = () => client.call('createDevice', {}, two)
    const ofNone = () => client.operate('createApplication', { appName: ' ' })
    const ids: string[] = []
    for (const write of [ofTwo, ofNone, ofOne, ofTwo, ofNone, ofOne]) {
      ids.push((await write()).headers.get('x-request-id') ?? '')
      // Times are in whole milliseconds; refusals of the same one have no order between them.
      await Bun.sleep(2)
    }
    const byAll = (query: object) => client.operate('pageRefusals', query)
    const headers = await signIn(client, await newPerson(client, 'developer', [one.appId, two.appId]))
    const byMember = (query: object) => client.call('pageRefusals', query, { headers })
    const walked = async (ask: typeof byAll) => {
      const query = { sort: 'time', order: 'desc', pageSize: 2 }
      const rows = await walk(async (next) => expectSuccess(await ask({ ...query, ...next })))
      return rows.map(({ requestId }) => requestId).filter((id) => ids.includes(id))
    }
    await becomesTrue(async () => (await walked(byAll)).length === ids.length)
    expect(await walked(byAll)).toEqual(ids.toReversed())
    expect(await walked(byMember)).toEqual([5, 3, 2, 0].map((index) => ids[index] ?? ''))
    const oldest = expectSuccess(await byMember({ sort: 'time', pageSize: 100 })).list
    expect(oldest.map(({ requestId }) => requestId)).toEqual([0, 2, 3, 5].map((index) => ids[index] ?? ''))
    // The page's own order is by application.
    const own = expectSuccess(await byMember({})).list.map(({ appId }) => appId)
    expect(own).toEqual([one, one, two, two].map(({ appId }) => appId).toSorted())
    expectFaults(await byAll({ sort: 'code' }), ['sort'])
    expectFaults(await byAll({ order: 'desc' }), ['order'])
  })

  test('are found by the search for their request id', async () => {
    const id = newSerial('req')
    const as = { token: client.operatorKey }
    await client.call('createApplication', { appName: '' }, { ...as, headers: { 'x-request-id': id } })
    const find = async () => expectSuccess(await client.call('search', { text: id }, as)).list
    await becomesTrue(async () => (await find()).length > 0)
    const found: Found = { kind: 'request', id, appId: null, name: 'createApplication' }
    expect(await find()).toEqual([found])
  })
})

describe.skipIf(isElsewhere)('the log', () => {
  test('tells of failed client secrets and of what callers may not do, without what they sent, and is not flooded', async () => {
    const [owner, stranger] = [await newApplication(client), await newApplication(client)]
    const viewer = await newPerson(client, 'viewer')
    const grant = (client_id: string, client_secret: string) =>
      client.call('issueToken', { grant_type: 'client_credentials', client_id, client_secret })
    /** The log lines with this message, once `count` lines exist: a line may be written after the response. */
    async function linesOf(msg: string, count: number): Promise<Line[]> {
      const lines = () => {
        const whole = service.stderr().split('\n').slice(0, -1)
        const all: Line[] = whole.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
        return all.filter((line) => line.msg === msg)
      }
      await becomesTrue(() => lines().length >= count, 10_000)
      return lines()
    }

    const wrong = await grant(owner.appId, 'a-secret-that-is-wrong')
    expectRefusal(wrong, 'clientInvalid', oauth)
    expectRefusal(await grant('typed-into-the-wrong-field', 'a-secret-that-is-wrong'), 'clientInvalid', oauth)
    expect((await grant(owner.appId, owner.appSecret)).status).toBe(200)
    const [known, unknown, ...others] = await linesOf('client authentication failed', 2)
    const who = { operation: 'issueToken', actor: `application:${owner.appId}`, address: '127.0.0.1' }
    expect(known).toMatchObject({ level: 40, requestId: wrong.headers.get('x-request-id') ?? '', ...who })
    expect([unknown?.actor, others]).toEqual([undefined, []])

    const asked = { appId: owner.appId, deviceNo: 'SN00000001' }
    expectRefusal(await client.call('getDevice', asked, { token: stranger.token }), 'notPermitted')
    const headers = await signIn(client, viewer)
    expectRefusal(await client.call('createOperator', { name: 'x', role: 'admin' }, { headers }), 'notPermitted')
    expectSuccess(await client.call('getApplication', { appId: owner.appId }, { token: owner.token }))
    expect(await linesOf('request refused: missing permission', 2)).toMatchObject([
      { level: 30, operation: 'getDevice', actor: `application:${stranger.appId}`, address: '127.0.0.1' },
      { level: 30, operation: 'createOperator', actor: expect.stringMatching(/^operator:.+#\d+$/) },
    ])

    for (let index = 0; index < 3 * limits.refusalLinesAMinute; index++)
      expectRefusal(await grant('x', 'y'), 'clientInvalid', oauth)
    // The limit of lines holds for each kind of refusal alone, so other kinds are still logged.
    expectRefusal(await client.call('getDevice', asked, { token: stranger.token }), 'notPermitted')
    expect(await linesOf('request refused: missing permission', 3)).toHaveLength(3)
    const most = limits.refusalLinesAMinute
    expect(await linesOf('client authentication failed', most)).toHaveLength(most)
    for (const sent of ['a-secret-that-is-wrong', 'typed-into-the-wrong-field', owner.appSecret, 'SN00000001']) {
      expect(service.stderr()).not.toContain(sent)
    }
  })
})
