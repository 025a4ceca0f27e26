import { expect } from 'bun:test'
import type postgres from 'postgres'
import { Client } from '../kit/client.ts'
import { deviceBody, type TestApplication } from '../kit/records.ts'
import type { Service } from '../kit/service.ts'
import type { Create } from './writers.ts'

// Checks of a restored database.

/** Checks conditions that hold at every moment in the life of a database. Returns those that are violated. */
export async function inconsistencies(sql: postgres.Sql): Promise<string[]> {
  const checks = {
    'devices without their binding': `select 1 from device d where not exists (
      select 1 from device_binding b where b.device_no = d.device_no and b.app_id = d.app_id and b.bound_at = d.bound_at)`,
    'bindings without their device': `select 1 from device_binding b where not exists (
      select 1 from device d where d.device_no = b.device_no and d.app_id = b.app_id)`,
    'devices without their event': `select 1 from device d where not exists (
      select 1 from event e where e.app_id = d.app_id and e.subject = d.device_no and e.type = 'device.bound')`,
    'events without their device': `select 1 from event e where e.type = 'device.bound' and not exists (
      select 1 from device d where d.app_id = e.app_id and d.device_no = e.subject)`,
    'sites without their event': `select 1 from site s where not exists (
      select 1 from event e where e.app_id = s.app_id and e.subject = s.id::text and e.type = 'site.created')`,
    'events past their log': 'select 1 from event e join event_head h using (app_id) where e.id > h.last_event_id',
    'applications without a lock':
      'select 1 from application a left join application_lock l using (app_id) where l is null',
    'sites past their sequence': 'select 1 from site where id > (select last_value from site_id)',
  }
  const wrong: string[] = []
  for (const [what, select] of Object.entries(checks)) if ((await sql.unsafe(select)).length > 0) wrong.push(what)
  return wrong
}

/**
 * Expects that a restored service works: it creates, its feed's ids rise, and it refuses or replays creates that exist
 * already.
 */
export async function expectServes(
  service: Service,
  { appId, token }: TestApplication,
  before: Create[],
): Promise<void> {
  const client = new Client(service)
  const device = before.find(({ kind }) => kind === 'device') as Create
  const again = await client.call('createDevice', device.body, { token })
  expect(again.status, again.text).toBe(409)
  const repeated = await client.call('createDevice', device.body, { token, headers: { 'idempotency-key': device.key } })
  expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
  const newest = async () => {
    const ids: number[] = []
    for (let afterId = 0; ; ) {
      const { data } = await client.call('pageEvents', { afterId, pageSize: 100 }, { token })
      ids.push(...data.list.map(({ id }) => id))
      if (data.list.length < 100) return ids
      afterId = ids.at(-1) as number
    }
  }
  const had = await newest()
  for (let made = 0; made < 3; made++) {
    expect((await client.call('createDevice', deviceBody(appId), { token })).code).toBe(0)
  }
  const has = await newest()
  expect(has).toEqual(has.toSorted((a, b) => a - b))
  expect(has.slice(0, had.length)).toEqual(had)
  expect(has).toHaveLength(had.length + 3)
  expect(await service.stop()).toBe(0)
}
