-- The functions of the write path, as a start makes them: put together from the routine.ts of each feature by
-- `npm run generate`. To be read; no migration. A name ends with a digest of its text.

create function register_devices_f8700ba41c36 (
  p_now timestamptz,
  p_catalogue_version bigint,
  p_apps text[],
  p_unknown text[],
  p_count integer,
  p_owners text[],
  p_serials text[],
  p_actors text[],
  p_keys text[],
  p_body_hashes text[],
  p_callers integer,
  p_caller_apps text[],
  p_caller_tokens text[],
  p_rows text,
  p_records text,
  p_is_dry boolean
) returns table (device_no text, outcome text, body_hash text, answer text, kept_at timestamptz)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $routine$
#variable_conflict use_column
declare
  v_app text;
  v_base bigint;
  v_bases bigint[] := '{}';
  v_online text[];
  v_kept text[] := '{}';
  v_bound text[];
  -- The serials of the batch that are bound, and their owners.
  v_held text[];
  v_holders text[];
  v_online_status smallint;
  v_revoked text[] := '{}';
  v_records text[] := string_to_array(p_records, E'
');
  v_is_complete boolean := false;
begin
  foreach v_app in array p_apps loop
    perform 1 from application_lock where app_id = v_app for update skip locked;
    if not found then
      perform set_config('lock_timeout', '25', true);
      perform 1 from application_lock where app_id = v_app for update;
      perform set_config('lock_timeout', '0', true);
    end if;
    update event_head
    set last_event_id = greatest(last_event_id, (extract(epoch from p_now) * 1000000)::bigint) + p_count
    where app_id = v_app returning last_event_id - p_count into v_base;
    v_bases := v_bases || v_base;
  end loop;
  if p_callers > 0 and (
      select count(*) from unnest(p_caller_tokens) as c (token_hash) cross join lateral (
        select 1 from access_token t where t.token_hash = c.token_hash and exists (
          select 1 from application a where a.app_id = t.app_id and a.status = 1 and t.expires_at > clock_timestamp() and (t.generation = a.token_generation
    or t.generation = a.token_generation - 1 and a.previous_secret_until > clock_timestamp())) limit 1) as living) < p_callers then
      v_revoked := array(
      select c.app_id from unnest(p_caller_apps, p_caller_tokens) as c (app_id, token_hash)
      where c.token_hash not like '% %' and not exists (
        select 1 from access_token t where t.token_hash = c.token_hash and exists (
          select 1 from application a where a.app_id = t.app_id and a.status = 1 and t.expires_at > clock_timestamp() and (t.generation = a.token_generation
    or t.generation = a.token_generation - 1 and a.previous_secret_until > clock_timestamp()))));
      if array_to_string(p_caller_tokens, '') like '% %' then
        v_revoked := v_revoked || array(
      select c.app_id from unnest(p_caller_apps, p_caller_tokens) as c (app_id, token_hash)
      where case
        when c.token_hash like 'session %' then not exists (
          select 1 from 
  operator_session s left join operator_key k on k.id = s.operator_key_id
    left join operator o on o.id = coalesce(s.operator_id, k.operator_id)
  where s.expires_at - now() > interval '0' -- not as a range, whose index holds the sessions of everybody
    and (s.operator_id is null
      or (o.status = 1 and not o.has_left and (o.password_hash is not null or exists (select 1 from operator_identity where operator_id = o.id))))
    and (k.id is null or 
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end is not null) and s.id = nullif(split_part(c.token_hash, ' ', 2), '')::bigint
            and coalesce(case when k.id is null then o.role else 
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end end, 'admin') = split_part(c.token_hash, ' ', 3) and (coalesce(case when k.id is null then o.role else 
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end end, 'admin') <> 'developer'
            or exists (select 1 from operator_application a where a.operator_id = o.id and a.app_id = c.app_id)))
        when c.token_hash like 'key %' then not exists (
          select 1 from operator_key k left join operator o on o.id = k.operator_id
          where k.id = nullif(split_part(c.token_hash, ' ', 2), '')::bigint and 
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end = split_part(c.token_hash, ' ', 3) and (
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end <> 'developer'
            or exists (select 1 from operator_application a where a.operator_id = o.id and a.app_id = c.app_id)))
        else false end);
      end if;
    end if;
  v_online := array(select app_id from application, device_catalogue
    where app_id = any(p_apps) and online_status = 1 and version = p_catalogue_version and app_id <> all(v_revoked));
  if p_keys <> '{}' then
    foreach v_app in array p_apps loop
      v_kept := v_kept || array(
        select v_app || ' ' || i.key from unnest(p_owners, p_keys) as i (app_id, key)
        cross join lateral (
    select key, body_hash, answer, created_at from idempotency_key
    where app_id = v_app and operation = 'createDevice' and key = i.key
      -- Not as a range of created_at: a plan that came by that index would read every key of a day.
      and created_at + interval '24 hours' > p_now
    limit 1) as kept where i.app_id = v_app);
    end loop;
  end if;

  with bound as (
    insert into device_binding (device_no, app_id, bound_at)
    select i.device_no, i.app_id, p_now from (select n, p_owners[n] as app_id, p_serials[n] as device_no, p_keys[n] as key from generate_series(1, cardinality(p_owners)) as n) as i
    where not p_is_dry and i.app_id = any(v_online) and i.device_no <> all(p_unknown)
      and (v_kept = '{}' or i.key is null or i.app_id || ' ' || i.key <> all(v_kept))
    on conflict (device_no) do nothing
    returning device_no
  )
  select array_agg(device_no) into v_bound from bound;

  if v_bound is not null then
    -- Nearly always true. To search for each row in v_bound would cost as much as to write it.
    v_is_complete := cardinality(v_bound) = p_count;
    insert into device (app_id, device_no, device_name, tag, province_code, city_code, district_code, detail_address, coordinates, model_name, product_picture_url, device_type, device_type_name, bound_at)
    select app_id, device_no, device_name, tag, province_code, city_code, district_code, detail_address, coordinates, model_name, product_picture_url, device_type, device_type_name, p_now from json_to_recordset(p_rows::json) as i (app_id text, device_no text, device_name text, tag text, province_code text, city_code text, district_code text, detail_address text, coordinates text, model_name text, product_picture_url text, device_type text, device_type_name text)
    where v_is_complete or i.device_no = any(v_bound);
    insert into event (app_id, id, type, time, actor, subject, data)
    select i.app_id, v_bases[array_position(p_apps, i.app_id)] + i.n, 'device.bound', p_now, i.actor, i.device_no, i.record
    from (select n, p_owners[n] as app_id, p_serials[n] as device_no, p_actors[n] as actor, v_records[n] as record from generate_series(1, cardinality(p_owners)) as n) as i
    where v_is_complete or i.device_no = any(v_bound);
    if p_keys <> '{}' then
      insert into idempotency_key (app_id, operation, key, body_hash, answer, created_at)
      select i.app_id, 'createDevice', i.key, i.body_hash, i.record, p_now
      from (select n, p_owners[n] as app_id, p_serials[n] as device_no, p_keys[n] as key, p_body_hashes[n] as body_hash, v_records[n] as record from generate_series(1, cardinality(p_owners)) as n) as i
      where i.key is not null and i.device_no = any(v_bound)
      on conflict (app_id, operation, key) do update
        set body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at;
    end if;
  end if;

  if v_is_complete then
    return;
  end if;
  select array_agg(b.device_no), array_agg(b.app_id) into v_held, v_holders from device_binding b
  where b.device_no = any(p_serials);
  foreach v_app in array p_apps loop
    v_online_status := (select online_status from application where app_id = v_app);
    return query
    select i.device_no,
      case
        when v_app = any(v_revoked) then 'revoked'
        when k.key is not null then 'replay'
        when v_online_status is null then 'applicationNotFound'
        when v_online_status <> 1 then 'applicationOffline'
        when held.app_id = v_app then 'deviceAlreadyYours'
        when held.app_id is not null then 'deviceBoundElsewhere'
        when (select version from device_catalogue where only_row) <> p_catalogue_version then 'again'
        when i.device_no = any(p_unknown) then 'deviceUnknown'
        when p_is_dry then 'free'
        else 'again'
      end,
      k.body_hash, k.answer, k.created_at
    from (select n, p_owners[n] as app_id, p_serials[n] as device_no, p_keys[n] as key from generate_series(1, cardinality(p_owners)) as n) as i
    left join unnest(v_held, v_holders) as held (device_no, app_id) on held.device_no = i.device_no
    left join lateral (
    select key, body_hash, answer, created_at from idempotency_key
    where app_id = v_app and operation = 'createDevice' and key = i.key
      -- Not as a range of created_at: a plan that came by that index would read every key of a day.
      and created_at + interval '24 hours' > p_now
    limit 1) as k on true
    where i.app_id = v_app and (v_bound is null or i.device_no <> all(v_bound));
  end loop;
end
$routine$;

create function note_repeats_d6869ea27afa (
  p_serials text[],
  p_owners text[],
  p_refresh_ms integer,
  p_callers integer,
  p_caller_apps text[],
  p_caller_tokens text[],
  p_times timestamptz[],
  p_status smallint[],
  p_online smallint[],
  p_run smallint[],
  p_remarks text[],
  p_versions text[],
  p_batteries bigint[],
  p_energies text[]
) returns table (app_id text, device_no text, device_name text, tag text, province_code text, city_code text, district_code text, detail_address text, coordinates text, model_name text, product_picture_url text, device_type text, device_type_name text, status smallint, online_status smallint, run_status smallint, status_remark text, version text, battery_status bigint, battery_energy text, bound_at timestamptz)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $routine$
#variable_conflict use_column
declare
  v_found text[];
  v_numbers integer[];
  v_owners text[];
  v_bounds timestamptz[];
  v_app text;
  v_now timestamptz := now();
  v_old timestamptz := now() - p_refresh_ms * interval '1 millisecond';
  v_revoked text[] := '{}';
begin
  perform set_config('synchronous_commit', 'off', true);
  if p_callers > 0 and (
      select count(*) from unnest(p_caller_tokens) as c (token_hash) cross join lateral (
        select 1 from access_token t where t.token_hash = c.token_hash and exists (
          select 1 from application a where a.app_id = t.app_id and a.status = 1 and t.expires_at > clock_timestamp() and (t.generation = a.token_generation
    or t.generation = a.token_generation - 1 and a.previous_secret_until > clock_timestamp())) limit 1) as living) < p_callers then
      v_revoked := array(
      select c.app_id from unnest(p_caller_apps, p_caller_tokens) as c (app_id, token_hash)
      where c.token_hash not like '% %' and not exists (
        select 1 from access_token t where t.token_hash = c.token_hash and exists (
          select 1 from application a where a.app_id = t.app_id and a.status = 1 and t.expires_at > clock_timestamp() and (t.generation = a.token_generation
    or t.generation = a.token_generation - 1 and a.previous_secret_until > clock_timestamp()))));
      if array_to_string(p_caller_tokens, '') like '% %' then
        v_revoked := v_revoked || array(
      select c.app_id from unnest(p_caller_apps, p_caller_tokens) as c (app_id, token_hash)
      where case
        when c.token_hash like 'session %' then not exists (
          select 1 from 
  operator_session s left join operator_key k on k.id = s.operator_key_id
    left join operator o on o.id = coalesce(s.operator_id, k.operator_id)
  where s.expires_at - now() > interval '0' -- not as a range, whose index holds the sessions of everybody
    and (s.operator_id is null
      or (o.status = 1 and not o.has_left and (o.password_hash is not null or exists (select 1 from operator_identity where operator_id = o.id))))
    and (k.id is null or 
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end is not null) and s.id = nullif(split_part(c.token_hash, ' ', 2), '')::bigint
            and coalesce(case when k.id is null then o.role else 
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end end, 'admin') = split_part(c.token_hash, ' ', 3) and (coalesce(case when k.id is null then o.role else 
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end end, 'admin') <> 'developer'
            or exists (select 1 from operator_application a where a.operator_id = o.id and a.app_id = c.app_id)))
        when c.token_hash like 'key %' then not exists (
          select 1 from operator_key k left join operator o on o.id = k.operator_id
          where k.id = nullif(split_part(c.token_hash, ' ', 2), '')::bigint and 
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end = split_part(c.token_hash, ' ', 3) and (
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end <> 'developer'
            or exists (select 1 from operator_application a where a.operator_id = o.id and a.app_id = c.app_id)))
        else false end);
      end if;
    end if;
  if v_revoked <> '{}' then
    return;
  end if;
  select array_agg(b.device_no), array_agg(b.app_id), array_agg(b.bound_at) into v_found, v_owners, v_bounds
  from (select device_no, app_id, bound_at from device_binding where device_no = any(p_serials) order by device_no) as b;
  if v_found = p_serials then
    v_numbers := array(select generate_series(1, cardinality(p_serials)));
  else
    -- Without a join: these routines allow only nested loops. Without "offset 0" the place would be sought twice.
    select array_agg(r.n), array_agg(v_owners[r.place]), array_agg(v_bounds[r.place])
    into v_numbers, v_owners, v_bounds
    from (
      select n, array_position(v_found, serial) as place
      from unnest(p_serials) with ordinality as u (serial, n) offset 0) as r
    where r.place is not null;
  end if;
  -- In the order of every writer: applications first, then devices, each sorted.
  foreach v_app in array array(select distinct owner from unnest(v_owners) as owner order by owner) loop
    return query
    with known as materialized (
      select d.*, p.*, i.number as n
      from (select n, v_numbers[n] as number, v_owners[n] as app_id, v_bounds[n] as bound_at from generate_series(1, cardinality(v_numbers)) as n) as i
      cross join lateral (
        select d.app_id, d.device_no, d.device_name, d.tag, d.province_code, d.city_code, d.district_code, d.detail_address, d.coordinates, d.model_name, d.product_picture_url, d.device_type, d.device_type_name, d.status, d.online_status, d.run_status, d.status_remark, d.version, d.battery_status, d.battery_energy, d.bound_at, d.ctid as place from device d
        where d.app_id = v_app and d.bound_at = i.bound_at and d.device_no = p_serials[i.number] limit 1) d
      left join lateral (
        select reported_at, seen_at, p.xmin as presence_version from device_presence p
        where p.app_id = v_app and p.device_no = p_serials[i.number] limit 1) p on true
      where i.app_id = v_app and p_owners[i.number] = v_app)
    update device_presence p set reported_at = greatest(p.reported_at, coalesce(p_times[k.n], v_now)),
      seen_at = case when p.seen_at <= v_old then v_now else p.seen_at end
    from known k
    where p.app_id = k.app_id /* v_app */ and p.device_no = k.device_no
      and p.xmin = k.presence_version and (p.seen_at is not null) = (k.online_status = 1)
      and (p_times[k.n] is null or p_times[k.n] >= k.reported_at)
      and (p_status[k.n] is null or p_status[k.n] = k.status) and (coalesce(p_online[k.n], 1::smallint) is null or coalesce(p_online[k.n], 1::smallint) = k.online_status) and (p_run[k.n] is null or p_run[k.n] = k.run_status) and (p_remarks[k.n] is null or p_remarks[k.n] = k.status_remark) and (p_versions[k.n] is null or p_versions[k.n] = k.version) and (p_batteries[k.n] is null or p_batteries[k.n] = k.battery_status) and (p_energies[k.n] is null or p_energies[k.n] = k.battery_energy)
    returning k.app_id, k.device_no, k.device_name, k.tag, k.province_code, k.city_code, k.district_code, k.detail_address, k.coordinates, k.model_name, k.product_picture_url, k.device_type, k.device_type_name, k.status, k.online_status, k.run_status, k.status_remark, k.version, k.battery_status, k.battery_energy, k.bound_at;
  end loop;
end
$routine$;

create function apply_reports_c1892189644a (
  p_now timestamptz,
  p_apps text[],
  p_count integer,
  p_lasts integer[],
  p_serials text[],
  p_owners text[],
  p_refresh_ms integer,
  p_callers integer,
  p_caller_apps text[],
  p_caller_tokens text[],
  p_times timestamptz[],
  p_compared boolean[],
  p_status smallint[],
  p_online smallint[],
  p_run smallint[],
  p_remarks text[],
  p_versions text[],
  p_batteries bigint[],
  p_energies text[],
  p_actors text[]
) returns table (app_id text, device_no text, device_name text, tag text, province_code text, city_code text, district_code text, detail_address text, coordinates text, model_name text, product_picture_url text, device_type text, device_type_name text, status smallint, online_status smallint, run_status smallint, status_remark text, version text, battery_status bigint, battery_energy text, bound_at timestamptz, n integer, is_changed boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $routine$
#variable_conflict use_column
declare
  v_app text;
  v_base bigint;
  v_bases bigint[] := '{}';
  v_found text[];
  v_numbers integer[];
  v_owners text[];
  v_bounds timestamptz[];
  v_revoked text[] := '{}';
  -- Times of reports are stored in milliseconds, and compared so. Citus rejects now() within a case.
  v_now timestamptz(3) := now();
  v_old timestamptz := now() - p_refresh_ms * interval '1 millisecond';
begin
  foreach v_app in array p_apps loop
    perform 1 from application_lock where app_id = v_app for update skip locked;
    if not found then
      perform set_config('lock_timeout', '25', true);
      perform 1 from application_lock where app_id = v_app for update;
      perform set_config('lock_timeout', '0', true);
    end if;
    update event_head
    set last_event_id = greatest(last_event_id, (extract(epoch from p_now) * 1000000)::bigint) + p_count
    where app_id = v_app returning last_event_id - p_count into v_base;
    v_bases := v_bases || v_base;
  end loop;
  if p_callers > 0 and (
      select count(*) from unnest(p_caller_tokens) as c (token_hash) cross join lateral (
        select 1 from access_token t where t.token_hash = c.token_hash and exists (
          select 1 from application a where a.app_id = t.app_id and a.status = 1 and t.expires_at > clock_timestamp() and (t.generation = a.token_generation
    or t.generation = a.token_generation - 1 and a.previous_secret_until > clock_timestamp())) limit 1) as living) < p_callers then
      v_revoked := array(
      select c.app_id from unnest(p_caller_apps, p_caller_tokens) as c (app_id, token_hash)
      where c.token_hash not like '% %' and not exists (
        select 1 from access_token t where t.token_hash = c.token_hash and exists (
          select 1 from application a where a.app_id = t.app_id and a.status = 1 and t.expires_at > clock_timestamp() and (t.generation = a.token_generation
    or t.generation = a.token_generation - 1 and a.previous_secret_until > clock_timestamp()))));
      if array_to_string(p_caller_tokens, '') like '% %' then
        v_revoked := v_revoked || array(
      select c.app_id from unnest(p_caller_apps, p_caller_tokens) as c (app_id, token_hash)
      where case
        when c.token_hash like 'session %' then not exists (
          select 1 from 
  operator_session s left join operator_key k on k.id = s.operator_key_id
    left join operator o on o.id = coalesce(s.operator_id, k.operator_id)
  where s.expires_at - now() > interval '0' -- not as a range, whose index holds the sessions of everybody
    and (s.operator_id is null
      or (o.status = 1 and not o.has_left and (o.password_hash is not null or exists (select 1 from operator_identity where operator_id = o.id))))
    and (k.id is null or 
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end is not null) and s.id = nullif(split_part(c.token_hash, ' ', 2), '')::bigint
            and coalesce(case when k.id is null then o.role else 
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end end, 'admin') = split_part(c.token_hash, ' ', 3) and (coalesce(case when k.id is null then o.role else 
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end end, 'admin') <> 'developer'
            or exists (select 1 from operator_application a where a.operator_id = o.id and a.app_id = c.app_id)))
        when c.token_hash like 'key %' then not exists (
          select 1 from operator_key k left join operator o on o.id = k.operator_id
          where k.id = nullif(split_part(c.token_hash, ' ', 2), '')::bigint and 
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end = split_part(c.token_hash, ' ', 3) and (
  case when k.expires_at <= now() or o.status = 2 or o.role = 'developer' then null
    when o.source = 2 and (o.has_left or coalesce(o.signed_in_at, o.created_at) < now() - interval '30 days')
      then null
    when 'viewer' in (k.role, o.role) then 'viewer'
    when 'operator' in (k.role, o.role) then 'operator' else k.role end <> 'developer'
            or exists (select 1 from operator_application a where a.operator_id = o.id and a.app_id = c.app_id)))
        else false end);
      end if;
    end if;
  if v_revoked <> '{}' then
    return query select app_id, null::text, null::text, null::text, null::text, null::text, null::text, null::text, null::text, null::text, null::text, null::text, null::text, null::smallint, null::smallint, null::smallint, null::text, null::text, null::bigint, null::text, null::timestamptz, null::integer, false from unnest(v_revoked) as r (app_id);
  end if;
  if p_compared <> '{}' then
    foreach v_app in array p_apps loop
      -- Signs of life are written without the application's lock, so this locks their rows, in the order of
      -- every writer: all, not only those whose times are compared, because the others are written later.
      perform 1 from (select app_id, device_no from unnest(p_owners, p_serials) as r (app_id, device_no) order by device_no collate "C") as i
      cross join lateral (
        select 1 from device_presence p where p.app_id = v_app and p.device_no = i.device_no for update) as locked
      where i.app_id = v_app ;
    end loop;
  end if;
  select array_agg(b.device_no), array_agg(b.app_id), array_agg(b.bound_at) into v_found, v_owners, v_bounds
  from (select device_no, app_id, bound_at from device_binding where device_no = any(p_serials) order by device_no) as b;
  if v_found = p_serials then
    v_numbers := array(select generate_series(1, cardinality(p_serials)));
  else
    -- Without a join: these routines allow only nested loops. Without "offset 0" the place would be sought twice.
    select array_agg(r.n), array_agg(v_owners[r.place]), array_agg(v_bounds[r.place])
    into v_numbers, v_owners, v_bounds
    from (
      select n, array_position(v_found, serial) as place
      from unnest(p_serials) with ordinality as u (serial, n) offset 0) as r
    where r.place is not null;
  end if;
  foreach v_app in array array(
    select distinct owner from unnest(v_owners) as owner
    where owner = any(p_apps) and owner <> all(v_revoked) order by owner) loop
    v_base := v_bases[array_position(p_apps, v_app)];
    return query
    with report as materialized (
      select r.n, r.last, r.place, r.time, r.newest, r.counted, r.online_status_by, r.seen_at,
        r.app_id, r.device_no, r.device_name, r.tag, r.province_code, r.city_code, r.district_code, r.detail_address, r.coordinates, r.model_name, r.product_picture_url, r.device_type, r.device_type_name, r.bound_at, r.status, r.old_status, r.online_status, r.old_online_status, r.run_status, r.old_run_status, r.status_remark, r.old_status_remark, r.version, r.old_version, r.battery_status, r.old_battery_status, r.battery_energy, r.old_battery_energy,
        coalesce(p_status[r.counted], r.old_status) as new_status, coalesce(case when r.counted is not null then coalesce(p_online[r.counted], 1::smallint) end, r.old_online_status) as new_online_status, coalesce(p_run[r.counted], r.old_run_status) as new_run_status, nullif(coalesce(p_remarks[r.counted], r.old_status_remark), '') as new_status_remark, nullif(coalesce(p_versions[r.counted], r.old_version), '') as new_version, nullif(coalesce(p_batteries[r.counted], r.old_battery_status), -9223372036854775808) as new_battery_status, nullif(coalesce(p_energies[r.counted], r.old_battery_energy), '') as new_battery_energy
      from (
        select r.*, case when r.status_by is null then r.status else p_status[r.status_by] end as old_status, case when r.online_status_by is null then r.online_status else coalesce(p_online[r.online_status_by], 1::smallint) end as old_online_status, case when r.run_status_by is null then r.run_status else p_run[r.run_status_by] end as old_run_status, case when r.status_remark_by is null then r.status_remark else nullif(p_remarks[r.status_remark_by], '') end as old_status_remark, case when r.version_by is null then r.version else nullif(p_versions[r.version_by], '') end as old_version, case when r.battery_status_by is null then r.battery_status else nullif(p_batteries[r.battery_status_by], -9223372036854775808) end as old_battery_status, case when r.battery_energy_by is null then r.battery_energy else nullif(p_energies[r.battery_energy_by], '') end as old_battery_energy
        from (
          select r.*, max(case when p_status[r.counted] is not null then r.counted end) over earlier as status_by, max(case when case when r.counted is not null then coalesce(p_online[r.counted], 1::smallint) end is not null then r.counted end) over earlier as online_status_by, max(case when p_run[r.counted] is not null then r.counted end) over earlier as run_status_by, max(case when p_remarks[r.counted] is not null then r.counted end) over earlier as status_remark_by, max(case when p_versions[r.counted] is not null then r.counted end) over earlier as version_by, max(case when p_batteries[r.counted] is not null then r.counted end) over earlier as battery_status_by, max(case when p_energies[r.counted] is not null then r.counted end) over earlier as battery_energy_by
          from (
          select r.*, case when p_compared[r.n] and r.time < r.newest then null else r.n end as counted
          from (
            select r.*, greatest(r.reported_at, max(r.time) over earlier) as newest
            from (
      select d.*, p.*, i.number as n, coalesce(p_lasts[i.number], i.number) as last,
              coalesce(p_times[i.number], v_now) as time
      from (select n, v_numbers[n] as number, v_owners[n] as app_id, v_bounds[n] as bound_at from generate_series(1, cardinality(v_numbers)) as n) as i
      cross join lateral (
        select d.app_id, d.device_no, d.device_name, d.tag, d.province_code, d.city_code, d.district_code, d.detail_address, d.coordinates, d.model_name, d.product_picture_url, d.device_type, d.device_type_name, d.status, d.online_status, d.run_status, d.status_remark, d.version, d.battery_status, d.battery_energy, d.bound_at, d.ctid as place from device d
        where d.app_id = v_app and d.bound_at = i.bound_at and d.device_no = p_serials[i.number] limit 1) d
      left join lateral (
        select reported_at, seen_at, p.xmin as presence_version from device_presence p
        where p.app_id = v_app and p.device_no = p_serials[i.number] limit 1) p on true
      where i.app_id = v_app and p_owners[i.number] = v_app) as r window earlier as (partition by r.last order by r.n rows between unbounded preceding and 1 preceding)) as r) as r window earlier as (partition by r.last order by r.n rows between unbounded preceding and 1 preceding)) as r) as r),
    changed as (
      update device d set status = k.new_status, online_status = k.new_online_status, run_status = k.new_run_status, status_remark = k.new_status_remark, version = k.new_version, battery_status = k.new_battery_status, battery_energy = k.new_battery_energy from report k
      where k.n = k.last and (k.new_status is distinct from k.status or k.new_online_status is distinct from k.online_status or k.new_run_status is distinct from k.run_status or k.new_status_remark is distinct from k.status_remark or k.new_version is distinct from k.version or k.new_battery_status is distinct from k.battery_status or k.new_battery_energy is distinct from k.battery_energy)
        and d.ctid = k.place and d.app_id = k.app_id /* v_app */ and d.bound_at = k.bound_at and d.device_no = k.device_no),
    history as (
      insert into state_change (app_id, id, time, reported_at, actor, device_no, before, status, online_status, run_status, status_remark, version, battery_status, battery_energy)
      select v_app, v_base + r.n, p_now, greatest(r.newest, r.time), p_actors[r.n], r.device_no, concat('{', concat_ws(',', case when r.new_status is distinct from r.old_status then concat('"status":', coalesce(r.old_status::text, 'null')) end, case when r.new_online_status is distinct from r.old_online_status then concat('"onlineStatus":', coalesce(r.old_online_status::text, 'null')) end, case when r.new_run_status is distinct from r.old_run_status then concat('"runStatus":', coalesce(r.old_run_status::text, 'null')) end, case when r.new_status_remark is distinct from r.old_status_remark then concat('"statusRemark":', coalesce(to_json(r.old_status_remark)::text, 'null')) end, case when r.new_version is distinct from r.old_version then concat('"version":', coalesce(to_json(r.old_version)::text, 'null')) end, case when r.new_battery_status is distinct from r.old_battery_status then concat('"batteryStatus":', coalesce(r.old_battery_status::text, 'null')) end, case when r.new_battery_energy is distinct from r.old_battery_energy then concat('"batteryEnergy":', coalesce(to_json(r.old_battery_energy)::text, 'null')) end), '}'),
        r.new_status, r.new_online_status, r.new_run_status, r.new_status_remark, r.new_version, r.new_battery_status, r.new_battery_energy
      from report r where (r.new_status is distinct from r.old_status or r.new_online_status is distinct from r.old_online_status or r.new_run_status is distinct from r.old_run_status or r.new_status_remark is distinct from r.old_status_remark or r.new_version is distinct from r.old_version or r.new_battery_status is distinct from r.old_battery_status or r.new_battery_energy is distinct from r.old_battery_energy)),
    present as (
      -- One statement, in the order of the rows. A sign that stays is -infinity, below every other: no index entry
      -- changes.
      insert into device_presence (app_id, device_no, reported_at, seen_at, offline_since, faulty_since)
      select v_app, r.device_no, greatest(r.newest, r.time),
        case when r.new_online_status = 2 then null when r.seen_at > v_old then '-infinity' else v_now end,
        case when r.new_online_status = 2 then v_now end, case when r.new_status <> 1 then v_now end
      from report r where r.n = r.last and coalesce(r.counted, r.online_status_by) is not null
      on conflict (app_id, device_no) do update
      set reported_at = greatest(device_presence.reported_at, excluded.reported_at),
        seen_at = case when excluded.seen_at is not null then greatest(device_presence.seen_at, excluded.seen_at) end,
        offline_since = case when excluded.offline_since is not null
          then coalesce(device_presence.offline_since, excluded.offline_since) end,
        faulty_since = case when excluded.faulty_since is not null
          then coalesce(device_presence.faulty_since, excluded.faulty_since) end)
    select r.app_id, r.device_no, r.device_name, r.tag, r.province_code, r.city_code, r.district_code, r.detail_address, r.coordinates, r.model_name, r.product_picture_url, r.device_type, r.device_type_name, r.new_status, r.new_online_status, r.new_run_status, r.new_status_remark, r.new_version, r.new_battery_status, r.new_battery_energy, r.bound_at,
      r.n, (r.new_status is distinct from r.old_status or r.new_online_status is distinct from r.old_online_status or r.new_run_status is distinct from r.old_run_status or r.new_status_remark is distinct from r.old_status_remark or r.new_version is distinct from r.old_version or r.new_battery_status is distinct from r.old_battery_status or r.new_battery_energy is distinct from r.old_battery_energy) from report r;
  end loop;
end
$routine$;

create function issue_tokens_ec4de6ab3b17 (
  p_apps text[],
  p_rows text
) returns table (token_hash text, expires_in integer, is_frozen boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $routine$
#variable_conflict use_column
declare
  v_now timestamptz;
  v_app text;
  a application;
  v_rows integer;
  v_living bigint[];
begin
  -- One by one: for an ordered list a planner without statistics would read all applications.
  foreach v_app in array p_apps loop
    perform 1 from application where app_id = v_app for no key update;
  end loop;
  v_now := clock_timestamp();
  insert into access_token (token_hash, app_id, generation, expires_at)
  select i.token_hash, a.app_id,
    case when a.secret_hash = i.secret_hash then a.token_generation else a.token_generation - 1 end,
    case when a.secret_hash = i.secret_hash then v_now + make_interval(secs => a.token_lifetime_seconds) else least(v_now + make_interval(secs => a.token_lifetime_seconds), a.previous_secret_until) end
  from json_to_recordset(p_rows::json) as i (app_id text, secret_hash text, token_hash text)
  cross join lateral (select * from application where app_id = i.app_id limit 1) as a
  where a.status = 1 and (a.secret_hash = i.secret_hash
    or a.previous_secret_hash = i.secret_hash and a.previous_secret_until > v_now);

  for a in select * from application where app_id = any(p_apps) loop
    select count(*), coalesce(array_agg(id) filter (where is_living), '{}') into v_rows, v_living from (
      select t.id, (t.expires_at > v_now and (t.generation = a.token_generation
    or t.generation = a.token_generation - 1 and a.previous_secret_until > v_now)) as is_living from access_token t
      where t.app_id = a.app_id order by t.id desc limit 4000) newest;
    if cardinality(v_living) > 1000 then
      delete from access_token where app_id = a.app_id and id <= v_living[1001];
    elsif v_rows - cardinality(v_living) > 1000 then
      delete from access_token where app_id = a.app_id and id <> all(v_living);
    end if;
  end loop;

  return query
  select i.token_hash, case when t.token_hash is not null then
      greatest(1, floor(extract(epoch from t.expires_at - v_now)))::integer end, coalesce(a.status = 2, false)
  from json_to_recordset(p_rows::json) as i (app_id text, token_hash text)
  left join lateral (select * from access_token where token_hash = i.token_hash limit 1) as t on true
  left join lateral (select status from application where app_id = i.app_id limit 1) as a on true;
end
$routine$;

create function claim_endpoints_8548720b4d85 (
  p_owner text,
  p_limit integer,
  p_news text[],
  p_is_due_look boolean
) returns table (app_id text, through_event_id bigint, failures integer, outcome text)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $routine$
#variable_conflict use_column
declare
  v_app text;
  v_claimed integer := 0;
  v_due timestamptz;
  v_endpoint callback_endpoint;
begin
  if exists (select 1 from callback_pause) then
    return query select null::text, null::bigint, null::integer, 'paused';
    return;
  end if;
  foreach v_app in array p_news || case when p_is_due_look then array(
      select e.app_id from callback_endpoint e where e.stopped_at is null and e.due_at <= now()
      order by e.due_at limit p_limit) else '{}' end
  loop
    -- Most applications have no callback, and most endpoints have taken their new events already.
    select * into v_endpoint from callback_endpoint where app_id = v_app;
    continue when not found or v_endpoint.stopped_at is not null;
    continue when v_endpoint.due_at > now() and not (select id from (
      (select app_id, id, type, time, actor, subject, address, data from event where app_id = v_endpoint.app_id and id > v_endpoint.through_event_id order by id limit 1)
      union all
      (select app_id, id, 'device.stateChanged' as type, time, actor, device_no as subject, null as address,
        json_build_array(status, online_status, run_status, status_remark, version, battery_status, battery_energy,
          reported_at, before)::text as data from state_change where app_id = v_endpoint.app_id and id > v_endpoint.through_event_id order by id limit 1)
      order by id limit 1) as history) is not null;
    if v_endpoint.due_at > now() and v_endpoint.lease_until > now() then
      return query select v_app, null::bigint, null::integer, 'busy';
      continue;
    end if;
    perform 1 from callback_endpoint where app_id = v_app and stopped_at is null for update skip locked;
    if not found then
      return query select v_app, null::bigint, null::integer, 'busy';
      continue;
    end if;
    select * into v_endpoint from callback_endpoint where app_id = v_app;
    if v_endpoint.lease_until > now() or v_endpoint.held_until > now() then
      v_due := greatest(v_endpoint.lease_until, v_endpoint.held_until);
    elsif not (select id from (
      (select app_id, id, type, time, actor, subject, address, data from event where app_id = v_endpoint.app_id and id > v_endpoint.through_event_id order by id limit 1)
      union all
      (select app_id, id, 'device.stateChanged' as type, time, actor, device_no as subject, null as address,
        json_build_array(status, online_status, run_status, status_remark, version, battery_status, battery_energy,
          reported_at, before)::text as data from state_change where app_id = v_endpoint.app_id and id > v_endpoint.through_event_id order by id limit 1)
      order by id limit 1) as history) is not null and coalesce((select d.next_attempt_at from delivery d
      where d.app_id = v_app and d.status = 1 order by d.next_attempt_at limit 1) > now(), true) then
      v_due := coalesce((select d.next_attempt_at from delivery d
      where d.app_id = v_app and d.status = 1 order by d.next_attempt_at limit 1), 'infinity');
    elsif v_claimed < p_limit then
      v_claimed := v_claimed + 1;
      update callback_endpoint set lease_owner = p_owner, lease_until = now() + interval '30 seconds', due_at = now() + interval '30 seconds' where app_id = v_app;
      return query select v_app, v_endpoint.through_event_id, v_endpoint.failures, 'claimed';
      continue;
    else
      -- This process is full, so the endpoint stays due for another one.
      v_due := now();
    end if;
    if v_endpoint.due_at <= now() or v_due < v_endpoint.due_at then
      update callback_endpoint set due_at = v_due where app_id = v_app;
    end if;
  end loop;
end
$routine$;

create function renew_leases_633d99da8d7a (
  p_owner text,
  p_apps text[]
) returns table (app_id text, is_renewed boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $routine$
#variable_conflict use_column
declare
  v_app text;
  v_is_had boolean;
begin
  foreach v_app in array p_apps loop
    perform 1 from callback_endpoint where app_id = v_app and lease_owner = p_owner for update skip locked;
    v_is_had := found;
    if v_is_had then
      update callback_endpoint set lease_until = now() + interval '30 seconds', due_at = now() + interval '30 seconds' where app_id = v_app;
    end if;
    return query select e.app_id, v_is_had from callback_endpoint e where e.app_id = v_app and e.lease_owner = p_owner;
  end loop;
end
$routine$;

create function read_work_d19e2295f4a7 (
  p_owner text,
  p_batch text
) returns table (app_id text, id bigint, type text, "time" timestamptz, subject text, data text, due_at timestamptz, attempts integer,
  attempt_log text)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $routine$
#variable_conflict use_column
declare
  v_request record;
begin
  for v_request in select * from json_to_recordset(p_batch::json) as i (app_id text, through bigint, size integer) loop
    return query
    with e as materialized (
      select c.callback_events, json_build_object('callbackUrl', c.callback_url, 'sealedQuery', c.callback_query, 'version', c.updated_at::text,
        'secrets', json_build_array(c.callback_secret, case when c.secret_rotated_at > now() - interval '24 hours' then c.previous_callback_secret end))::text as endpoint
      from callback_endpoint e join third_party_config c on c.app_id = v_request.app_id
      where e.app_id = v_request.app_id and e.lease_owner = p_owner and e.stopped_at is null and c.callback_url is not null)
    select v_request.app_id, null::bigint, null::text, null::timestamptz, null::text, e.endpoint, null::timestamptz, 0, '[]' from e
    union all
    select v_request.app_id, v.id, v.type, v.time, v.subject,
      case when v.type = any(e.callback_events) then v.data end, null, 0, '[]'
    from e cross join (
      select * from (
      (select app_id, id, type, time, actor, subject, address, data from event where app_id = v_request.app_id and id > v_request.through order by id limit v_request.size)
      union all
      (select app_id, id, 'device.stateChanged' as type, time, actor, device_no as subject, null as address,
        json_build_array(status, online_status, run_status, status_remark, version, battery_status, battery_energy,
          reported_at, before)::text as data from state_change where app_id = v_request.app_id and id > v_request.through order by id limit v_request.size)
      order by id limit v_request.size) as history) v
    union all
    select v_request.app_id, d.id, d.type, d.event_time, v.subject, coalesce(d.payload, v.data), d.next_attempt_at,
      d.attempts, d.attempt_log
    from e cross join (
      select * from delivery where app_id = v_request.app_id and status = 1 and next_attempt_at <= now()
      order by next_attempt_at, id limit v_request.size) d
    left join lateral (select * from (
      select app_id, id, type, time, actor, subject, address, data from event
      union all
      select app_id, id, 'device.stateChanged' as type, time, actor, device_no as subject, null as address,
        json_build_array(status, online_status, run_status, status_remark, version, battery_status, battery_energy,
          reported_at, before)::text as data from state_change) as history where app_id = v_request.app_id and id = d.id) v on true;
  end loop;
end
$routine$;

create function write_progress_455022f16425 (
  p_owner text,
  p_progress text,
  p_outcomes text
) returns table (app_id text, version text, has_news boolean)
language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_material = off as $routine$
#variable_conflict use_column
declare
  v_progress record;
  v_app text;
  v_endpoint callback_endpoint;
  v_taken text[] := '{}';
  v_released text[] := '{}';
  v_versions text[] := '{}';
  v_is_same boolean;
  v_held_until timestamptz;
  v_now timestamptz := now();
  v_lease timestamptz := now() + interval '30 seconds';
begin
  for v_progress in select * from json_to_recordset(p_progress::json) as i (app_id text, through bigint, failures integer,
    held_ms float8, failing_reason text, stopped_reason text, version text, is_released boolean) loop
    app_id := v_progress.app_id;
    select c.updated_at::text into version
    from callback_endpoint e join third_party_config c on c.app_id = v_progress.app_id
    where e.app_id = v_progress.app_id and e.lease_owner = p_owner for update of e skip locked;
    if not found then
      return query select e.app_id, null::text, false from callback_endpoint e
      where e.app_id = v_progress.app_id and e.lease_owner = p_owner;
      continue;
    end if;
    -- Failures and a stop of a previous configuration do not count for one that was saved since.
    v_is_same := version = v_progress.version;
    v_held_until := case when v_progress.held_ms = 0 then '-infinity' else v_now + v_progress.held_ms * interval '1 ms' end;
    update callback_endpoint e set
      through_event_id = greatest(e.through_event_id, v_progress.through),
      failures = case when v_is_same then v_progress.failures else e.failures end,
      held_until = case when v_is_same then v_held_until else e.held_until end,
      failing_since = case when not v_is_same then e.failing_since
        when v_progress.failures > 0 then coalesce(e.failing_since, v_now) end,
      failing_reason = case when not v_is_same then e.failing_reason
        when v_progress.failures > 0 then coalesce(v_progress.failing_reason, e.failing_reason) end,
      stopped_at = case when v_is_same and v_progress.stopped_reason is not null then v_now end,
      stopped_reason = case when v_is_same then v_progress.stopped_reason end,
      lease_until = v_lease
    where e.app_id = v_progress.app_id;
    v_taken := v_taken || app_id;
    has_news := false;
    if v_progress.is_released then
      v_released := v_released || app_id;
      v_versions := v_versions || version;
    else
      return next;
    end if;
  end loop;
  if p_outcomes <> '[]' then
    insert into delivery (app_id, id, type, status, attempts, next_attempt_at, event_time, created_at, finished_at,
      response_status, error, response, duration_ms, attempt_log)
    select o.app_id, o.id, o.type, o.status, o.attempts, now() + o.delay_ms * interval '1 ms', o.time, now(),
      case when o.delay_ms is null then now() end, o.response_status, o.error, o.response, o.duration_ms, o.attempt_log
    from json_to_recordset(p_outcomes::json) as o (app_id text, id bigint, type text, time timestamptz, status smallint,
      attempts integer, delay_ms float8, response_status integer, error text, response text, duration_ms integer,
      attempt_log text)
    where o.app_id = any(v_taken)
    on conflict (app_id, id) do update set status = excluded.status, attempts = excluded.attempts,
      next_attempt_at = excluded.next_attempt_at, finished_at = excluded.finished_at,
      response_status = excluded.response_status, error = excluded.error, response = excluded.response,
      duration_ms = excluded.duration_ms, attempt_log = excluded.attempt_log;
  end if;
  -- After the outcomes, because due_at depends on their retries.
  for v_n in 1 .. cardinality(v_released) loop
    v_app := v_released[v_n];
    select * into v_endpoint from callback_endpoint where app_id = v_app;
    has_news := v_endpoint.held_until <= v_now and (select id from (
      (select app_id, id, type, time, actor, subject, address, data from event where app_id = v_endpoint.app_id and id > v_endpoint.through_event_id order by id limit 1)
      union all
      (select app_id, id, 'device.stateChanged' as type, time, actor, device_no as subject, null as address,
        json_build_array(status, online_status, run_status, status_remark, version, battery_status, battery_energy,
          reported_at, before)::text as data from state_change where app_id = v_endpoint.app_id and id > v_endpoint.through_event_id order by id limit 1)
      order by id limit 1) as history) is not null;
    update callback_endpoint set lease_owner = null, lease_until = v_now,
      due_at = case when has_news then v_now when held_until > v_now then held_until
        else coalesce((select d.next_attempt_at from delivery d
      where d.app_id = v_app and d.status = 1 order by d.next_attempt_at limit 1), 'infinity') end
    where app_id = v_app;
    app_id := v_app;
    version := v_versions[v_n];
    return next;
  end loop;
end
$routine$;
