import { setTimeout as pause } from 'node:timers/promises'
import type { DeviceBatchRow, PlacementBatchRow, SiteBatchRow } from '#sdk/api'
import type { Forecourt } from '#sdk/forecourt'
import { rowsOf } from './all-rows.ts'
import { wholeNumber } from './arguments.ts'
import type { CliCommand } from './command.ts'
import { type Context, exitCodes } from './context.ts'
import { untilInterrupted } from './interrupts.ts'
import { progressBar } from './progress.ts'

interface DemoOptions {
  once?: true
  seconds?: number
  sites: number
  devices: number
}

type States = Map<string, import('./demo-fleet.ts').DemoState>

interface Member {
  appId: string
  appName: string
  /** Null if an earlier run created the application. */
  appSecret: string | null
  sites: number
  devices: string[]
}

const batchRows = 500
/** At this rate each of 5,000 devices reports several times within the service's default presence timeout. */
const tickMs = 2_000
const reportsOfTick = 150

export function demoCommands(program: CliCommand, context: Context): void {
  program
    .command('demo')
    .summary('create realistic demo data')
    .description(
      'Creates 3 applications with sites in real districts and devices at them, and reports device states until you press Ctrl-C. One application’s callback always fails. A second run reuses the existing records. Don’t use it on a production service.',
    )
    .option('--once', 'exit after all devices have reported once')
    .option('--seconds <number>', 'exit after this time', wholeNumber(1))
    .option('--sites <number>', 'number of sites', wholeNumber(3), 200)
    .option('--devices <number>', 'number of devices', wholeNumber(3), 5000)
    .example('demo')
    .example('demo --once --json', 'for scripts; the first run prints the application secrets')
    .action((options: DemoOptions) => runDemo(options, context))
}

async function runDemo({ once, seconds, sites, devices }: DemoOptions, context: Context): Promise<void> {
  const client = context.client()
  const ending = untilInterrupted()
  const deadline = seconds === undefined ? Number.POSITIVE_INFINITY : performance.now() + seconds * 1000
  const { demoApplications, demoModels } = await import('./demo-fleet.ts')
  const draw = progressBar(context)
  let done = 0
  const advance = (rows: number) => {
    done += rows
    draw('fleet', done, sites + 2 * devices)
  }
  for (const model of demoModels) await client.saveDeviceModel({ ...model, productPictureUrl: null })
  const members: Member[] = []
  let refused = 0
  for (const [index, application] of demoApplications.entries()) {
    if (ending.aborted) break
    const shares = { index, sites: share(sites, index), devices: share(devices, index) }
    const { member, refusals } = await makeMember(client, application, shares, advance)
    refused += refusals
    members.push(member)
  }
  draw('fleet', 1, 1)
  context.remark(`${members.length} applications ready: ${members.map(({ appName }) => appName).join(', ')}.`)
  let reports = 0
  const states: States = new Map()
  if (!ending.aborted) reports = await reportAll(client, members, states, ending)
  if (!once && !ending.aborted) {
    context.remark('Reporting device states. Press Ctrl-C to stop. The demo data is kept.')
    reports += await keepReporting(client, members, { states, deadline, signal: ending })
  }
  const applications = members.map(({ devices: serials, ...member }) => ({ ...member, devices: serials.length }))
  const outcome = { applications, reports, refused }
  const made = applications.map(
    (member) => `${member.appId}  ${member.appName}  ${member.sites} sites, ${member.devices} devices`,
  )
  context.result(outcome, [...made, `${reports} device states reported`].join('\n'))
  if (refused > 0) {
    context.remark(`${refused} rows were refused. To see why: \`forecourt refusals\`.`)
    context.exitCode = exitCodes.someRefused
  }
}

/** The last application gets the rest. */
function share(total: number, index: number): number {
  return Math.floor((total * (index + 1)) / 3) - Math.floor((total * index) / 3)
}

type Application = typeof import('./demo-fleet.ts')['demoApplications'][number]

async function makeMember(
  client: Forecourt,
  application: Application,
  wanted: { index: number; sites: number; devices: number },
  advance: (rows: number) => void,
): Promise<{ member: Member; refusals: number }> {
  const { demoSite, demoDevice } = await import('./demo-fleet.ts')
  const { appId, appSecret } = await findOrCreate(client, application)
  const rules = await findOrCreateRules(client, appId)
  // Each application begins at another place in the same list of districts.
  const sites = Array.from({ length: wanted.sites }, (_, index) => demoSite(wanted.index * 1000 + index, rules))
  const devices = Array.from({ length: wanted.devices }, (_, index) =>
    demoDevice(index, application.serialPrefix, appId, sites[index % sites.length] as SiteBatchRow),
  )

  const knownSites = new Set((await rowsOf(client.pageSites.all({ appId }))).map(({ siteName }) => siteName))
  const knownDevices = new Set((await rowsOf(client.pageDevices.all({ appId }))).map(({ deviceNo }) => deviceNo))
  const newSites = sites.filter(({ siteName }) => !knownSites.has(siteName))
  const newDevices = devices.filter(({ deviceNo }) => !knownDevices.has(deviceNo))
  advance(sites.length - newSites.length + devices.length - newDevices.length)

  let refusals = 0
  for (const rows of inBatches(newSites)) {
    const { results } = await client.saveSites({ appId, sites: rows })
    refusals += results.filter(({ code }) => code !== 0).length
    advance(rows.length)
  }
  const refusedDevices = new Set<string | null>()
  for (const rows of inBatches<DeviceBatchRow>(newDevices)) {
    const { results } = await client.createDevices({ appId, devices: rows })
    for (const { code, deviceNo } of results) if (code !== 0) refusedDevices.add(deviceNo)
    advance(rows.length)
  }
  const made = devices.map(({ deviceNo }) => deviceNo).filter((deviceNo) => !refusedDevices.has(deviceNo))
  refusals += await placeDevices(client, appId, { devices, sites, made: new Set(made) }, advance)
  return {
    member: { appId, appName: application.appName, appSecret, sites: sites.length, devices: made },
    refusals: refusals + refusedDevices.size,
  }
}

async function placeDevices(
  client: Forecourt,
  appId: string,
  { devices, sites, made }: { devices: DeviceBatchRow[]; sites: SiteBatchRow[]; made: Set<string> },
  advance: (rows: number) => void,
): Promise<number> {
  const { demoPlacement } = await import('./demo-fleet.ts')
  const siteIds = new Map((await rowsOf(client.pageSites.all({ appId }))).map(({ siteName, id }) => [siteName, id]))
  const placed = new Set((await rowsOf(client.pagePlacements.all({ appId }))).map(({ deviceNo }) => deviceNo))
  const placements = devices.flatMap(({ deviceNo }, index): PlacementBatchRow[] => {
    const siteId = siteIds.get(sites[index % sites.length]?.siteName ?? '')
    if (siteId === undefined || placed.has(deviceNo) || !made.has(deviceNo)) return []
    return [demoPlacement(index, deviceNo, siteId)]
  })
  advance(devices.length - placements.length)
  let refusals = 0
  for (const rows of inBatches(placements)) {
    const { results } = await client.savePlacements({ appId, placements: rows })
    refusals += results.filter(({ code }) => code !== 0).length
    advance(rows.length)
  }
  return refusals
}

async function findOrCreate(client: Forecourt, { appName, operatorName, ...rest }: Application) {
  const named = await rowsOf(client.pageApplications.all({ appName }))
  const [known] = named.filter((application) => application.appName === appName)
  if (known !== undefined) return { appId: known.appId, appSecret: null }
  const callback =
    'callbackUrl' in rest ? { callbackUrl: rest.callbackUrl, callbackEvents: ['site.created' as const] } : {}
  return client.createApplication({
    appName,
    rateLimitPerSecond: null,
    thirdPartyConfig: { operatorName, ...callback },
  })
}

async function findOrCreateRules(client: Forecourt, appId: string) {
  const { demoRules } = await import('./demo-fleet.ts')
  const known = await rowsOf(client.pageBillingRules.all({ appId }))
  const ids: number[] = []
  for (const rule of demoRules) {
    const same = known.find(({ ruleName }) => ruleName === rule.ruleName)
    const { id } =
      same ?? (await client.saveBillingRule({ appId, ...rule, periods: 'periods' in rule ? [...rule.periods] : null }))
    ids.push(id)
  }
  const [fastChargeBillRuleId, rushingBillRuleId, placeholderBillRuleId] = ids
  return { fastChargeBillRuleId, rushingBillRuleId, placeholderBillRuleId }
}

async function reportAll(client: Forecourt, members: Member[], states: States, signal: AbortSignal): Promise<number> {
  let reports = 0
  for (const { appId, devices } of members) {
    for (const serials of inBatches(devices)) {
      if (signal.aborted) return reports
      reports += await report(client, appId, serials, states)
    }
  }
  return reports
}

async function keepReporting(
  client: Forecourt,
  members: Member[],
  { states, deadline, signal }: { states: States; deadline: number; signal: AbortSignal },
): Promise<number> {
  const queue = members.flatMap(({ appId, devices }) =>
    inBatches(devices, reportsOfTick).map((serials) => ({ appId, serials })),
  )
  let reports = 0
  for (let turn = 0; queue.length > 0 && !signal.aborted && performance.now() < deadline; turn++) {
    const { appId, serials } = queue[turn % queue.length] as (typeof queue)[number]
    reports += await report(client, appId, serials, states)
    await pause(Math.max(0, Math.min(tickMs, deadline - performance.now())), undefined, { signal }).catch(() => {})
  }
  return reports
}

async function report(client: Forecourt, appId: string, serials: string[], states: States): Promise<number> {
  const { nextReport } = await import('./demo-fleet.ts')
  const reports = serials.map((deviceNo) => {
    const { report, state } = nextReport(deviceNo, states.get(deviceNo))
    states.set(deviceNo, state)
    return report
  })
  const { results } = await client.reportDeviceStates({ appId, reports })
  return results.filter(({ code }) => code === 0).length
}

function inBatches<Row>(rows: readonly Row[], size = batchRows): Row[][] {
  const count = Math.ceil(rows.length / size)
  return Array.from({ length: count }, (_, index) => rows.slice(index * size, (index + 1) * size))
}
