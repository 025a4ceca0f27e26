import type postgres from 'postgres'

/** The application that gets the rows. */
export interface Owner {
  appId: string
}

/**
 * Fills every table through SQL with the rows `from` to `to` of one application: devices and all that belongs to them,
 * and a proportional number of other applications, sites, people and files. Rows of earlier calls stay. The events'
 * data are copied from real events, so one event of each type must exist.
 */
export async function fill(sql: postgres.Sql, { appId }: Owner, from: number, to: number): Promise<void> {
  const some = (share: number) =>
    sql`generate_series(${Math.ceil(from / share)}::int, ${Math.ceil(to / share) - 1}::int) as i`
  const all = some(1)
  // Microseconds since 1970, beginning an hour ago.
  const id = sql`((extract(epoch from now())::bigint - 3600) * 1000000 + i)`
  const bound = sql`timestamptz '2026-01-01' + i * interval '1 second'`
  const other = sql`'other ' || i % greatest(1, ${to}::int / 10)`
  const place = sql`'360000', '360100', '360102'`
  const device = sql`insert into device (app_id, bound_at, device_no, device_name, province_code, city_code, district_code,
    coordinates, model_name, online_status)`
  await sql`
    insert into application (app_id, app_name, secret_hash, token_lifetime_seconds, created_at)
    select 'other ' || i, 'Operator ' || i, md5(i::text), 7200, ${bound} from ${some(10)}`
  await sql`insert into application_lock select 'other ' || i from ${some(10)}`
  await sql`insert into event_head select 'other ' || i, ${id} from ${some(10)}`
  await sql`
    insert into third_party_config (app_id, operator_name, callback_events, updated_at)
    select 'other ' || i, 'Operator ' || i, '{}', now() from ${some(10)}`
  await sql`
    insert into device_binding (device_no, app_id, bound_at)
    select 'FILL-' || md5(i::text), ${appId}, ${bound} from ${all}
    union all select 'BESIDE-' || md5(i::text), ${other}, ${bound} from ${all}`
  await sql`
    ${device} select ${appId}, ${bound}, 'FILL-' || md5(i::text), 'Gate ' || i, ${place}, '115.9,28.7', 'model ' || i % 50, 1 + i % 2
    from ${all}
    union all select ${other}, ${bound}, 'BESIDE-' || md5(i::text), 'Gate ' || i, ${place}, '115.9,28.7', null, 2 from ${all}`
  await sql`
    insert into device_presence (app_id, device_no, reported_at, seen_at)
    select ${appId}, 'FILL-' || md5(i::text), now(), case when i % 2 = 0 then now() + interval '1 day' end from ${all}`
  await sql`
    insert into past_binding (device_no, app_id, bound_at, unbound_at, unbound_by)
    select 'FILL-' || md5(i::text), ${other}, ${bound} - interval '2 days', ${bound} - interval '1 day', 'operatorKey'
    from ${all}`
  await sql`
    with happened as (select distinct on (type) type, data from event),
    filled as (
      select ${appId} as app_id, ${id} as id,
        case i % 4 when 0 then 'site.updated' else 'device.bound' end as type,
        'application:' || ${appId}::text as actor,
        case i % 4 when 0 then (1000000 + i)::text else 'FILL-' || md5(i::text) end as subject from ${all} where i % 4 < 2
      union all
      select '', ${id}, case when i % 20 = 0 then 'import.created' else 'session.created' end,
        'operator:Somebody#' || i, i::text from ${all} where i % 10 = 0
      union all
      select ${other}, ${id} + ${to}::int, case when i % 5 = 0 then 'site.created' else 'device.bound' end,
        'operator:Somebody#7', i::text from ${all})
    insert into event (app_id, id, type, time, actor, subject, data)
    select app_id, id, type, now() - interval '1 hour', actor, subject, data from filled join happened using (type)`
  await sql`
    insert into state_change (app_id, id, time, reported_at, actor, device_no, status, online_status, run_status, before)
    select ${appId}, ${id}, now() - interval '1 hour', now(), 'application:' || ${appId}::text, 'FILL-' || md5(i::text),
      1, 1, 0, '{"onlineStatus":2}' from ${all} where i % 4 >= 2`
  await sql`
    insert into site (app_id, id, site_name, contacts, contacts_phone, customer_service_phone, business_week_day,
      business_start_time, business_closing_time, fast_rule_id, province_code, province_name, city_code, city_name,
      district_code, district_name, created_at)
    select case when i % 2 = 0 then ${appId} else ${other} end, 1000000 + i, 'Site ' || i, 'Person', '1', '1', 'always',
      '00:00:00', '24:00:00', 1000000 + i % 100, '360000', 'x', '360100', 'x', '360102', 'x', ${bound} from ${some(2)}`
  // Every second device is placed at a site, and has been placed there once before.
  await sql`
    insert into placement (app_id, id, device_no, bound_at, site_id, lane_type, placed_at, placed_by, removed_at, removed_by, site_name)
    select ${appId}, 1000000000 + 2 * i + ended, 'FILL-' || md5(i::text), ${bound}, 1000000 + i / 20 * 2, 1 + i % 4,
      ${bound} + ended * interval '-1 hour', 'operatorKey', case when ended = 1 then ${bound} end,
      case when ended = 1 then 'operatorKey' end, case when ended = 1 then 'Site' end
    from ${all} cross join generate_series(0, 1) as ended where i % 2 = 0`
  await sql`
    insert into billing_rule (app_id, id, rule_name, rule_type, created_at)
    select ${appId}, 1000000 + i, 'Rule ' || i, 3, ${bound} from ${some(10)}`
  // Each rule has had other terms, and each site other rules; some wait.
  await sql`
    insert into rule_terms (app_id, rule_id, from_at, change_id, is_written, unit_price)
    select ${appId}, 1000000 + i, (${bound}) + turn * interval '1 day', 0, true, abs(turn)::text
    from ${some(10)} cross join generate_series(-2, -1) as turn
    union all select ${appId}, 1000000 + i, '-infinity', 0, true, '1' from ${some(10)}`
  await sql`
    insert into site_rule (app_id, site_id, field, from_at, change_id, is_written, rule_id)
    select app_id, id, 1, case turn when 0 then '-infinity' else timestamptz '2026-01-01' + turn * interval '1 day' end,
      case when turn > 0 then 1000000000 else 0 end, turn <= 0, 1000000 + id % 100
    from site cross join generate_series(-2, 1) as turn where id >= 1000000 + ${from} and id < 1000000 + ${to}`
  await sql`
    insert into delivery (app_id, id, type, status, attempts, event_time, created_at, finished_at, attempt_log)
    select case when i % 2 = 0 then ${appId} else ${other} end, ${id}, 'device.bound', 2, 1, now(), now(), now(), '[]'
    from ${all}`
  await sql`
    insert into access_token (token_hash, app_id, generation, expires_at)
    select md5('token' || i), ${other}, 1, now() + interval '1 hour' from ${all}`
  await sql`
    insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
    select ${appId}, 'createDevice', 'key ' || i, '', '{}', now() from ${all}`
  await sql`
    insert into refusal (app_id, time, request_id, operation, code, actor)
    select case when i % 30 = 0 then ${appId} else ${other} end, now(), i::text, 'createDevice', 10001, 'x' from ${all}`
  await sql`
    insert into import (app_id, kind, format, is_dry_run, status, actor, finished_at)
    select case when i % 2 = 0 then ${appId} else ${other} end, 'devices', 'csv', false, 3, 'operatorKey', now()
    from ${some(10)}`
  await sql`insert into device_inventory select 'STOCK-' || md5(i::text), 'model', now() from ${all}`
  await sql`insert into device_model select 'PREFIX-' || md5(i::text), 'model ' || i, null, null, null, now() from ${some(10)}`
  await sql`
    insert into operator (name, role, password_hash, created_at)
    select 'Somebody ' || i, 'viewer', 'x', now() from ${some(10)}`
  await sql`
    insert into operator_session (token_hash, operator_id, address, created_at, seen_at, expires_at)
    select md5('session' || id), id, '', now(), now(), now() + interval '1 day' from operator
    where name like 'Somebody %' on conflict do nothing`
  await sql`
    insert into operator_key (name, role, key_hash, operator_id, created_by, created_at, expires_at)
    select 'Key ' || id, 'viewer', md5('key' || id), id, 'x', now(), now() + interval '1 day' from operator
    where name like 'Somebody %' on conflict do nothing`
  await sql`
    insert into saved_view (operator_id, page, name, created_at)
    select id, 'devices', 'Faulty', now() from operator where name like 'Somebody %' on conflict do nothing`
  await sql`
    insert into operator_application (operator_id, app_id)
    select id, ${appId} from operator where name like 'Somebody %' on conflict do nothing`
}
