import { afterAll, describe, expect, test } from 'bun:test'
import { createApplication, freezeApplication } from '../../src/applications/contract.ts'
import { createDevice } from '../../src/devices/contract.ts'
import { transferDevice } from '../../src/devices/ownership/contract.ts'
import { pageRefusals, type RefusalRecord } from '../../src/events/refusal-log/contract.ts'
import { type Found, search } from '../../src/service/search/contract.ts'
import { becomesTrue } from '../faults/support.ts'
import { Client, deviceBody, newApplication, newSerial, startService } from '../harness.ts'
import { newPerson, signIn } from '../people.ts'
import { expectFaults, expectSuccess } from './support.ts'

// Refusals of writes that name no application. All of them together have one limit a minute, which the tests of the
// shared service reach, so these have a service of their own.

const service = await startService()
const client = new Client(service)
afterAll(service.stop)

describe('refusals of no application', () => {
  test('are shown to operators alone', async () => {
    const app = await newApplication(client)
    const person = await newPerson(client, 'operator')
    const requestId = newSerial('req')
    const headers = { ...(await signIn(client, person)), 'x-request-id': requestId }
    const deviceNo = newSerial()
    const sent = [
      await client.call(transferDevice, { deviceNo, targetAppId: app.appId }, { headers }),
      await client.call(transferDevice, { deviceNo, targetAppId: app.appId, reason: 'moved' }, { headers }),
      await client.call(createApplication, { appName: '' }, { headers }),
      await client.call(freezeApplication, { appId: 'not-there', reason: 'x' }, { headers }),
    ]
    expect(sent.map(({ code }) => code)).toEqual([10001, 20002, 10001, 10004])
    const seen = async (as: Record<string, string>) =>
      expectSuccess(await client.call(pageRefusals, { requestId }, { headers: as })).list
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
    expect(expectSuccess(await client.call(pageRefusals, { requestId }, { token: app.token })).list).toEqual([])
  })

  test('come, with those of several applications, in the order of time where that is asked for', async () => {
    const [one, two] = [await newApplication(client), await newApplication(client)]
    const refusedCreate = ({ appId, token }: typeof one) =>
      client.call(createDevice, deviceBody(appId, { districtCode: '' }), { token })
    const ofOne = () => refusedCreate(one)
    const ofTwo = () => refusedCreate(two)
    const ofNone = () => client.operate(createApplication, { appName: ' ' })
    const ids: string[] = []
    for (const write of [ofTwo, ofNone, ofOne, ofTwo, ofNone, ofOne]) {
      ids.push((await write()).headers.get('x-request-id') ?? '')
      // Times are in whole milliseconds; refusals of the same one have no order between them.
      await Bun.sleep(2)
    }
    const byAll = (query: object) => client.operate(pageRefusals, query)
    const headers = await signIn(client, await newPerson(client, 'developer', [one.appId, two.appId]))
    const byMember = (query: object) => client.call(pageRefusals, query, { headers })
    const walk = async (ask: typeof byAll) => {
      const walked: RefusalRecord[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query = { sort: 'time', order: 'desc', pageSize: 2, cursor }
        const step: Awaited<ReturnType<typeof ask>>['data'] = expectSuccess(await ask(query))
        walked.push(...step.list)
        cursor = step.nextCursor
      }
      return walked.map(({ requestId }) => requestId).filter((id) => ids.includes(id))
    }
    await becomesTrue(async () => (await walk(byAll)).length === ids.length)
    expect(await walk(byAll)).toEqual(ids.toReversed())
    expect(await walk(byMember)).toEqual([5, 3, 2, 0].map((index) => ids[index] ?? ''))
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
    await client.call(createApplication, { appName: '' }, { ...as, headers: { 'x-request-id': id } })
    const find = async () => expectSuccess(await client.call(search, { text: id }, as)).list
    await becomesTrue(async () => (await find()).length > 0)
    const found: Found = { kind: 'request', id, appId: null, name: 'createApplication' }
    expect(await find()).toEqual([found])
  })
})
