import { afterAll, describe, expect } from 'bun:test'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '../kit/client.ts'
import { projectFolder } from '../kit/folders.ts'
import { deviceBody, newApplication, newSerial, siteBody, type TestApplication } from '../kit/records.ts'
import { freePort } from '../kit/replicated.ts'
import { longTest, tell } from '../kit/scale.ts'
import { sleep, waitUntil } from '../kit/waits.ts'
import { Workplace } from '../kit/workplace.ts'

// Prometheus and Alertmanager beside the service, with the files of deploy/: how many messages people get of an incident.
// Scrapes, evaluations, counts and the first message take as long as they do anywhere. What only waits (until an alert ends,
// and until a group is sent again) is ten times as short, and so is a device's flapping.

const prometheus = Bun.which('prometheus')
const alertmanager = Bun.which('prometheus-alertmanager') ?? Bun.which('alertmanager')
const place = new Workplace()
const running: ChildProcess[] = []
afterAll(async () => {
  for (const child of running) if (child.kill('SIGTERM')) await once(child, 'exit')
  await place.clear()
}, 60_000)

interface Message {
  at: number
  status: 'firing' | 'resolved'
  alerts: { labels: Record<string, string> }[]
}

const read = (path: string) => readFileSync(join(projectFolder, 'deploy', path), 'utf8')
const tenth = (text: string, members: string) =>
  text.replaceAll(
    new RegExp(`(${members}): (\\d+)m`, 'g'),
    (_, member, minutes) => `${member}: ${Number(minutes) * 6}s`,
  )

/** Starts both programs for a service, and a receiver of their messages. */
async function startAlerts(url: string, key: string) {
  const folder = place.newFolder()
  const messages: Message[] = []
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      messages.push({ at: Date.now(), ...((await request.json()) as Omit<Message, 'at'>) })
      return new Response()
    },
  })
  const [prometheusPort, alertmanagerPort] = [await freePort(), await freePort()]
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  mkdirSync(join(folder, 'secrets'), { recursive: true })
  write('secrets/robot_token', 'token')
  write('forecourt.key', key)
  copyFileSync(join(projectFolder, 'deploy/prometheus/alerts.yaml'), join(folder, 'alerts.yaml'))
  const rules = read('prometheus/fleet-alerts.yaml')
  // A tenth of the 2 minutes also, because a device flaps ten times as fast.
  write(
    'fleet-alerts.yaml',
    tenth(rules, 'keep_firing_for').replace(
      '(forecourt_site_unreachable) >= 120',
      '(forecourt_site_unreachable) >= 12',
    ),
  )
  write(
    'prometheus.yaml',
    read('prometheus/prometheus.yaml')
      .replace('/etc/prometheus/forecourt.key', join(folder, 'forecourt.key'))
      .replace('127.0.0.1:8080', new URL(url).host)
      .replace('127.0.0.1:9093', `127.0.0.1:${alertmanagerPort}`),
  )
  write(
    'alertmanager.yaml',
    tenth(read('alertmanager/alertmanager.yaml'), 'group_interval')
      .replace('receiver: mail', 'receiver: robot')
      .replace('http://127.0.0.1:8060/forecourt', `http://127.0.0.1:${receiver.port}/`),
  )
  const start = (program: string | null, ...args: string[]) => {
    const child = spawn(program ?? '', args, { cwd: folder, stdio: 'ignore' })
    running.push(child)
  }
  start(
    alertmanager,
    '--config.file=alertmanager.yaml',
    '--storage.path=alertmanager',
    '--cluster.listen-address=',
    `--web.listen-address=127.0.0.1:${alertmanagerPort}`,
  )
  start(
    prometheus,
    '--config.file=prometheus.yaml',
    '--storage.tsdb.path=prometheus',
    `--web.listen-address=127.0.0.1:${prometheusPort}`,
  )
  const isScraped = async () => {
    const query = `http://127.0.0.1:${prometheusPort}/api/v1/query?query=forecourt_fleet_uncounted`
    const answer = await fetch(query).catch(() => undefined)
    return (await answer?.text())?.includes('"kind":"site"') === true
  }
  await waitUntil(isScraped, 90_000)
  const isOfFleet = ({ alerts }: Message) => alerts.some(({ labels }) => rules.includes(`alert: ${labels.alertname}`))
  return {
    /** The messages about the fleet, and those about the service, since a moment. */
    since: (moment: number) => ({
      fleet: messages.filter((message) => message.at >= moment && isOfFleet(message)),
      service: messages.filter((message) => message.at >= moment && !isOfFleet(message)),
    }),
  }
}

const namesOf = (messages: readonly Message[]) =>
  messages.map(
    ({ status, alerts }) => `${status} ${[...new Set(alerts.map(({ labels }) => labels.alertname))].join(' ')}`,
  )

/** Creates sites with four gates each, two entrances and two exits, all of them online. */
async function newFleet(client: Client, app: TestApplication, sites: number, lanes = [1, 1, 2, 2]) {
  const { appId, token } = app
  const bodies = Array.from({ length: sites }, () => siteBody(appId))
  const saved = (await client.call('saveSites', { appId, sites: bodies }, { token })).data.results
  const siteIds = saved.map(({ data }) => (data as { id: number }).id)
  const serials = siteIds.flatMap(() => lanes.map(() => newSerial()))
  const devices = serials.map((deviceNo) => deviceBody(appId, { deviceNo }))
  expect((await client.call('createDevices', { appId, devices }, { token })).code).toBe(0)
  const placements = serials.map((deviceNo, n) => ({
    deviceNo,
    siteId: siteIds[Math.floor(n / lanes.length)] ?? 0,
    laneType: lanes[n % lanes.length] as 1,
  }))
  expect((await client.call('savePlacements', { appId, placements }, { token })).code).toBe(0)
  await report(client, app, serials, 1)
  return serials
}

async function report(client: Client, { token }: TestApplication, serials: readonly string[], onlineStatus: 1 | 2) {
  const reports = serials.map((deviceNo) => ({ deviceNo, onlineStatus }))
  expect((await client.call('reportDeviceStates', { reports }, { token })).code).toBe(0)
}

describe.skipIf(prometheus === null || alertmanager === null)('people are told', () => {
  longTest(
    'once of silence and recovery, twice of a flapping gate, and of an outage by its own alert',
    async () => {
      const port = String(await freePort())
      const database = await place.findDatabase()
      const env = { DATABASE_URL: database.url(), FORECOURT_PORT: port, FORECOURT_PRESENCE_SECONDS: '86400' }
      const { service, client } = await place.start({ env })
      const app = await newApplication(client, { rateLimitPerSecond: null })
      const other = await newApplication(client, { rateLimitPerSecond: null })
      const serials = await newFleet(client, app, 250)
      const [gate = ''] = await newFleet(client, other, 1, [1])
      const alerts = await startAlerts(service.url, service.operatorKey)

      // 1,000 gates at 250 sites.
      await report(client, app, serials, 2)
      const silentAt = Date.now()
      await waitUntil(() => alerts.since(silentAt).fleet.length > 0, 120_000)
      tell(`the message came after ${Math.round((Date.now() - silentAt) / 1000)} s`)
      // Until the alerts of its sites would have come.
      await sleep(60_000)
      expect(namesOf(alerts.since(silentAt).fleet)).toEqual(['firing ForecourtApplicationSilent'])
      await report(client, app, serials, 1)
      const backAt = Date.now()
      await waitUntil(() => alerts.since(backAt).fleet.length > 0, 300_000)
      await sleep(60_000)
      expect(namesOf(alerts.since(backAt).fleet)).toEqual(['resolved ForecourtApplicationSilent'])

      // Three minutes, as thirty.
      const flapsFrom = Date.now()
      for (let n = 0; n < 3; n++) {
        await report(client, other, [gate], 2)
        await sleep(40_000)
        await report(client, other, [gate], 1)
        await sleep(20_000)
      }
      await sleep(180_000)
      expect(namesOf(alerts.since(flapsFrom).fleet)).toEqual([
        'firing ForecourtSiteUnreachable',
        'resolved ForecourtSiteUnreachable',
      ])

      // What fires stays while the service is away, and nothing of the fleet comes with it.
      await report(client, other, [gate], 2)
      await waitUntil(() => alerts.since(flapsFrom).fleet.length > 2, 120_000)
      await service.stop()
      const awayFrom = Date.now()
      await sleep(180_000)
      expect(namesOf(alerts.since(awayFrom).service)).toContain('firing ForecourtDown')
      expect(namesOf(alerts.since(awayFrom).fleet)).toEqual([])
      const again = await place.startService({ env: { ...env, FORECOURT_OPERATOR_KEY: service.operatorKey } })
      await report(new Client(again), other, [gate], 1)
      await waitUntil(() => alerts.since(awayFrom).fleet.length > 0, 300_000)
      expect(namesOf(alerts.since(awayFrom).fleet)).toEqual(['resolved ForecourtSiteUnreachable'])
      await again.stop()
    },
    1_800_000,
  )
})
