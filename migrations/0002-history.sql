-- holds the write path: it carries the event log over to its new tables, and the service waits until it is done.

-- History lies apart from the registry, in two tables that are partitioned by ranges of ids, which are time: whole
-- partitions go when their days are over, and give their space back at once (decision 0022).

alter table event rename to event_before;
alter table event_before rename constraint event_pkey to event_before_pkey;
drop index event_by_subject, event_by_type, event_of_audit;

-- What happened to an application and to what it owns, but for changes of state: the feed, the source of callbacks and
-- the audit trail. Ids are handed out under application_lock, so within an application a later one never becomes visible
-- before an earlier one.
create table event (
  app_id text collate "C" not null,
  id bigint not null,
  type text not null,
  time timestamptz not null,
  -- With the id of the account or key behind its name: operator:Wang Fang#7.
  actor text not null,
  -- What the event is about: a serial number, a site's id; null for the application itself.
  subject text collate "C",
  -- Where it came from, in the platform's own log. The eighth column: a ninth would make each row 8 bytes longer.
  address text,
  -- JSON text, serialised once: these very bytes are also the answer's. Not checked again by the database.
  data text not null
) partition by range (id);

-- Changes of devices' states, by far the most of what happens: the state after the change and the members that it
-- changed, not the record. They share the application's ids with its events, and readers merge both by id.
create table state_change (
  id bigint not null,
  time timestamptz not null,
  -- The time of the device's newest report; null for a device that has never reported.
  reported_at timestamptz(3),
  -- Integers of the contract go up to 2^53 − 1.
  battery_status bigint,
  status smallint not null,
  online_status smallint not null,
  run_status smallint not null,
  app_id text collate "C" not null,
  device_no text collate "C" not null,
  actor text not null,
  status_remark text,
  version text,
  battery_energy text,
  -- JSON text: an object of the members that changed, as they were.
  before text not null
) partition by range (id);

-- A row for which no partition was made in time: a missing one refuses no write.
create table event_default partition of event default;
create table state_change_default partition of state_change default;

-- On a cluster, where an application's other rows are.
do $$
begin
  if exists (select 1 from pg_extension where extname = 'citus') then
    if exists (select 1 from pg_dist_partition where logicalrelid = 'event_before'::regclass) then
      perform create_distributed_table('event', 'app_id', colocate_with => 'application_lock');
      perform create_distributed_table('state_change', 'app_id', colocate_with => 'application_lock');
    end if;
  end if;
end $$;

-- The partitions and their ranges: ids from first_id on, before end_id.
create view history_partition as
select p.relname::text as parent, c.relname::text as name, bounds[1]::bigint as first_id, bounds[2]::bigint as end_id
from pg_class p join pg_inherits i on i.inhparent = p.oid join pg_class c on c.oid = i.inhrelid
  cross join regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''?(\d+)''?\) TO \(''?(\d+)''?\)') as bounds
where p.oid in ('event'::regclass, 'state_change'::regclass) and bounds is not null;

-- Adds a partition for a range that has none, and moves what the default partition holds of it. The ids of a day begin
-- at its midnight (UTC), so that the name of a partition is its first day.
create or replace function add_history_partition(p_table text, p_first bigint, p_end bigint) returns void language plpgsql as $$
declare
  v_name text := format('%s_%s', p_table, to_char(to_timestamp(p_first / 1000000) at time zone 'UTC', 'YYYYMMDD'));
  v_default text := p_table || '_default';
  v_has_rows boolean;
begin
  -- Attaching checks the default partition. Locked first, because a writer could add to it between move and check.
  execute format('lock table %I in access exclusive mode', v_default);
  execute format('create table %I (like %I including defaults)', v_name, p_table);
  execute format('select exists (select 1 from %I where id >= $1 and id < $2)', v_default)
    into v_has_rows using p_first, p_end;
  if v_has_rows then
    execute format('insert into %I select * from %I where id >= $1 and id < $2', v_name, v_default) using p_first, p_end;
    execute format('delete from %I where id >= $1 and id < $2', v_default) using p_first, p_end;
  end if;
  execute format('alter table %I attach partition %I for values from (%s) to (%s)', p_table, v_name, p_first, p_end);
end $$;

-- Places for what was logged before: 26 days each for events, two for changes of state.
do $$
declare
  v_day bigint := 86400000000;
  v_table text;
  v_width bigint;
  v_first bigint;
  v_oldest bigint := (select min(id) from event_before);
begin
  if v_oldest is null then
    return;
  end if;
  foreach v_table in array array['event', 'state_change'] loop
    v_width := case v_table when 'event' then 26 else 2 end * v_day;
    v_first := greatest(v_oldest, (extract(epoch from now()) * 1000000)::bigint
      - case v_table when 'event' then 420 else 40 end * v_day) / v_day * v_day;
    while v_first <= extract(epoch from now()) * 1000000 loop
      perform add_history_partition(v_table, v_first, v_first + v_width);
      v_first := v_first + v_width;
    end loop;
  end loop;
end $$;

insert into event (app_id, id, type, time, actor, subject, address, data)
select app_id, id, type, time, actor, subject, address, data from event_before where type <> 'device.stateChanged';

-- What a change of state changed is known from the one before it. Of the first that is kept nothing is known.
insert into state_change (id, time, reported_at, battery_status, status, online_status, run_status, app_id, device_no,
  actor, status_remark, version, battery_energy, before)
select id, time, time, "batteryStatus", status, "onlineStatus", "runStatus", app_id, subject, actor, "statusRemark",
  version, "batteryEnergy", '{' || case when lag(id) over device is null then '' else concat_ws(',',
    case when lag(status) over device <> status then '"status":' || lag(status) over device end,
    case when lag("onlineStatus") over device <> "onlineStatus" then '"onlineStatus":' || lag("onlineStatus") over device end,
    case when lag("runStatus") over device <> "runStatus" then '"runStatus":' || lag("runStatus") over device end,
    case when lag("statusRemark") over device is distinct from "statusRemark"
      then '"statusRemark":' || coalesce(to_json(lag("statusRemark") over device)::text, 'null') end,
    case when lag(version) over device is distinct from version
      then '"version":' || coalesce(to_json(lag(version) over device)::text, 'null') end,
    case when lag("batteryStatus") over device is distinct from "batteryStatus"
      then '"batteryStatus":' || coalesce((lag("batteryStatus") over device)::text, 'null') end,
    case when lag("batteryEnergy") over device is distinct from "batteryEnergy"
      then '"batteryEnergy":' || coalesce(to_json(lag("batteryEnergy") over device)::text, 'null') end)
  end || '}'
from event_before cross join json_to_record(data::json) as state (status smallint, "onlineStatus" smallint,
  "runStatus" smallint, "statusRemark" text, version text, "batteryStatus" bigint, "batteryEnergy" text)
where type = 'device.stateChanged'
window device as (partition by app_id, subject order by id);

drop table event_before;

alter table event add primary key (app_id, id);
alter table state_change add primary key (app_id, id);
-- The feed of one device or one site. By hash, because an index of the texts would be several times as large; after the
-- application, because that is what a reader knows, and on a cluster what decides the node.
create index event_by_subject on event (app_id, hashtext(subject), id) where subject is not null;
create index state_change_by_device on state_change (app_id, hashtext(device_no), id);
-- The feed of one type: it grows at its end only, so it costs creates little.
create index event_by_type on event (app_id, type, id);
-- The audit trail: what people and their keys did, the price changes that took effect, and what happened in no
-- application. What applications do is not in it, so their creates pay nothing.
create index event_of_audit on event (id, app_id)
  where app_id = '' or starts_with(actor, 'operator') or type = 'priceChange.applied';
create index state_change_of_audit on state_change (id, app_id) where app_id = '' or starts_with(actor, 'operator');
