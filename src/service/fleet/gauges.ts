import { Gauge, Registry } from 'prom-client'
import { divisionName } from '../../regions/names.ts'
import { cached } from '../../runtime/cached.ts'
import { goneSeconds, listedOfAll, namedApplications, roundMs } from './rules.ts'
import { type Counted, type KnownApplication, type News, unreachableOf } from './store.ts'

export class KnownFleet {
  private applications = new Map<string, KnownApplication>()
  private last: (News & { readAt: number }) | undefined

  get round(): number {
    return this.last?.round ?? 0
  }

  /** Undefined before the first count. */
  get countedAt(): Date | undefined {
    return this.last?.countedAt
  }

  /** By the database's clock; one that was set back makes the count old. */
  get isOld(): boolean {
    if (this.last === undefined) return true
    const ageMs = this.last.now * 1000 - this.last.countedAt.getTime()
    return ageMs < 0 || ageMs >= roundMs
  }

  take(news: News): void {
    if (news.round < this.round) this.applications.clear()
    for (const application of news.applications) this.applications.set(application.app_id, application)
    this.last = { ...news, readAt: performance.now() }
  }

  /** Undefined before the first count. Uses the database's clock, however wrong this machine's is. */
  show(): Shown | undefined {
    if (this.last === undefined) return undefined
    const applications = [...this.applications.values()]
      .filter(({ is_frozen }) => !is_frozen)
      .sort((one, other) => other.counts.devices - one.counts.devices)
    return shownOf(applications, this.last.failing, this.last.now + (performance.now() - this.last.readAt) / 1000)
  }
}

type Sample = [labels: Record<string, string>, value: number]
type Shown = Record<keyof typeof gauges, Sample[]>

const ofApplication = ['app_id', 'app_name']
const ofSite = ['site_id', 'site_name', 'city']

const gauges = {
  forecourt_devices: {
    labels: [...ofApplication, 'state'],
    help: `Devices that have reported, by application and state; a faulty one is online or offline too. The ${namedApplications} applications with most devices have their own series; the others are summed under an empty app_id.`,
  },
  forecourt_devices_gone_offline: {
    labels: ofApplication,
    help: 'Devices that went offline within the last 30 minutes and still are.',
  },
  forecourt_sites: {
    labels: [...ofApplication, 'state'],
    help: 'Sites by application and state: reachable, unreachable, without_devices.',
  },
  forecourt_site_unreachable: {
    labels: [...ofApplication, ...ofSite],
    help: 'For how many seconds a site has had entrances, or exits, of which none is online; the longest first.',
  },
  forecourt_device_faulty: {
    labels: [...ofApplication, ...ofSite, 'device_no', 'device_name'],
    help: 'For how many seconds a device has been faulty; devices at a site first, the longest first.',
  },
  forecourt_callback_failing: {
    labels: [...ofApplication, 'state'],
    help: 'Seconds since the first of the failures in a row of a callback, by its state: failing, held, stopped.',
  },
  forecourt_fleet_uncounted: {
    labels: ['kind'],
    help: 'Sites, devices and applications without series of their own, because there are too many.',
  },
}

/** All gauges of a scrape are read within it. */
const scrapeMs = 10

/** A registry of its own, because all processes show the same. */
export function fleetRegistry(fleet: KnownFleet): Registry {
  const registry = new Registry()
  // Once for all gauges of a scrape.
  const shown = cached(async () => fleet.show(), scrapeMs)
  for (const name of Object.keys(gauges) as (keyof typeof gauges)[]) {
    new Gauge({
      name,
      help: gauges[name].help,
      labelNames: gauges[name].labels,
      registers: [registry],
      async collect() {
        const samples = (await shown())?.[name] ?? []
        this.reset()
        for (const [labels, value] of samples) this.set(labels, value)
      },
    })
  }
  return registry
}

function shownOf(applications: KnownApplication[], failing: News['failing'], now: number): Shown {
  const labelsOf = ({ app_id, app_name }: KnownApplication) => ({ app_id, app_name })
  const others = applications.slice(namedApplications)
  const rows = applications.slice(0, namedApplications).map((one) => ({ labels: labelsOf(one), of: [one] }))
  if (others.length > 0) rows.push({ labels: { app_id: '', app_name: '' }, of: others })
  const values = (read: (counted: Counted) => number, more = {}) =>
    rows.map(({ labels, of }): Sample => [{ ...labels, ...more }, sum(of.map(({ counts }) => read(counts)))])
  const states = (read: Record<string, (counted: Counted) => number>) =>
    Object.entries(read).flatMap(([state, one]) => values(one, { state }))
  const secondsSince = (since: number) => Math.max(0, Math.round(now - since))
  const names = new Map(applications.map((one) => [one.app_id, labelsOf(one)]))
  const [sites, devices] = [listed(applications, 'unreachableSites'), listed(applications, 'faultyDevices')]
  const left = (read: (counted: Counted) => number, shown: readonly unknown[]) =>
    Math.max(0, sum(applications.map(({ counts }) => read(counts))) - shown.length)
  return {
    forecourt_devices: states({
      online: ({ online }) => online,
      offline: ({ offline }) => offline,
      faulty: ({ faulty }) => faulty,
    }),
    forecourt_devices_gone_offline: values(({ gone }) =>
      sum(gone.map(({ minute, count }) => (minute > now - goneSeconds ? count : 0))),
    ),
    forecourt_sites: states({
      reachable: (counted) => Math.max(0, counted.sites - counted.withoutDevices - unreachableOf(counted)),
      unreachable: unreachableOf,
      without_devices: ({ withoutDevices }) => withoutDevices,
    }),
    forecourt_site_unreachable: sites.map(({ labels, one }) => [labels, secondsSince(one.since)]),
    forecourt_device_faulty: devices.map(({ labels, one }) => {
      const city = labels.city || (divisionName(one.cityCode) ?? '')
      return [{ ...labels, city, device_no: one.deviceNo, device_name: one.deviceName }, secondsSince(one.since)]
    }),
    forecourt_callback_failing: failing.flatMap(({ appId, state, since }): Sample[] => {
      const labels = names.get(appId)
      return labels === undefined ? [] : [[{ ...labels, state }, secondsSince(since)]]
    }),
    forecourt_fleet_uncounted: [
      [{ kind: 'site' }, left(unreachableOf, sites)],
      [{ kind: 'device' }, left(({ faulty }) => faulty, devices)],
      [{ kind: 'application' }, others.length],
    ],
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0)

function listed<List extends 'unreachableSites' | 'faultyDevices'>(applications: KnownApplication[], list: List) {
  const found = applications.flatMap(({ app_id, app_name, counts }) =>
    (counts[list] as Counted[List][number][]).map((one) => {
      const { siteId, siteName, city } = one
      const site = { site_id: String(siteId ?? ''), site_name: siteName ?? '', city: city ?? '' }
      return { one, labels: { app_id, app_name, ...site } }
    }),
  )
  const isWithout = ({ one }: (typeof found)[number]) => Number(one.siteId === null)
  return found.sort((a, b) => isWithout(a) - isWithout(b) || a.one.since - b.one.since).slice(0, listedOfAll)
}
