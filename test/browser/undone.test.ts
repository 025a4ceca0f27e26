import { describe, expect } from 'bun:test'
import { newApplication } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'
import { newRule, newSite } from './records.ts'
import { client, expectSound, longBrowserTest, visit } from './support.ts'

/** An application with a change of a rule's terms and one of a site's rules, both in force. */
async function changed() {
  const app = await newApplication(client)
  const { appId, token } = app
  const [rule, other] = [await newRule(app, 1, 'Now'), await newRule(app, 1, 'Then')]
  const site = await newSite(app, { fastChargeBillRuleId: rule })
  const soon = () => new Date(Math.ceil(Date.now() / 1000) * 1000 + 3_000).toISOString().replace('.000', '')
  const periods = [{ startTime: '00:00:00', electricityPrice: '0.9999', servicePrice: '0.5' }]
  const ofRule = { appId, effectiveTime: soon(), billingRuleId: other, periods }
  const ofSites = { appId, effectiveTime: soon(), sites: { ids: [site.id] }, rules: { fastChargeBillRuleId: other } }
  for (const body of [ofRule, ofSites]) {
    const { code, text } = await client.call('schedulePriceChange', body, { token })
    expect(code, text).toBe(0)
  }
  const list = async () => (await client.call('pagePriceChanges', {}, { token })).data.list
  expect(await becomesTrue(async () => (await list()).every(({ appliedTime }) => appliedTime !== null))).toBe(true)
  return { ...app, changes: await list() }
}

describe('the list of price changes', () => {
  longBrowserTest('offers to undo what can be undone, and says what was', async () => {
    const { appId, token, changes } = await changed()
    const undo = (id: number) => client.call('undoPriceChange', { appId, id, reason: 'too dear' }, { token })
    const visited = await visit(`/console/price-changes?appId=${appId}`, { role: 'operator' })
    const { page } = visited
    const offers = page.getByRole('button', { name: /^Undo the price change of / })
    const undone = page.getByRole('cell', { name: 'Undone', exact: true })
    await offers.nth(1).waitFor()
    expect(await undone.count()).toBe(0)
    const undos: number[] = []
    for (const { id } of changes) undos.push((await undo(id)).data.id)
    await page.reload()
    await undone.nth(1).waitFor()
    // An undo can be undone like any other change.
    await offers.nth(1).waitFor()
    expect(await offers.count()).toBe(2)
    await expectSound(visited, 'Scheduled price changes')
    for (const id of undos) expect((await undo(id)).code).toBe(0)
    await page.reload()
    await undone.nth(1).waitFor()
    // The changes hold again: the undos are undone, the changes are not.
    await offers.nth(3).waitFor()
    expect(visited.faults).toEqual([])
  })
})
