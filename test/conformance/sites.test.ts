import { describe, expect, test } from 'bun:test'
import { pageEvents } from '../../src/events/contract.ts'
import { deleteSite, getSite, pageSites, type SiteRecord, saveSite, updateSite } from '../../src/sites/contract.ts'
import { newApplication, siteBody, type TestApplication } from '../harness.ts'
import { client, expectFaults, expectRefusal, expectSuccess, newRule, saveSiteOf } from './support.ts'

const owner = await newApplication(client)

async function newSite(application: TestApplication, members: Record<string, unknown> = {}): Promise<SiteRecord> {
  return expectSuccess(await saveSiteOf(application, members))
}

function update({ token }: TestApplication, body: Record<string, unknown>, headers: Record<string, string> = {}) {
  return client.call(updateSite, body, { token, headers })
}

function detail({ token }: TestApplication, id: number) {
  return client.call(getSite, { id }, { token })
}

function remove({ token }: TestApplication, body: Record<string, unknown>, headers: Record<string, string> = {}) {
  return client.call(deleteSite, body, { token, headers })
}

/** The site's events, oldest first. */
async function eventsOf({ token }: TestApplication, siteId: number) {
  return expectSuccess(await client.call(pageEvents, { siteId, pageSize: '100' }, { token })).list
}

async function everyMember(application: TestApplication) {
  return {
    sitePictureUrl: 'https://example.com/a.jpg',
    fastChargeBillRuleId: await newRule(application, 1),
    rushingBillRuleId: await newRule(application, 2),
    placeholderBillRuleId: await newRule(application, 3),
    ipcIds: '17,18',
    detailAddress: 'No. 1 Yangming Road',
    coordinates: '115.899918 , -0.0000001',
  }
}

const unknownId = 999_999_999_999

describe('getSite', () => {
  test('answers byte for byte the record that saveSite answered', async () => {
    for (const members of [{}, await everyMember(owner), { siteName: '"\\ 东湖 𠮷', coordinates: '-0,-90.0' }]) {
      const saved = await saveSiteOf(owner, members)
      expect((await detail(owner, expectSuccess(saved).id)).text).toBe(saved.text)
    }
  })

  test('answers an ETag, whether the application names itself or not, and to an operator', async () => {
    const site = await newSite(owner)
    const plain = await detail(owner, site.id)
    expect(plain.headers.get('etag')).toMatch(/^"[\w-]{22}"$/)
    for (const appId of [owner.appId, '']) {
      const named = await client.call(getSite, { appId, id: site.id }, { token: owner.token })
      expect([named.text, named.headers.get('etag')]).toEqual([plain.text, plain.headers.get('etag')])
    }
    expect((await client.operate(getSite, { appId: owner.appId, id: site.id })).text).toBe(plain.text)
  })
})

describe('updateSite', () => {
  test('changes the members that are given and leaves the others', async () => {
    const site = await newSite(owner, await everyMember(owner))
    const change = { siteName: '东湖充电站', businessClosingTime: '24:00:00', coordinates: '116.4,39.9' }
    const updated = expectSuccess(await update(owner, { id: site.id, ...change }))
    expect(updated).toEqual({ ...site, ...change, longitude: 116.4, latitude: 39.9 })
    expect(Object.keys(updated)).toEqual(Object.keys(site))
    expect(expectSuccess(await detail(owner, site.id))).toEqual(updated)
  })

  test('changes every member that create takes', async () => {
    const site = await newSite(owner)
    const { appId, ...members } = siteBody(owner.appId)
    const texts = Object.keys(members).filter((member) => !member.startsWith('business'))
    const change = {
      ...Object.fromEntries(texts.map((member) => [member, `new ${member}`.slice(0, 12)])),
      businessWeekDay: 'weekdays',
      businessStartTime: '09:00:00',
      businessClosingTime: '02:00:00',
      ...(await everyMember(owner)),
    }
    const updated = expectSuccess(await update(owner, { id: site.id, ...change }))
    const { id, createTime } = site
    expect<unknown>(updated).toEqual({ id, appId, createTime, longitude: 115.899918, latitude: -1e-7, ...change })
    expect(expectSuccess(await detail(owner, site.id))).toEqual(updated)
  })

  for (const empty of [null, '']) {
    test(`clears optional members that are given as ${JSON.stringify(empty)}, coordinates with their numbers`, async () => {
      const members = await everyMember(owner)
      const site = await newSite(owner, members)
      const cleared = Object.fromEntries(Object.keys(members).map((member) => [member, empty]))
      const updated = expectSuccess(await update(owner, { id: site.id, ...cleared }))
      const nulls = Object.fromEntries(Object.keys(members).map((member) => [member, null]))
      expect<unknown>(updated).toEqual({ ...site, ...nulls, longitude: null, latitude: null })
      expect(expectSuccess(await detail(owner, site.id))).toEqual(updated)
    })
  }

  test('refuses a required member that is given as nothing, and names every faulty member', async () => {
    const site = await newSite(owner)
    const { appId, ...members } = siteBody(owner.appId)
    for (const empty of [null, '', 5]) {
      const change = Object.fromEntries(Object.keys(members).map((member) => [member, empty]))
      expectFaults(await update(owner, { id: site.id, ...change }), Object.keys(members))
    }
    const reasons = expectFaults(
      await update(owner, {
        coordinates: '28.676493,115.899918',
        fastChargeBillRuleId: 'x',
        businessStartTime: '24:00',
      }),
      ['id', 'coordinates', 'fastChargeBillRuleId', 'businessStartTime'],
    )
    expect(reasons.coordinates).toContain('longitude comes first')
    expect(expectSuccess(await detail(owner, site.id))).toEqual(site)
  })

  test('ignores members that it does not know, also those that only the service decides', async () => {
    const site = await newSite(owner)
    const sent = { createTime: '2001-01-01 00:00:00', longitude: 1, latitude: 2, colour: 'red', fastRuleId: 5 }
    expect(expectSuccess(await update(owner, { id: site.id, ...sent }))).toEqual(site)
  })

  test('writes one event with the record that it answers, and none when nothing changes', async () => {
    const site = await newSite(owner, { ipcIds: '17' })
    const { id } = site
    for (const same of [{}, { siteName: site.siteName }, { detailAddress: null }, { ...site, appId: '' }]) {
      const answer = await update(owner, { ...same, id })
      expect(expectSuccess(answer)).toEqual(site)
      expect(answer.headers.get('etag')).toBe((await detail(owner, id)).headers.get('etag') as string)
    }
    const updated = expectSuccess(await update(owner, { id, ipcIds: '17,18' }))
    const operated = expectSuccess(await client.operate(updateSite, { appId: owner.appId, id, contacts: 'Li Na' }))
    const by = `application:${owner.appId}`
    expect((await eventsOf(owner, id)).map(({ type, actor, data }) => ({ type, actor, data }))).toEqual([
      { type: 'site.created', actor: by, data: site },
      { type: 'site.updated', actor: by, data: updated },
      { type: 'site.updated', actor: 'operator:operator', data: operated },
    ])
  })

  test('answers one refusal for an unknown site and for another application’s, and changes neither', async () => {
    const stranger = await newApplication(client)
    const site = await newSite(owner)
    const { id } = site
    const unknown = await update(stranger, { id: unknownId, siteName: 'taken over' })
    expectRefusal(unknown, 'siteNotFound')
    expect((await update(stranger, { id, siteName: 'taken over' })).text).toBe(unknown.text)
    expectRefusal(await client.operate(updateSite, { appId: stranger.appId, id, siteName: 'x' }), 'siteNotFound')
    expectRefusal(await update(stranger, { appId: owner.appId, id, siteName: 'x' }), 'notPermitted')
    expectFaults(await client.operate(updateSite, { id, siteName: 'x' }), ['appId'])
    expectRefusal(await client.operate(updateSite, { appId: 'no-such-application', id }), 'applicationNotFound')
    expect(expectSuccess(await detail(owner, id))).toEqual(site)
  })
})

const ruleFields = [
  { field: 'fastChargeBillRuleId', type: 1, other: 2 },
  { field: 'rushingBillRuleId', type: 2, other: 3 },
  { field: 'placeholderBillRuleId', type: 3, other: 1 },
] as const

describe('the billing rules that updateSite gives', () => {
  test.each(ruleFields)('$field takes a rule of type $type of this application, and no other', async (ruleField) => {
    const { field, type, other } = ruleField
    const stranger = await newApplication(client)
    const site = await newSite(owner)
    const { id } = site
    const rule = await newRule(owner, type)
    for (const unknown of [0, unknownId, await newRule(stranger, type)]) {
      expectFaults(await update(owner, { id, siteName: 'x', [field]: unknown }), [field], 'billingRuleNotFound')
    }
    const wrong = { id, siteName: 'x', [field]: await newRule(owner, other) }
    expectFaults(await update(owner, wrong), [field], 'billingRuleWrongType')
    expect(expectSuccess(await detail(owner, id))).toEqual(site)
    expect(expectSuccess(await update(owner, { id, [field]: rule }))).toEqual({ ...site, [field]: rule })
  })

  test('are all named when they do not exist, before one that has another type', async () => {
    const site = await newSite(owner)
    const fast = await newRule(owner, 1)
    const { id } = site
    const none = { fastChargeBillRuleId: 0, rushingBillRuleId: 0, placeholderBillRuleId: 0 }
    expectFaults(await update(owner, { id, ...none }), Object.keys(none), 'billingRuleNotFound')
    const mixed = { fastChargeBillRuleId: fast, rushingBillRuleId: fast, placeholderBillRuleId: 0 }
    expectFaults(await update(owner, { id, ...mixed }), ['placeholderBillRuleId'], 'billingRuleNotFound')
    const wrong = { fastChargeBillRuleId: fast, rushingBillRuleId: fast, placeholderBillRuleId: fast }
    const fields = ['rushingBillRuleId', 'placeholderBillRuleId']
    expectFaults(await update(owner, { id, ...wrong }), fields, 'billingRuleWrongType')
  })

  test('are looked at after whose site it is and whether it is the one that was read', async () => {
    const site = await newSite(owner)
    expectRefusal(await update(owner, { id: unknownId, fastChargeBillRuleId: 0 }), 'siteNotFound')
    const stale = await update(owner, { id: site.id, fastChargeBillRuleId: 0 }, { 'if-match': '"other"' })
    expectRefusal(stale, 'preconditionFailed')
  })
})

describe('deleteSite', () => {
  test('answers the record as it was; nobody finds the site any more, and one event tells of it', async () => {
    const site = await newSite(owner, await everyMember(owner))
    const { id } = site
    const deleted = await remove(owner, { id })
    expect(expectSuccess(deleted)).toEqual(site)
    expectRefusal(await detail(owner, id), 'siteNotFound')
    expectRefusal(await update(owner, { id, siteName: 'x' }), 'siteNotFound')
    expectRefusal(await remove(owner, { id }), 'siteNotFound')
    const { list } = expectSuccess(await client.call(pageSites, { pageSize: '100' }, { token: owner.token }))
    expect(list.map((one) => one.id)).not.toContain(id)
    const events = await eventsOf(owner, id)
    expect(events.map(({ type }) => type)).toEqual(['site.created', 'site.deleted'])
    expect(events.at(-1)?.data).toEqual(site)
  })

  test('answers one refusal for an unknown site and for another application’s, and deletes neither', async () => {
    const stranger = await newApplication(client)
    const { id } = await newSite(owner)
    const unknown = await remove(stranger, { id: unknownId })
    expectRefusal(unknown, 'siteNotFound')
    expect((await remove(stranger, { id })).text).toBe(unknown.text)
    expectRefusal(await remove(stranger, { appId: owner.appId, id }), 'notPermitted')
    expectFaults(await client.operate(deleteSite, { id }), ['appId'])
    expectRefusal(await client.operate(deleteSite, { appId: stranger.appId, id }), 'siteNotFound')
    expectFaults(await remove(owner, {}), ['id'])
    expectSuccess(await detail(owner, id))
    expectSuccess(await client.operate(deleteSite, { appId: owner.appId, id }))
    expectRefusal(await detail(owner, id), 'siteNotFound')
  })
})

describe('If-Match', () => {
  test('lets an update through while the site is the one that was read, and refuses it afterwards', async () => {
    const { id } = await newSite(owner)
    const read = (await detail(owner, id)).headers.get('etag') ?? ''
    const first = await update(owner, { id, siteName: 'first' }, { 'if-match': read })
    expect(expectSuccess(first).siteName).toBe('first')
    const second = await update(owner, { id, siteName: 'second' }, { 'if-match': read })
    expectRefusal(second, 'preconditionFailed')
    expect(second.data).toBeNull()
    const now = await detail(owner, id)
    expect(now.data.siteName).toBe('first')
    expect(now.headers.get('etag')).toBe(first.headers.get('etag') as string)
    expectSuccess(await update(owner, { id, siteName: 'second' }, { 'if-match': first.headers.get('etag') ?? '' }))
    expect((await eventsOf(owner, id)).map(({ type }) => type)).toEqual([
      'site.created',
      'site.updated',
      'site.updated',
    ])
  })

  test('lets a delete through while the site is the one that was read, and refuses it afterwards', async () => {
    const { id } = await newSite(owner)
    const read = (await detail(owner, id)).headers.get('etag') ?? ''
    const updated = await update(owner, { id, contacts: 'Li Na' })
    expectRefusal(await remove(owner, { id }, { 'if-match': read }), 'preconditionFailed')
    expectSuccess(await detail(owner, id))
    expectSuccess(await remove(owner, { id }, { 'if-match': updated.headers.get('etag') ?? '' }))
  })

  test('of a site that is not there is siteNotFound', async () => {
    expectRefusal(await update(owner, { id: unknownId }, { 'if-match': '"other"' }), 'siteNotFound')
    expectRefusal(await remove(owner, { id: unknownId }, { 'if-match': '*' }), 'siteNotFound')
  })
})

test('what an idempotency key has kept is the record of its time, whatever became of the site', async () => {
  const { appId, token } = owner
  const [body, options] = [siteBody(appId), { token, headers: { 'idempotency-key': 'kept-over-changes' } }]
  const saved = await client.call(saveSite, body, options)
  const { id } = expectSuccess(saved)
  expectSuccess(await update(owner, { id, siteName: 'changed' }))
  expect((await client.call(saveSite, body, options)).text).toBe(saved.text)
  expectSuccess(await remove(owner, { id }))
  expect((await client.call(saveSite, body, options)).text).toBe(saved.text)
  expectRefusal(await detail(owner, id), 'siteNotFound')
})
