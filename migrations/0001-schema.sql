-- The whole schema, to be read from top to bottom: applications, the write path's locks, billing rules, sites, prices,
-- devices, history, callbacks, jobs, people, and the service's own figures. The functions of the write path are in
-- routines.sql.
--
-- Keys begin with app_id, so that on many machines an application's rows are on one of them. Only the owner of a serial
-- number crosses applications. Text is compared byte by byte ("C"): serial numbers and ids are identifiers, not words.

-- ── Applications and their tokens ───────────────────────────────────────────────────────────────────────────────────

create table application (
  app_id text collate "C" primary key,
  app_name text not null,
  secret_hash text not null,
  -- Counts the secrets. A token carries that of the secret it was obtained with, so a rotation is one row, however many
  -- tokens there are.
  token_generation integer not null default 1,
  -- The secret before goes on working until then, and so do its tokens.
  previous_secret_hash text,
  previous_secret_until timestamptz,
  online_status smallint not null default 1 check (online_status in (1, 2)),
  status smallint not null default 1 check (status in (1, 2)),
  frozen_reason text,
  token_lifetime_seconds integer not null check (token_lifetime_seconds between 1 and 604800),
  rate_limit_per_second integer check (rate_limit_per_second > 0),
  created_at timestamptz not null
);
create index application_by_age on application (created_at, app_id);

create sequence access_token_id;
create table access_token (
  token_hash text collate "C" primary key,
  app_id text collate "C" not null,
  id bigint not null default nextval('access_token_id'),
  generation integer not null,
  expires_at timestamptz not null
);
-- The newest of an application, past which the oldest ends.
create index access_token_by_application on access_token (app_id, id);
create index access_token_by_expiry on access_token (expires_at);

create table third_party_config (
  app_id text collate "C" primary key references application,
  operator_name text not null,
  operator_id text,
  -- Without its query, which is sealed like the secret: many receivers take a key in it.
  callback_url text,
  callback_query text,
  callback_events text[] not null,
  -- Sealed, with the id of its key before it (src/secrets).
  callback_secret text,
  -- Signed with beside the new one for a while after a rotation, so that receivers can change over.
  previous_callback_secret text,
  secret_rotated_at timestamptz,
  updated_at timestamptz not null
);

-- ── The write path: the applications' locks, the logs' ids, and keys of retries ─────────────────────────────────────

-- Whoever writes what an application owns holds its row here until it commits: then no device appears after an offline
-- answer, and events get ids in the order in which they become visible. The row with no name is the platform's own log.
-- It is never changed: those who wait for a row that changes lose their places to those who come later.
create table application_lock (
  app_id text collate "C" primary key
);

-- The newest id of each log. At least the microseconds since 1970 of its event's time, so that the ids of all
-- applications sort by time.
create table event_head (
  app_id text collate "C" primary key,
  last_event_id bigint not null default 0
  -- Room for its updates, which come with every batch.
) with (fillfactor = 10);

insert into application_lock (app_id) values ('');
insert into event_head (app_id) values ('');

create table idempotency_key (
  -- The application, or "operator" and its id where a write is about none.
  app_id text collate "C" not null,
  operation text not null,
  key text collate "C" not null,
  body_hash text not null,
  -- The data that the first answer carried, without secrets.
  answer text not null,
  created_at timestamptz not null,
  primary key (app_id, operation, key)
);
create index idempotency_key_by_age on idempotency_key (created_at);

-- How much each application and account has left behind in each hour, beside its sites and devices: idempotency keys,
-- events in the platform's log, price changes. The limits are of a day, so that older hours are removed.
create table usage_hour (
  -- An application's id, or the owner of an operator's idempotency keys.
  owner text collate "C" not null,
  hour timestamptz not null,
  kind text not null check (kind in ('key', 'event', 'priceChange', 'priceChangeSite')),
  rows bigint not null,
  bytes bigint not null,
  primary key (owner, hour, kind)
);
create index usage_hour_by_age on usage_hour (hour);

-- ── Billing rules, sites, and prices over time ──────────────────────────────────────────────────────────────────────

create sequence billing_rule_id;
create table billing_rule (
  app_id text collate "C" not null references application,
  id bigint not null default nextval('billing_rule_id'),
  rule_name text not null,
  rule_type smallint not null check (rule_type in (1, 2, 3)),
  -- Prices are kept as they were sent: "0.50" stays "0.50".
  periods json,
  free_minutes integer,
  unit_minutes integer,
  unit_price text,
  daily_cap text,
  created_at timestamptz not null,
  primary key (app_id, id),
  check ((rule_type = 3) = (periods is null))
);

-- Every writer of sites and billing rules holds the application's lock, so a rule cannot vanish under a site that is
-- being saved. Foreign keys would check the same again, row by row, on the write path.
create sequence site_id;
create table site (
  app_id text collate "C" not null,
  id bigint not null,
  site_name text not null,
  contacts text not null,
  contacts_phone text not null,
  customer_service_phone text not null,
  business_week_day text not null,
  business_start_time text not null,
  business_closing_time text not null,
  site_picture_url text,
  fast_rule_id bigint,
  slow_rule_id bigint,
  occupancy_rule_id bigint,
  ipc_ids text,
  province_code text not null,
  province_name text not null,
  city_code text not null,
  city_name text not null,
  district_code text not null,
  district_name text not null,
  detail_address text,
  coordinates text,
  longitude double precision,
  latitude double precision,
  created_at timestamptz not null,
  primary key (app_id, id)
);
-- Whether a billing rule is in use, and where.
create index site_by_fast_rule on site (app_id, fast_rule_id) where fast_rule_id is not null;
create index site_by_slow_rule on site (app_id, slow_rule_id) where slow_rule_id is not null;
create index site_by_occupancy_rule on site (app_id, occupancy_rule_id) where occupancy_rule_id is not null;
-- Whether a row of an import is there already.
create index site_by_content on site (app_id, hashtext(
  coalesce(site_name::text, '') || '/' || coalesce(contacts::text, '') || '/' || coalesce(contacts_phone::text, '')
  || '/' || coalesce(customer_service_phone::text, '') || '/' || coalesce(business_week_day::text, '')
  || '/' || coalesce(business_start_time::text, '') || '/' || coalesce(business_closing_time::text, '')
  || '/' || coalesce(site_picture_url::text, '') || '/' || coalesce(fast_rule_id::text, '')
  || '/' || coalesce(slow_rule_id::text, '') || '/' || coalesce(occupancy_rule_id::text, '')
  || '/' || coalesce(ipc_ids::text, '') || '/' || coalesce(province_code::text, '')
  || '/' || coalesce(province_name::text, '') || '/' || coalesce(city_code::text, '')
  || '/' || coalesce(city_name::text, '') || '/' || coalesce(district_code::text, '')
  || '/' || coalesce(district_name::text, '') || '/' || coalesce(detail_address::text, '')
  || '/' || coalesce(coordinates::text, '')));
-- Every filter of a site page but names and billing rules, behind the page's own order: what does not fit is passed
-- over within the index, and only the sites that fit are fetched. One index costs a create less than one for each
-- filter. Newest first within each application, as a page over several has them: none is sorted.
create index site_by_filter on site
  (app_id, id desc, province_code, city_code, district_code, created_at, longitude, latitude);

-- Prices from a date on (docs/decisions). What is in force follows from effective_at and the database's clock alone: the
-- rows of billing_rule and site follow when a process writes down what holds already.
create sequence price_change_id;
create table price_change (
  app_id text collate "C" not null,
  id bigint not null default nextval('price_change_id'),
  -- A whole second, but for an undo, which is in force at once.
  effective_at timestamptz(3) not null,
  -- New terms of one billing rule, as billing_rule has them,
  billing_rule_id bigint,
  periods json,
  free_minutes integer,
  unit_minutes integer,
  unit_price text,
  daily_cap text,
  -- or other rules at sites, which price_change_site lists: in which fields (fast, slow, occupancy), and the members as
  -- they were given. Those of an undo differ from site to site, so it has none.
  given_fields text,
  rules json,
  site_count integer,
  -- Of an undo: the sites that are not put back.
  skipped_count integer,
  -- Every rule that is given to a site.
  given_rule_ids bigint[],
  reason text,
  undo_of bigint,
  created_at timestamptz(3) not null,
  created_by text not null,
  -- When all of it was written down and told. Null for one that waits, and for one that holds but is not written yet.
  applied_at timestamptz(3),
  cancelled_at timestamptz(3),
  cancelled_by text,
  -- Sites up to this id are written down, and others only where their own rows say so.
  through_site_id bigint not null default 0,
  primary key (app_id, id),
  check ((billing_rule_id is null) = (given_fields is not null and site_count is not null)),
  check (applied_at is null or cancelled_at is null),
  check ((cancelled_at is null) = (cancelled_by is null))
);
-- The order of its pages, for one application and for all.
create index price_change_by_moment on price_change (app_id, effective_at desc, id desc);
-- An operator reads one without naming the application.
create index price_change_by_id on price_change (id);
-- What is to be written down, of one application and of all: the look for it costs the same whatever else there is.
create index price_change_waiting on price_change (app_id, effective_at, id)
  where applied_at is null and cancelled_at is null;
create index price_change_due on price_change (effective_at) where applied_at is null and cancelled_at is null;

-- The sites of a price change, each with the rules that it gets in the change's fields.
create table price_change_site (
  app_id text collate "C" not null,
  change_id bigint not null,
  site_id bigint not null,
  fast_rule_id bigint,
  slow_rule_id bigint,
  occupancy_rule_id bigint,
  -- A write of the site itself wrote it down, before its turn came.
  is_written boolean not null default false,
  primary key (app_id, change_id, site_id)
);
-- A site's id is unique among all applications.
create index price_change_site_by_site on price_change_site (site_id, change_id);

-- What was in force before: a row whenever a site gets another rule, with the rule that it had until then. The present is
-- the site's own row, so creating a site writes nothing here. It is what bills are checked against, and is never pruned.
create table past_site_rule (
  app_id text collate "C" not null,
  site_id bigint not null,
  -- 1 fast, 2 slow, 3 occupancy, as the types of rules.
  field smallint not null check (field in (1, 2, 3)),
  until_at timestamptz(3) not null,
  -- Null for none.
  rule_id bigint,
  -- The price change that ended it; null for an update.
  change_id bigint,
  primary key (app_id, site_id, field, until_at)
);

-- The same for the terms of a rule: a row whenever they change, and one when the rule is deleted.
create table past_terms (
  app_id text collate "C" not null,
  rule_id bigint not null,
  until_at timestamptz(3) not null,
  rule_name text not null,
  periods json,
  free_minutes integer,
  unit_minutes integer,
  unit_price text,
  daily_cap text,
  -- When the rule was created.
  created_at timestamptz not null,
  change_id bigint,
  primary key (app_id, rule_id, until_at)
);

-- ── Devices: who owns them, what they are, and where they are ───────────────────────────────────────────────────────

-- The primary key is the promise that a serial has one owner. With the application and the moment it names the device;
-- in whole milliseconds, which programs can say again.
create table device_binding (
  device_no text collate "C" primary key,
  app_id text collate "C" not null,
  bound_at timestamptz(3) not null
);

-- Who held a serial number before. The binding that lasts is in device_binding.
create sequence past_binding_id;
create table past_binding (
  device_no text collate "C" not null,
  id bigint not null default nextval('past_binding_id'),
  app_id text collate "C" not null,
  bound_at timestamptz(3) not null,
  unbound_at timestamptz(3) not null,
  unbound_by text not null,
  reason text,
  primary key (device_no, id)
);

create table device (
  app_id text collate "C" not null,
  bound_at timestamptz(3) not null,
  device_no text collate "C" not null,
  device_name text not null,
  tag text,
  province_code text not null,
  city_code text not null,
  district_code text not null,
  detail_address text,
  coordinates text not null,
  model_name text,
  product_picture_url text,
  device_type text,
  device_type_name text,
  status smallint not null default 1,
  online_status smallint not null default 2,
  run_status smallint not null default 0,
  status_remark text,
  version text,
  -- Integers of the contract go up to 2^53 − 1.
  battery_status bigint,
  battery_energy text,
  -- What filters look at beside the columns as they are. The coordinates are read once, when they are written; a tag's
  -- beginning, because an index entry has no room for the longest.
  location point not null generated always as (coordinates::point) stored,
  tag_start text collate "C" generated always as (left(tag, 64)) stored,
  -- The devices of an application in the order of their pages, with all that filters look at: what does not fit is
  -- passed over within the index, and only the devices of the page are fetched. One index whose entries come at the end
  -- of their application's costs a create less than one for each filter.
  constraint device_by_age primary key (app_id, bound_at, device_no) include (status, online_status, run_status, province_code, city_code,
    district_code, model_name, tag_start, device_name, location)
) with (
  -- Room for what changes most often (battery, version, remark), so that those changes touch no index.
  fillfactor = 90,
  -- Whether a row may be shown is looked up in the table itself for a page of it that has changed since the last vacuum,
  -- at several times the cost, so it is vacuumed more often than by default.
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.02
);
-- Devices that need someone: few among many, and none that is fresh, so creates pay nothing for it.
create index device_in_trouble on device (device_no) where status <> 1;
-- The pages of all devices that are sorted by time. Of the time alone, and at its end when a device is created, so that it
-- costs a create less than can be measured; the devices of one time are sorted by serial number when they are read. As an
-- expression, so that it serves these pages alone: a look-up of a device by its whole key must not be planned with its time.
create index device_by_time on device ((bound_at at time zone 'UTC'));

-- What is known of the reports of a device; one that never reported has no row. Narrow, because it is written while
-- nothing else changes.
create table device_presence (
  app_id text collate "C" not null,
  device_no text collate "C" not null,
  -- The time of the newest report: its own, where it carries one. In whole milliseconds, which programs can say again.
  reported_at timestamptz(3) not null,
  -- When a sign of life was noted last, by the database's clock; null for a device that is not online.
  seen_at timestamptz,
  primary key (app_id, device_no)
) with (
  -- Room for the time of the newest report, which comes with every one of them and touches no index.
  fillfactor = 50
);
-- Finds the silent ones without a look at the others.
create index device_presence_by_sign on device_presence (seen_at) where seen_at is not null;

-- Since when, and until when, some process of the service has taken reports without a break. A break is nobody's silence:
-- presence judges devices only by the time in which the service could hear them.
create table service_hearing (
  only_row boolean primary key default true check (only_row),
  since timestamptz not null,
  heard_at timestamptz not null
) with (fillfactor = 10);

-- Which device stands at which site (decision 0023). A row for each stay: those that last have no removed_at, and those that
-- have ended stay as the history, as long as past_binding. Both kinds lie in one table, so that a stay keeps its id.
create sequence placement_id;
create table placement (
  app_id text collate "C" not null,
  id bigint not null,
  device_no text collate "C" not null,
  -- The binding under which the device stands there: with the application and the serial number it names the device.
  bound_at timestamptz(3) not null,
  site_id bigint not null,
  lane_type smallint not null check (lane_type in (1, 2, 3, 4)),
  lane_name text,
  -- In whole milliseconds, which programs can say again.
  placed_at timestamptz(3) not null,
  placed_by text not null,
  removed_at timestamptz(3),
  -- What the indexes of lasting stays are of: without statistics a planner takes "is null" for so rare that it uses any of them.
  lasts boolean not null generated always as (removed_at is null) stored,
  removed_by text,
  reason text,
  -- The site's name when the stay ended: the site may be gone. Null while it lasts.
  site_name text,
  primary key (app_id, id),
  check (removed_at >= placed_at),
  check ((removed_at is null) = (removed_by is null) and (removed_at is null) = (site_name is null))
);
-- The promise that a device stands at one site at most.
-- Its predicate is not that of the others: a look-up by device has this index alone, whenever it was planned.
create unique index placement_by_device on placement (app_id, device_no) where removed_at is null;
-- What lasts, in the order of its pages, and at one site. A site's id is unique among all applications.
create index placement_that_lasts on placement (app_id, id) where lasts;
create index placement_by_site on placement (site_id, id) where lasts;
-- The history of a device and of a site.
create index placement_of_device on placement (app_id, device_no, id);
create index placement_of_site on placement (app_id, site_id, id);

-- Regions that operators have added or changed. Where both have a code, these count and not the built-in table.
create table region (
  code text collate "C" primary key,
  name text not null,
  parent_code text,
  -- Whether the region has ended: it is no longer in the tree, but keeps its name.
  is_ended boolean not null,
  created_at timestamptz not null
);
-- Changes with every change of the regions, so that each process reads them again only then.
create table region_version (
  only_row boolean primary key default true check (only_row),
  version uuid not null
);
insert into region_version (version) values (gen_random_uuid());

create table device_model (
  serial_prefix text collate "C" primary key,
  model_name text not null,
  product_picture_url text,
  device_type text,
  device_type_name text,
  created_at timestamptz not null
);
create index device_model_by_name on device_model (model_name);

create table device_inventory (
  device_no text collate "C" primary key,
  model_name text not null,
  created_at timestamptz not null
);

-- One row. Its version moves with every change of models and inventory; a create that was composed from an older
-- version is not written but composed again.
create table device_catalogue (
  only_row boolean primary key default true check (only_row),
  version bigint not null
);
insert into device_catalogue (version) values (1);

-- ── History: events and changes of state ────────────────────────────────────────────────────────────────────────────

-- History lies apart from the registry, in two tables that are partitioned by ranges of ids, which are time: whole
-- partitions are dropped when their retention is over, and give their space back (decision 0022).

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
  data text not null,
  primary key (app_id, id)
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
  before text not null,
  primary key (app_id, id)
) partition by range (id);

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

-- A row for which no partition was made in time: a missing one refuses no write.
create table event_default partition of event default;
create table state_change_default partition of state_change default;

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

-- Why writes were refused, of each application the newest thousand. What was sent is not kept.
create sequence refusal_id;
create table refusal (
  app_id text collate "C" not null,
  id bigint not null default nextval('refusal_id'),
  time timestamptz not null,
  request_id text not null,
  operation text not null,
  code integer not null,
  -- What it was about: a serial number, a site's or a rule's id, or a site's name.
  subject text,
  actor text not null,
  -- JSON text: the faulty fields, each with its reason in both languages.
  errors text,
  primary key (app_id, id)
);
create index refusal_by_age on refusal (app_id, time);
-- Finds a refused write by the id of its request.
create index refusal_by_request on refusal (request_id);
-- Refused writes of all applications in the order of time.
create index refusal_by_time on refusal (time, id);

-- ── Callbacks ───────────────────────────────────────────────────────────────────────────────────────────────────────

-- Callbacks: the event log is their queue, so creates write nothing for them.

-- One row for each application that has a callback. Within an application ids become visible in order, so following
-- the log by `id > through_event_id` skips nothing.
create table callback_endpoint (
  app_id text collate "C" primary key references application,
  -- Every event up to this one has been taken: sent, put among the retries, or passed over because nobody asked for it.
  through_event_id bigint not null,
  -- The endpoint said that it is gone (410); nothing is sent until the configuration is saved again.
  stopped_at timestamptz,
  stopped_reason text,
  -- In a row. From the third on the endpoint is left alone for a while; then a whole visit to it counts once.
  failures integer not null default 0,
  held_until timestamptz not null default '-infinity',
  -- When the endpoint is to be looked at next for anything but a new event: at the end of its lease or hold, or when its
  -- first delivery is due. 'infinity' while only a new event can make work; who writes one looks by itself.
  due_at timestamptz not null default '-infinity',
  -- Since the first of the failures in a row, and why the newest failed; null while there is none.
  failing_since timestamptz,
  failing_reason text,
  -- What is left of the replay under way, if there is one: the events that are not set waiting yet.
  replay_next_id bigint,
  replay_last_id bigint,
  replay_from timestamptz,
  replay_before timestamptz,
  -- Null for deliveries of any status, and events that have none.
  replay_status smallint,
  -- The one process that sends. Whoever finds it expired takes over.
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
  -- Room for its updates, which come many times a second and mostly touch no index.
) with (fillfactor = 50);

create index callback_due on callback_endpoint (due_at) where stopped_at is null;
create index callback_replay on callback_endpoint (app_id) where replay_next_id is not null;

-- While it has its row nothing is sent: of a restored database somebody must first say that it is no copy.
create table callback_pause (
  only_row boolean primary key default true check (only_row),
  since timestamptz not null
);

-- What became of each callback. The id is the event's; a test's is drawn like one.
create table delivery (
  app_id text collate "C" not null,
  id bigint not null,
  type text not null,
  -- 1 waits for an attempt, 2 delivered, 3 dead.
  status smallint not null check (status in (1, 2, 3)),
  attempts integer not null,
  next_attempt_at timestamptz,
  -- The event's own time; of a test, when it was sent.
  event_time timestamptz not null,
  created_at timestamptz not null,
  finished_at timestamptz,
  -- Of the newest attempt.
  response_status integer,
  error text,
  response text,
  duration_ms integer,
  -- JSON text: a list of the attempts.
  attempt_log text not null,
  -- JSON text: what a test sends. Everything else is in its event.
  payload text,
  primary key (app_id, id),
  check ((status = 1) = (next_attempt_at is not null))
);
create index delivery_due on delivery (app_id, next_attempt_at) where status = 1;
-- Tests count in no figure of callbacks, so the index has the type: counts read nothing else.
create index delivery_undelivered_of_type on delivery (app_id, status, id) include (type) where status <> 2;
create index delivery_by_type on delivery (app_id, type, id);
create index delivery_by_age on delivery (app_id, created_at);

-- The stops of callbacks that were lifted: their events are sent only by a replay. A row goes when none is left.
create table callback_stop (
  app_id text collate "C" not null,
  -- The events that were made during the stop, by their ids: those after the first id, up to the second.
  after_id bigint not null,
  through_id bigint not null,
  lifted_at timestamptz not null,
  primary key (app_id, through_id)
);

-- ── Jobs: imports and bulk actions ──────────────────────────────────────────────────────────────────────────────────

-- Imports and bulk actions, in one table: one worker, one sequence of ids, and an application has one of either under
-- way. A file is kept in pieces while it is processed, and the results of its rows until upkeep removes both.

create sequence import_id;
create table import (
  id bigint primary key default nextval('import_id'),
  -- Null for the inventory, which belongs to no application.
  app_id text collate "C",
  kind text not null,
  -- The action of a bulk action; null for an import.
  act text,
  -- Null for a bulk action, which has no file.
  format text,
  is_dry_run boolean not null,
  -- 0 its file is still being taken: not shown; 1 waiting, 2 running, 3 done, 4 failed, 5 cancelled.
  status smallint not null check (status between 0 and 5),
  -- JSON text: the columns of a CSV file, in their order.
  columns text,
  -- JSON text: the columns of the file that were ignored.
  ignored_columns text,
  -- Whether rows that are there are updated.
  is_upsert boolean not null default false,
  -- Of a bulk action, JSON texts: the filter, and the fields that an update sets.
  filter text,
  changes text,
  target_app_id text collate "C",
  reason text,
  -- The application's newest event when the bulk action started: a row that a later event created is none of its rows.
  began_after bigint,
  -- JSON text: the key of the last row that the bulk action has come to, in the order of pages.
  position text,
  rows bigint not null default 0,
  bytes bigint not null default 0,
  created bigint not null default 0,
  existing bigint not null default 0,
  updated bigint not null default 0,
  refused bigint not null default 0,
  bytes_read bigint not null default 0,
  -- What its pieces and its results hold: an application may keep so much of it and no more.
  kept_bytes bigint not null default 0,
  -- Where it goes on: a piece, and how many of its rows are decided.
  next_piece integer not null default 0,
  next_row integer not null default 0,
  actor text not null,
  -- The token that it was sent with, when that ends by itself, and the secret that it was obtained with: an import
  -- outlives its token, but neither a revocation nor a rotation. Null for an operator's.
  token_hash text,
  token_until timestamptz,
  token_generation integer,
  -- The account or the key that sent it, and its session with the end that this had then: an import outlives a session
  -- that ends by itself, and nothing else of these. All null for the key of the settings.
  operator_id bigint,
  operator_key_id bigint,
  session_id bigint,
  session_until timestamptz,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  -- Why it failed: a sentence, and as JSON text, so that readers make the sentence in their language.
  error text,
  failure text,
  -- The one process that takes its file or works it off. Whoever finds it expired takes over.
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
) with (fillfactor = 50);
create unique index import_under_way on import (coalesce(app_id, '')) where status in (1, 2);
create index import_by_application on import (app_id, id);
create index import_by_age on import (created_at);

create table import_piece (
  import_id bigint not null references import on delete cascade,
  piece integer not null,
  -- How far the file reaches with it.
  bytes_read bigint not null,
  -- JSON text: a list of rows, each with its line before its cells or its text.
  rows text not null,
  primary key (import_id, piece)
);

create table import_result (
  import_id bigint not null references import on delete cascade,
  -- In the order of the file.
  id integer not null,
  created integer not null,
  existing integer not null,
  updated integer not null default 0,
  refused integer not null,
  -- JSON text: the faults that its rows have, each once, and a list of outcomes, a list each.
  outcomes text not null,
  primary key (import_id, id)
);

-- ── People: accounts, keys, sessions and second factors ─────────────────────────────────────────────────────────────

create sequence operator_id;
create table operator (
  id bigint primary key default nextval('operator_id'),
  name text not null,
  role text not null check (role in ('admin', 'operator', 'viewer', 'developer')),
  status smallint not null default 1 check (status in (1, 2)),
  -- Null until the set-up link was used.
  password_hash text,
  -- 1 created here, 2 created by single sign-on: then the identity provider decides the role.
  source smallint not null default 1,
  -- Of source 2: the identity provider names no role any longer. Sessions have ended, and keys are suspended.
  has_left boolean not null default false,
  created_at timestamptz not null,
  signed_in_at timestamptz
);
-- The audit trail shows people by name, so no two names may look the same.
create unique index operator_by_name on operator (lower(normalize(name, NFKC)));

-- Who an account is at the provider: issuer and subject, and nothing else.
create table operator_identity (
  issuer text not null,
  subject text not null,
  operator_id bigint not null unique references operator on delete cascade,
  linked_at timestamptz not null,
  primary key (issuer, subject)
);

-- Code generators. The secret is sealed.
create table operator_totp (
  operator_id bigint primary key references operator on delete cascade,
  secret text not null,
  created_at timestamptz not null,
  used_at timestamptz,
  -- The newest step of which a code was used: it and all earlier ones are used up.
  used_step bigint not null
);
-- Secrets that were shown and of which no code has come yet.
create table operator_totp_draft (
  operator_id bigint primary key references operator on delete cascade,
  secret text not null,
  expires_at timestamptz not null
);

create sequence operator_passkey_id;
create table operator_passkey (
  id bigint primary key default nextval('operator_passkey_id'),
  operator_id bigint not null references operator on delete cascade,
  -- Both as base64url.
  credential_id text collate "C" not null unique,
  public_key text not null,
  sign_count bigint not null,
  -- Whether the passkey is kept on several devices of its owner.
  is_synced boolean not null,
  name text not null,
  created_at timestamptz not null,
  used_at timestamptz
);
create index operator_passkey_by_operator on operator_passkey (operator_id, id);

create table operator_recovery_code (
  operator_id bigint not null references operator on delete cascade,
  code_hash text collate "C" not null,
  primary key (operator_id, code_hash)
);

-- Links that let a person set a password; all of an operator's go with the first that is used.
create table operator_setup (
  token_hash text collate "C" primary key,
  operator_id bigint not null references operator on delete cascade,
  expires_at timestamptz not null
);
create index operator_setup_by_operator on operator_setup (operator_id);

-- Browsers that an account has signed in from; strangers who try its name do not keep these out.
create table operator_browser (
  token_hash text collate "C" primary key,
  operator_id bigint not null references operator on delete cascade,
  seen_at timestamptz not null
);
create index operator_browser_by_operator on operator_browser (operator_id, seen_at);

-- The applications that a developer is a member of.
create table operator_application (
  operator_id bigint not null references operator on delete cascade,
  app_id text collate "C" not null,
  primary key (operator_id, app_id)
);
create index operator_application_by_application on operator_application (app_id);

-- Numbered with the accounts, so that an id in the audit trail is one account or one key.
create table operator_key (
  id bigint primary key default nextval('operator_id'),
  name text not null,
  role text not null check (role in ('admin', 'operator', 'viewer')),
  key_hash text collate "C" not null unique,
  -- Whose it is: it goes with the account, and may no more than it. Null for one made by the key of the setting.
  operator_id bigint references operator on delete cascade,
  created_by text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index operator_key_by_operator on operator_key (operator_id);
create unique index operator_key_by_name on operator_key (lower(normalize(name, NFKC)));

create sequence operator_session_id;
create table operator_session (
  id bigint primary key default nextval('operator_session_id'),
  token_hash text collate "C" not null unique,
  operator_id bigint references operator on delete cascade,
  operator_key_id bigint references operator_key on delete cascade,
  -- Of the key that the service was started with; null for the two above.
  setting_key_hash text,
  user_agent text,
  -- Where its sign-in came from.
  address text not null,
  method text,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  -- When its person last confirmed who they are.
  confirmed_at timestamptz,
  -- When they last signed in anew at the identity provider, where our second factor is still to be shown for a confirmation.
  provider_proven_at timestamptz,
  -- Whether a session that began with a password alone has shown the account's second factor since, or set it up itself.
  has_shown_factor boolean not null default false,
  expires_at timestamptz not null,
  -- Of single sign-on: the latest end of the session, the identity provider's id of it, and its ID token, sealed, for the
  -- sign-out.
  ends_at timestamptz,
  provider_session text,
  id_token text,
  check (num_nonnulls(operator_id, operator_key_id, setting_key_hash) = 1)
);
create index operator_session_by_operator on operator_session (operator_id);
create index operator_session_by_operator_key on operator_session (operator_key_id);
create index operator_session_by_expiry on operator_session (expires_at);

-- Sealed tickets that were used, until they would end anyway: each works once. Those that are not used are stored nowhere.
create table used_ticket (
  ticket_hash text collate "C" primary key,
  expires_at timestamptz not null
);
create index used_ticket_by_expiry on used_ticket (expires_at);

-- Wrong passwords by what they count for: a source, a name, both, or a browser. A crash may forget them.
create unlogged table sign_in_attempt (
  key text collate "C" primary key,
  -- Attempts that failed, and those that are under way, in all processes: these are no failures yet.
  failures integer not null,
  since timestamptz not null,
  under_way integer not null default 0,
  -- Until when those under way are believed to be: their process may have been killed.
  under_way_until timestamptz,
  -- When the last of them was written to the log, how many came since, of whom the newest is and where it came from.
  logged_at timestamptz,
  unlogged_count integer not null default 0,
  operator_id bigint,
  address text,
  -- When it was last written to the log that the limit was reached.
  locked_at timestamptz
);

-- Views of the console's lists that people saved for themselves: filters, order and columns.
create sequence saved_view_id;
create table saved_view (
  id bigint primary key default nextval('saved_view_id'),
  operator_id bigint not null references operator on delete cascade,
  page text not null,
  name text not null,
  -- The query of the list's address, and its choice of columns as the console keeps it.
  query text,
  columns text,
  created_at timestamptz not null,
  unique (operator_id, page, name)
);

-- ── The service itself: figures, backups and the key of secrets ─────────────────────────────────────────────────────

-- What all processes counted in each minute.
create table minute_figures (
  minute timestamptz primary key,
  creates bigint not null,
  -- How many of them were of sites; the others were of devices.
  site_creates bigint not null default 0,
  refusals bigint not null
);

-- The last count of what is too many to count at each look; one row.
create table platform_count (
  only_row boolean primary key default true check (only_row),
  counts json not null,
  counted_at timestamptz not null
);

-- How large the database was when upkeep last looked on each of the last days.
create table database_size (
  day date primary key,
  bytes bigint not null,
  noted_at timestamptz not null
);

-- The newest backups, and those that could not be taken.
create table backup_record (
  id bigint generated always as identity primary key,
  began_at timestamptz not null,
  -- Null for standard output.
  path text,
  rows bigint,
  bytes bigint,
  seconds double precision not null,
  -- Read again from the disk, and whole.
  is_verified boolean not null,
  -- Null for one that was taken.
  failure text
);

-- The key that callback secrets are sealed with. A process that does not hold it does not start.
create table secrets_key (
  only_row boolean primary key default true check (only_row),
  key_id text not null,
  -- The key itself, locked with the database's password, which is not in the database: so that processes for which no
  -- file was named find each other's key. Null where a file was named.
  locked_key text
);

-- The functions of the write path, of all versions of the program that share the database, and when a process said last
-- that it uses one; what nobody uses is dropped.
create table routine (
  name text collate "C" primary key,
  seen_at timestamptz not null default now()
);
