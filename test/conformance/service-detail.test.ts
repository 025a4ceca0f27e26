import { expect, test } from 'bun:test'
import { settings } from '../../src/config.ts'
import { getServiceDetail } from '../../src/service/detail/contract.ts'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication } from '../kit/records.ts'
import { client, expectSuccess, succeed } from './support.ts'

// The service's database, disk and processes, for the people who operate it.

const of = async (role: 'admin' | 'operator') => ({
  headers: await signIn(client, await newPerson(client, role)),
})

test('getServiceDetail tells what the service runs on, and what it finds, by codes', async () => {
  expect(getServiceDetail.path).toBe('/api/platform/v1/service/detail')
  const detail = await succeed('getServiceDetail', {})
  expect(detail.version).toMatch(/^\d+\.\d+\.\d+/)
  expect(detail.runtime).toMatch(/^(Bun|Node) \d+\.\d+\.\d+/)
  expect(detail.databaseVersion).toMatch(/^\d+/)
  expect(detail.startTime).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  expect(detail.databaseBytes).toBeGreaterThan(5_000_000)
  const codes = detail.findings.map(({ code }) => code)
  expect(codes).toContain('database')
  for (const code of ['durability', 'connections', 'replication', 'clock', 'workers', 'backup', 'callbacks']) {
    expect(codes).toContainEqual(expect.stringMatching(new RegExp(`^${code}`)))
  }
  const levels = detail.findings.map(({ status }) => ['fail', 'warn', 'ok'].indexOf(status))
  expect(levels).toEqual(levels.toSorted((a, b) => a - b))
})

test('getServiceDetail tells what each table holds, the largest first, and for how long', async () => {
  await newApplication(client)
  const { tables, forecast } = await succeed('getServiceDetail', {})
  const named = new Map(tables.map((table) => [table.name, table]))
  for (const name of ['device', 'site', 'event', 'state_change', 'delivery', 'operator']) {
    expect(named.get(name)?.bytes).toBeGreaterThan(0)
  }
  expect(named.get('event')?.setting).toBe('FORECOURT_EVENT_DAYS')
  expect(named.get('event')?.keptDays).toBeGreaterThan(0)
  expect(named.get('device')).toMatchObject({ keptDays: null, setting: null })
  // Partitions are not listed: they count as their table.
  expect(tables.filter(({ name }) => /\d|default/.test(name))).toEqual([])
  const sizes = tables.map(({ bytes }) => bytes)
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a))
  // A service needs some hours to know its growth.
  if (forecast !== null) expect(forecast.months).toHaveLength(12)
})

test('getServiceDetail shows settings to admins alone, and secrets to nobody', async () => {
  const asAdmin = await client.call('getServiceDetail', {}, await of('admin'))
  const shown = expectSuccess(asAdmin).settings ?? []
  expect(shown.map(({ name }) => name)).toEqual(Object.values(settings).map(({ name }) => name))
  const secret = shown.filter(({ isSecret }) => isSecret)
  expect(secret.map(({ name }) => name)).toContain('DATABASE_URL')
  for (const { value } of secret) expect(value).toBeNull()
  expect(shown.find(({ name }) => name === 'FORECOURT_TIME_ZONE')?.value).toContain('/')
  expect(asAdmin.text).not.toContain(client.operatorKey)
  expect(asAdmin.text).not.toMatch(/postgres(ql)?:\/\//)

  expect((await succeed('getServiceDetail', {}, await of('operator'))).settings).toBeNull()
})
