import { expect, test } from 'bun:test'
import { examine } from '../../src/cli/doctor.ts'
import { databaseIn, embeddedConnection, withSql } from '../kit/database.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial, siteBody } from '../kit/records.ts'
import { waitUntil } from '../kit/waits.ts'

// The overview of a separate service: what needs attention, and how recent its counts are.

const place = ownWorkplace()
const { service, client } = await place.start({})

const inDatabase: <T>(use: Parameters<typeof withSql<T>>[1]) => Promise<T> = (use) =>
  withSql(embeddedConnection(service.dataDir), use)
/** Makes the stored counts look old, so that the next request counts again. */
const makeOld = () =>
  databaseIn(service.dataDir).sql`update platform_count set counted_at = now() - interval '10 minutes'`
const overview = async (as?: { headers: Record<string, string> }) =>
  (await (as === undefined ? client.operate('getOverview', {}) : client.call('getOverview', {}, as))).data

type Found = Awaited<ReturnType<typeof overview>>['attention'][number]
const values = ({ values: listed }: Found) =>
  Object.fromEntries(listed.map(({ name, value }: { name: string; value: string }) => [name, value]))

test('a site whose faulty gates leave none online asks for attention, and sites without devices are counted', async () => {
  const app = await newApplication(client)
  const { appId, token } = app
  const newSite = async (siteName: string) =>
    (await client.call('saveSite', siteBody(appId, { siteName }), { token })).data.id
  const [dark, half, bare] = [await newSite('Dark'), await newSite('Half'), await newSite('Bare')]
  const place = async (siteId: number, states: { status: number; onlineStatus: number }[]) => {
    for (const state of states) {
      const { deviceNo } = (await client.call('createDevice', deviceBody(appId), { token })).data
      expect((await client.call('savePlacement', { appId, deviceNo, siteId, laneType: 3 }, { token })).code).toBe(0)
      expect((await client.call('reportDeviceState', { deviceNo, ...state }, { token })).code).toBe(0)
    }
  }
  const faulty = { status: 2, onlineStatus: 2 }
  await place(dark, [faulty, faulty, { status: 1, onlineStatus: 2 }])
  await place(half, [faulty, { status: 1, onlineStatus: 1 }])
  await makeOld()
  const { counts, attention, online } = await overview()
  expect(counts).toMatchObject({ sites: 3, sitesWithoutDevices: 1, devicesFaulty: 3, devicesOnline: 1 })
  const unreachable = attention.filter(({ code }: Found) => code === 'siteUnreachable')
  expect(unreachable.map(values)).toEqual([
    { appId, appName: expect.any(String), siteId: String(dark), siteName: 'Dark', count: '2' },
  ])
  expect(online.at(-1)).toEqual({ time: expect.any(String), devicesOnline: 1 })
  // The count leads to the site.
  const idsOf = async (hasDevices: 'true' | 'false') =>
    (await client.operate('pageSites', { hasDevices })).data.list.map(({ id }: { id: number }) => id).sort()
  expect(await idsOf('false')).toEqual([bare])
  expect(await idsOf('true')).toEqual([dark, half].sort())
})

test('a service with a database of its own and no backup asks for one', async () => {
  const missing: Found = { code: 'backupMissing', status: 'warn', values: [] }
  expect((await overview()).attention).toContainEqual(missing)
  expect((await client.operate('getServiceDetail', {})).data.findings).toContainEqual(missing)
  const found = await examine({ FORECOURT_DATA_DIR: service.dataDir, FORECOURT_PORT: '0' })
  const told = found.find(({ name }) => name === 'backup')
  expect(told).toMatchObject({
    status: 'warn',
    message: 'No backup has been taken yet.',
    todo: expect.stringContaining('--to'),
  })
})

test('what failed beside the requests asks for attention; why a backup failed is for admins alone', async () => {
  await inDatabase(async (sql) => {
    await sql`
      insert into import (kind, format, act, is_dry_run, status, actor, finished_at, error)
      values ('deviceInventory', 'csv', null, false, 4, 'operator:x#1', now(), 'the file is cut'),
        ('devices', null, 'unbind', false, 4, 'operator:x#1', now(), 'the act was cut'),
        ('devices', 'csv', null, false, 4, 'operator:x#1', now() - interval '2 days', 'long ago')`
    await sql`
      insert into backup_record (began_at, seconds, is_verified, failure)
      values (now(), 1, false, 'no room in /var/hidden')`
  })
  await makeOld()
  const as = async (role: string) => ({ headers: await signIn(client, await newPerson(client, role)) })
  const [admin, operator] = [await as('admin'), await as('operator')]
  // Findings about the service's surroundings are kept in memory for some seconds.
  const isTold = async () => (await overview(admin)).attention.some(({ code }: Found) => code === 'backupFailed')
  await waitUntil(isTold)
  const { attention } = await overview(admin)
  const of = (code: string) => attention.filter((found: Found) => found.code === code).map(values)
  expect(of('importFailed')).toMatchObject([{ kind: 'deviceInventory', reason: 'the file is cut' }])
  expect(of('actFailed')).toMatchObject([{ kind: 'devices', act: 'unbind', reason: 'the act was cut' }])
  expect(of('backupFailed')).toMatchObject([{ failure: 'no room in /var/hidden' }])
  const levels = attention.map(({ status }: Found) => status)
  expect(levels).toEqual(levels.toSorted())
  const seenBy = async (as: typeof admin) =>
    (await client.call('getOverview', {}, as)).text + (await client.call('getServiceDetail', {}, as)).text
  expect((await seenBy(admin)).split('/var/hidden')).toHaveLength(3)
  const seen = await seenBy(operator)
  expect(seen.split('backupFailed')).toHaveLength(3)
  expect(seen).not.toContain('hidden')
  await databaseIn(service.dataDir).sql`
    update backup_record set failure = null, began_at = now() - interval '27 hours'`
  const isLate = async () => (await overview(operator)).attention.some(({ code }: Found) => code === 'backupLate')
  await waitUntil(isLate)
})

test('the chart has as many refusals as the log, also past what the log keeps of a minute', async () => {
  const { appId, token } = await newApplication(client)
  const devices = Array.from({ length: 400 }, () => ({ ...deviceBody(appId), deviceNo: '' }))
  expect((await client.call('createDevices', { appId, devices }, { token })).code).toBe(0)
  // Neither contains refused reads and requests of unknown callers.
  expect((await client.call('getDevice', { deviceNo: 'NONE0001' }, { token })).code).not.toBe(0)
  expect((await client.call('createDevice', deviceBody(appId), { token: 'wrong' })).code).not.toBe(0)
  const logged = async () => (await client.operate('pageRefusals', {})).data.total as number
  const charted = async () =>
    (await overview()).minutes.reduce((sum: number, { refusals }: { refusals: number }) => sum + refusals, 0)
  await waitUntil(async () => (await logged()) >= 300)
  await waitUntil(async () => (await charted()) === (await logged()))
  // Beyond the newest thousand of an application, the oldest refusals are removed from the log and from the chart.
  const full = await newApplication(client)
  await databaseIn(service.dataDir).sql`
    with more as (
      insert into refusal (app_id, time, request_id, operation, code, actor)
      select ${full.appId}, now() - interval '2 hours' + i * interval '1 second', 'x', 'createDevice', 10001, 'application:x'
      from generate_series(1, 1000) as i returning time)
    insert into minute_figures (minute, creates, refusals)
    select date_trunc('minute', time), 0, count(*) from more group by 1
    on conflict (minute) do update set refusals = minute_figures.refusals + excluded.refusals`
  for (let made = 0; made < 3; made++) {
    const faulty = { ...deviceBody(full.appId), deviceNo: '' }
    expect((await client.call('createDevice', faulty, { token: full.token })).code).toBe(10001)
  }
  const newest = async () => (await client.operate('pageRefusals', { appId: full.appId, pageSize: 5 })).data
  const hasAll = ({ list }: { list: { requestId: string }[] }) =>
    list[2]?.requestId !== 'x' && list[3]?.requestId === 'x'
  await waitUntil(async () => hasAll(await newest()))
  expect((await newest()).total).toBe(1000)
  await waitUntil(async () => (await charted()) === (await logged()))
})

test('a look at old counts waits for new ones, with all others who look; one that waits in vain shows the old', async () => {
  const { appId, token } = await newApplication(client)
  const total = async () => (await client.operate('pageSites', {})).data.total
  await overview()
  expect((await client.call('saveSite', siteBody(appId, { siteName: newSerial('New') }), { token })).code).toBe(0)
  await makeOld()
  const looks = await Promise.all(Array.from({ length: 8 }, () => overview()))
  for (const { counts } of looks) expect(counts?.sites).toBe(await total())
  expect(new Set(looks.map(({ countTime }) => countTime)).size).toBe(1)

  await makeOld()
  await inDatabase((sql) =>
    sql.begin(async (tx) => {
      // As if another process counted and never finished.
      await tx`select pg_advisory_xact_lock(hashtextextended('overview', 0))`
      const { counts, countTime } = await overview()
      expect(counts?.sites).toBe(await total())
      expect(countTime && countTime < (looks[0]?.countTime ?? '')).toBe(true)
    }),
  )
})
