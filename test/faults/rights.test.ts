import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keepHistory } from '../../src/events/history/store.ts'
import { Client } from '../kit/client.ts'
import { embeddedConnection, withSql } from '../kit/database.ts'
import { ownWorkplace } from '../kit/own-workplace.ts'
import { newApplication } from '../kit/records.ts'

// The rights in the embedded database of the role that serves requests.

const place = ownWorkplace()

const service = await place.startService({ env: { FORECOURT_EVENT_DAYS: '30', FORECOURT_STATE_DAYS: '5' } })
const { serviceUser, servicePassword } = JSON.parse(readFileSync(join(service.dataDir, 'embedded.json'), 'utf8'))
const owner = embeddedConnection(service.dataDir)
const role = { ...owner, user: serviceUser, password: servicePassword }
const appId = (await newApplication(new Client(service))).appId

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
  'alter table event add column forged text',
  'alter table event disable trigger all',
  'create rule forged as on insert to event do instead nothing',
  'merge into event v using (select 1) s on true when matched then delete',
  `insert into event select * from event on conflict (app_id, id) do update set actor = 'somebody else'`,
  'do $$ begin lock table event in exclusive mode; end $$',
  `update state_change set actor = 'somebody else'`,
  'delete from state_change',
  // The partitions are protected too.
  `update event_default set actor = 'somebody else'`,
  'delete from event_default',
  'truncate state_change_default',
  'drop table event_default',
  'alter table event detach partition event_default',
  `select add_history_partition('event', 0, 86400000000)`,
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
  `create or replace function keep_history(p_limit integer) returns table (name text, outcome text) language sql as 'select null, null'`,
  'update schema_migration set version = version + 1',
  'create database forged',
  // The owner drops functions that are listed here and unused for long, so the role must not list or rename any.
  `insert into routine (name, seen_at) values ('keep_history', 'epoch')`,
  `update routine set name = 'keep_history'`,
  'delete from routine',
])('as the service: %s is refused', async (statement) => {
  const refused = await withSql(role, (sql) => sql.unsafe(statement)).then(
    () => undefined,
    ({ code }) => code,
  )
  // 42501: insufficient privilege.
  expect(refused).toBe('42501')
})

test('the service says that it uses its routines', async () => {
  const updated = await withSql(role, (sql) => sql`update routine set seen_at = now()`)
  expect(updated.count).toBeGreaterThan(0)
})

test('the service still prunes what has had its days, and nothing that has not', async () => {
  const daysLeft = (table: string) =>
    withSql(owner, async (sql) => {
      const rows = await sql`
        select (extract(epoch from now())::bigint - id / 1000000) / 86400 as days from ${sql(table)}
        where app_id = ${appId} and actor = 'x' order by id desc`
      return rows.map(({ days }) => Number(days))
    })
  await withSql(owner, async (sql) => {
    const day = 86_400_000_000
    const today = Math.floor((Date.now() * 1000) / day) * day
    for (const [table, days] of [
      ['event', [60, 40, 31, 29]],
      ['state_change', [29, 6, 4]],
    ] as const) {
      for (const ago of days) {
        const first = today - ago * day
        await sql`select add_history_partition(${table}, ${first}::bigint, ${first + day}::bigint)`
        const row = { app_id: appId, id: first + 1, time: new Date(first / 1000), actor: 'x' }
        const state = { device_no: 'SN-1', status: 1, online_status: 1, run_status: 0, before: '{}' }
        const members = table === 'event' ? { type: 'device.bound', data: '{}' } : state
        await sql`insert into ${sql(table)} ${sql({ ...row, ...members })}`
      }
    }
  })
  expect([await daysLeft('event'), await daysLeft('state_change')]).toEqual([
    [29, 31, 40, 60],
    [4, 6, 29],
  ])
  const direct = await withSql(role, (sql) =>
    sql`select from event_default`.then(
      () => 'read',
      ({ code }) => code,
    ),
  )
  expect(direct).toBe('42501')
  const kept = await withSql(role, (sql) => keepHistory(sql))
  expect(kept.map(({ outcome }) => outcome)).toEqual(Array(5).fill('dropped'))
  expect([await daysLeft('event'), await daysLeft('state_change')]).toEqual([[29], [4]])
})
