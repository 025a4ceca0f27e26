import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { saveBillingRule, updateBillingRule } from '../src/billing-rules/contract.ts'
import { createDevice, updateDevice } from '../src/devices/contract.ts'
import { unbindDevice } from '../src/devices/ownership/contract.ts'
import { savePlacement } from '../src/devices/placement/contract.ts'
import { reportDeviceState } from '../src/devices/state/contract.ts'
import { saveSite, updateSite } from '../src/sites/contract.ts'
import { pagePriceChanges, schedulePriceChange } from '../src/sites/price-changes/contract.ts'
import { forecourt } from './cli/support.ts'
import { Client } from './kit/client.ts'
import { contractOf } from './kit/contracts.ts'
import { deviceBody, newApplication, siteBody } from './kit/records.ts'
import type { Service } from './kit/service.ts'
import { becomesTrue } from './kit/waits.ts'

// What a release leaves for the tests of every later version: a backup of one application with records of each kind,
// and what the release told of them. A restore makes the schema by the release's own migrations, fills it, and then
// applies the later ones, so it is a test of upgrades too.

const files = { backup: 'backup.fcb', told: 'told.json' }

/** Operations that read the application, by the name under which their answers are kept. */
function reads(client: Client, { appId, siteId, time }: Place) {
  const page = { appId, pageSize: 100 } as const
  return {
    sites: client.operate('pageSites', page),
    devices: client.operate('pageDevices', page),
    rules: client.operate('pageBillingRules', page),
    placements: client.operate('pagePlacements', page),
    priceChanges: client.operate('pagePriceChanges', page),
    events: client.operate('pageEvents', page),
    prices: client.operate('getSitePrices', { appId, id: siteId, time }),
    config: client.operate('getThirdPartyConfig', { appId }),
  }
}

interface Place {
  appId: string
  siteId: number
  /** When the site was created, in whole seconds. */
  time: string
}

interface Kept extends Place {
  version: string
  told: Record<string, unknown>
}

async function tell(client: Client, place: Place): Promise<Kept['told']> {
  const entries = Object.entries(reads(client, place)).map(async ([name, answer]) => {
    const { code, data } = await answer
    // Cursors are of one version only.
    const { nextCursor: _, ...kept } = (data ?? {}) as Record<string, unknown>
    return [name, { code, ...kept }]
  })
  return Object.fromEntries(await Promise.all(entries))
}

/** Makes records of each kind in a service of this version, and keeps a backup and what the service tells, in a folder. */
export async function keepRelease(service: Service, folder: string, version: string): Promise<void> {
  const client = new Client(service)
  const { appId } = await newApplication(client, { appName: 'Kept' })
  const done: Client['operate'] = async (operation, input) => {
    const answer = await client.operate(operation, input)
    if (answer.code !== 0) throw new Error(`${contractOf(operation).id}: ${answer.text}`)
    return answer
  }
  const day = (price: string) => [{ startTime: '00:00:00', electricityPrice: price, servicePrice: '0.4' }]
  const fast = await done(saveBillingRule, { appId, ruleName: 'Fast', ruleType: 1, periods: day('0.8') })
  const other = await done(saveBillingRule, { appId, ruleName: 'Other', ruleType: 1, periods: day('0.9') })
  const site = await done(saveSite, siteBody(appId, { fastChargeBillRuleId: fast.data.id }))
  const { id: siteId, createTime: time } = site.data
  await done(updateSite, { appId, id: siteId, fastChargeBillRuleId: other.data.id })
  await done(updateBillingRule, { appId, id: other.data.id, periods: day('1.1') })
  await done(schedulePriceChange, {
    appId,
    billingRuleId: fast.data.id,
    effectiveTime: new Date(Math.ceil(Date.now() / 1000 + 2) * 1000).toISOString(),
    periods: day('1.2'),
  })
  const devices = ['KEPT-1', 'KEPT-2', 'KEPT-3'].map((deviceNo) => deviceBody(appId, { deviceNo }))
  for (const device of devices) await done(createDevice, device)
  await done(savePlacement, { appId, deviceNo: 'KEPT-1', siteId, laneType: 1 })
  await done(updateDevice, { appId, deviceNo: 'KEPT-1', deviceName: 'West gate' })
  await done(reportDeviceState, { appId, deviceNo: 'KEPT-2', onlineStatus: 1, status: 2 })
  await done(unbindDevice, { appId, deviceNo: 'KEPT-3', reason: 'kept' })
  const isApplied = async () => (await done(pagePriceChanges, { appId })).data.list[0]?.status === 2
  if (!(await becomesTrue(isApplied))) throw new Error('the price change was not applied')
  const place = { appId, siteId, time }
  const kept: Kept = { version, ...place, told: await tell(client, place) }
  const failed = Object.entries(kept.told).filter(([, answer]) => (answer as { code: number }).code !== 0)
  if (failed.length > 0) throw new Error(`not read: ${JSON.stringify(failed)}`)
  const ended = await forecourt(['backup', join(folder, files.backup)], { FORECOURT_DATA_DIR: service.dataDir })
  if (ended.code !== 0) throw new Error(ended.stderr)
  writeFileSync(join(folder, files.told), `${JSON.stringify(kept, null, 1)}\n`)
}

export const keptBackup = (folder: string) => join(folder, files.backup)

/** What the release told, and what a service that has its backup tells. */
export async function compareKept(folder: string, service: Service): Promise<{ told: unknown; tells: unknown }> {
  const kept: Kept = JSON.parse(readFileSync(join(folder, files.told), 'utf8'))
  return { told: kept.told, tells: await tell(new Client(service), kept) }
}
