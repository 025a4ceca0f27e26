import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deleteOldEvents } from '../../src/events/store.ts'
import { Client, newApplication, type Service } from '../harness.ts'
import { type Connection, embeddedConnection, Workplace, withSql } from './support.ts'

// What the role that serves requests may do in the embedded database, and what not.

const place = new Workplace()
let service: Service
let owner: Connection
let role: Connection
let appId: string

beforeAll(async () => {
  service = await place.startService({ env: { FORECOURT_EVENT_DAYS: '30' } })
  const { serviceUser, servicePassword } = JSON.parse(readFileSync(join(service.dataDir, 'embedded.json'), 'utf8'))
  owner = embeddedConnection(service.dataDir)
  role = { ...owner, user: serviceUser, password: servicePassword }
  appId = (await newApplication(new Client(service))).appId
}, 120_000)
afterAll(() => place.clear(), 120_000)

test('every connection of a running service is of a role that is no superuser and owns nothing', async () => {
  const rows = await withSql(
    owner,
    (sql) => sql`
      select distinct usename::text as name, usesuper or usecreatedb or userepl or usebypassrls as is_mighty
      from pg_stat_activity join pg_user using (usename) where application_name like 'forecourt %'`,
  )
  expect(rows.map(({ name, is_mighty }) => [name, is_mighty])).toEqual([[role.user, false]])
  const owned = await withSql(owner, (sql) => sql`select from pg_class where relowner = ${role.user}::text::regrole`)
  expect(owned).toHaveLength(0)
})

test.each([
  `update event set actor = 'somebody else'`,
  'delete from event',
  'truncate event',
  'truncate event cascade',
  'drop table event',
  `alter table event add column forged text`,
  'alter table event disable trigger all',
  'create rule forged as on insert to event do instead nothing',
  'merge into event v using (select 1) s on true when matched then delete',
  `insert into event select * from event on conflict (app_id, id) do update set actor = 'somebody else'`,
  'do $$ begin lock table event in exclusive mode; end $$',
  `copy event to program 'id'`,
  `copy (select 1) to '/tmp/forecourt-was-here'`,
  `copy site from '/etc/passwd'`,
  `select pg_read_file('/etc/passwd')`,
  `select pg_ls_dir('/')`,
  `select lo_import('/etc/passwd')`,
  'create role forged superuser',
  `alter role forecourt password 'forged'`,
  'alter role forecourt_service superuser',
  'set role forecourt',
  'set session authorization forecourt',
  `alter system set archive_command = 'id'`,
  'create extension pg_stat_statements',
  'create table forged (id int)',
  'create temporary table forged (id int)',
  `create function forged() returns int language sql as 'select 1'`,
  `create or replace function delete_old_events(p_limit integer) returns integer language sql as 'select 1'`,
  'update schema_migration set version = version + 1',
  'create database forged',
  // What stands there, and is old, is dropped by the owner.
  `insert into routine (name, seen_at) values ('delete_old_events', 'epoch')`,
  `update routine set name = 'delete_old_events'`,
  'delete from routine',
])('as the service: %s is refused', async (statement) => {
  const refused = await withSql(role, (sql) => sql.unsafe(statement)).then(
    () => undefined,
    ({ code }) => code,
  )
  // Insufficient privilege.
  expect(refused).toBe('42501')
})

test('the service says that it uses its routines', async () => {
  const updated = await withSql(role, (sql) => sql`update routine set seen_at = now()`)
  expect(updated.count).toBeGreaterThan(0)
})

test('the service still prunes events that have had their days, and none that have not', async () => {
  await withSql(
    owner,
    (sql) => sql`
      insert into event (app_id, id, type, time, actor, data)
      select ${appId}, n - 1000, 'device.bound', now() - (61 - n) * interval '1 day', 'x', '{}' from generate_series(21, 40) as n`,
  )
  const removed = await withSql(role, (sql) => deleteOldEvents(sql, 100))
  expect(removed).toBe(11)
  const left = await withSql(owner, (sql) => sql`select from event where app_id = ${appId} and id < 0`)
  expect(left).toHaveLength(9)
})
