import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ahead, at, day, scheduledSoon, untilApplied } from '../conformance/price-support.ts'
import { client, expectSuccess, newRule, saveSiteOf } from '../conformance/support.ts'
import { newDataDir } from '../kit/folders.ts'
import { newApplication } from '../kit/records.ts'
import { command, forecourt } from './support.ts'

// The commands for prices from a date on.

const env = { FORECOURT_URL: client.url, FORECOURT_OPERATOR_KEY: client.operatorKey }
/** With an input, by a process that has it as its standard input. */
const price = (args: string[], input?: string) =>
  (input === undefined ? command : forecourt)(['price', ...args, '--json'], env, input)

test('price schedule, list and cancel: new terms of a rule, from a file or standard input', async () => {
  const application = await newApplication(client)
  const app = ['--app', application.appId]
  const rule = await newRule(application, 1)
  const file = join(newDataDir(), 'terms.json')
  writeFileSync(file, JSON.stringify({ periods: at('2') }))
  const asked = ['schedule', ...app, '--rule', String(rule), '--reason', 'spring']
  const made = await price([...asked, '--at', ahead(day), '--terms', file])
  expect(made).toMatchObject({ code: 0 })
  const change = JSON.parse(made.stdout)
  expect(change).toMatchObject({ status: 1, billingRuleId: rule, periods: at('2'), reason: 'spring' })
  const piped = await price([...asked, '--at', ahead(2 * day), '--terms', '-'], JSON.stringify({ periods: at('3') }))
  expect(piped).toMatchObject({ code: 0 })
  // The file may be a record: what is asked for beside it counts.
  const record = JSON.stringify({ ...change, id: 99, appId: 'another', effectiveTime: ahead(9 * day), reason: 'old' })
  const copied = JSON.parse((await price([...asked, '--at', ahead(3 * day), '--terms', '-'], record)).stdout)
  expect(copied).toMatchObject({ appId: application.appId, reason: 'spring', periods: at('2') })
  expect(new Date(copied.effectiveAt).getTime()).toBeLessThan(Date.now() + 4 * day)
  expect((await price(['cancel', String(copied.id), ...app, '--reason', 'not yet'])).code).toBe(0)
  const listed = JSON.parse((await price(['list', ...app, '--filter', 'status=1'])).stdout)
  expect(listed.map(({ id }: { id: number }) => id)).toEqual([JSON.parse(piped.stdout).id, change.id])
  const cancelled = await price(['cancel', String(change.id), ...app, '--reason', 'not yet'])
  expect(JSON.parse(cancelled.stdout)).toMatchObject({ id: change.id, status: 3, reason: 'not yet' })
  const again = await price(['cancel', String(change.id), ...app, '--reason', 'not yet'])
  expect([again.code, again.stderr]).toEqual([3, expect.stringContaining('40006')])
})

test('price schedule of other rules at sites counts them in a dry run, and price undo puts them back', async () => {
  const application = await newApplication(client)
  const app = ['--app', application.appId]
  const rule = await newRule(application, 1)
  for (const cityCode of ['360100', '360200']) expectSuccess(await saveSiteOf(application, { cityCode }))
  const asked = ['schedule', ...app, '--at', ahead(day), '--fast', String(rule), '--slow', 'none', '--dry-run']
  const dry = JSON.parse((await price([...asked, '--filter', 'cityCode=360200'])).stdout)
  const rules = { fastChargeBillRuleId: rule, rushingBillRuleId: null }
  expect(dry).toMatchObject({ id: null, siteCount: 1, rules })
  expect(JSON.parse((await price([...asked, '--all'])).stdout)).toMatchObject({ siteCount: 2 })
  const { id } = await scheduledSoon(application, { sites: { all: true }, rules })
  await untilApplied(application, id)
  const undone = JSON.parse((await price(['undo', String(id), ...app, '--reason', 'too dear'])).stdout)
  expect(undone).toMatchObject({ undoOf: id, siteCount: 2, skippedCount: 0 })
})

test('price schedule without a rule, sites, terms or rules is used wrongly', async () => {
  const application = await newApplication(client)
  const asked = ['schedule', '--app', application.appId, '--at', ahead(day)]
  const city = ['--filter', 'cityCode=360100', '--fast', '1']
  const wrongRules = ['12,13', '1O', ''].map((id) => [...city, '--filter', `billingRuleId=${id}`])
  for (const args of [[], ['--rule', '1'], ['--all'], ['--all', '--fast', 'x'], ...wrongRules]) {
    expect([args, (await price([...asked, ...args])).code]).toEqual([args, 2])
  }
})
