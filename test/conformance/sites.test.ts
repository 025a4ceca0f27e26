import { describe, expect, test } from 'bun:test'
import type { SiteRecord } from '../../src/sites/contract.ts'
import { newApplication, siteBody, type TestApplication } from '../kit/records.ts'
import { client, expectFaults, expectSuccess, newRule, saveSiteOf } from './support.ts'

const owner = await newApplication(client)

async function newSite(application: TestApplication, members: Record<string, unknown> = {}): Promise<SiteRecord> {
  return expectSuccess(await saveSiteOf(application, members))
}

function update({ token }: TestApplication, body: Record<string, unknown>, headers: Record<string, string> = {}) {
  return client.call('updateSite', body, { token, headers })
}

function detail({ token }: TestApplication, id: number) {
  return client.call('getSite', { id }, { token })
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

describe('getSite', () => {
  test('answers byte for byte the record that saveSite answered', async () => {
    for (const members of [{}, await everyMember(owner), { siteName: '"\\ 东湖 𠮷', coordinates: '-0,-90.0' }]) {
      const saved = await saveSiteOf(owner, members)
      expect((await detail(owner, expectSuccess(saved).id)).text).toBe(saved.text)
    }
  })
})

describe('updateSite', () => {
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
})
