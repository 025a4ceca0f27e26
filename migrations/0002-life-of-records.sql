-- What finding, changing and moving records needs.

-- What filters look at beside the columns as they are. The coordinates are read once, when they are written; a tag's
-- beginning, because an index entry has no room for the longest.
alter table device
  add column location point not null generated always as (coordinates::point) stored,
  add column tag_start text collate "C" generated always as (left(tag, 64)) stored;
-- An application's devices in the order of their pages, with all that filters look at: what does not fit is passed over
-- within the index, and only the devices of the page are fetched. One index whose entries come at the end of their
-- application's costs a create less than one for each filter.
create index device_by_age on device (app_id, bound_at, device_no) include (status, online_status, run_status,
  province_code, city_code, district_code, model_name, tag_start, device_name, location);
-- Whether a row may be shown is looked up in the table itself for a page of it that has changed since the last vacuum,
-- at several times the cost, so it is vacuumed more often than by default.
alter table device set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.02);
-- Room for what changes most often (battery, version, remark), so that those changes touch no index.
alter table device set (fillfactor = 90);
-- Integers of the contract go up to 2^53 − 1.
alter table device alter column battery_status type bigint;

-- Who held a serial number before. The spell that lasts is the device row itself.
create sequence device_spell_id;
create table device_spell (
  device_no text collate "C" not null,
  id bigint not null default nextval('device_spell_id'),
  app_id text collate "C" not null,
  bound_at timestamptz not null,
  unbound_at timestamptz not null,
  unbound_by text not null,
  reason text,
  primary key (device_no, id)
);

-- When a device reported last, by the database's clock: exactly the devices that are online have a row. Narrow, because
-- it is refreshed while nothing else changes.
create table device_presence (
  device_no text collate "C" primary key,
  app_id text collate "C" not null,
  reported_at timestamptz not null
);
-- Finds the silent ones without a look at the others.
create index device_presence_by_report on device_presence (reported_at);

-- The feed of one device or one site. By hash, because serial numbers come in no order: an index of four times the
-- size would cost creates more than all else that they keep for readers.
create index event_by_subject on event (hashtext(subject), id) where subject is not null;

-- Whether a billing rule is in use, and where.
create index site_by_fast_rule on site (app_id, fast_rule_id) where fast_rule_id is not null;
create index site_by_slow_rule on site (app_id, slow_rule_id) where slow_rule_id is not null;
create index site_by_occupancy_rule on site (app_id, occupancy_rule_id) where occupancy_rule_id is not null;

-- The feed of one type: it grows at its end only, so it costs creates little.
create index event_by_type on event (app_id, type, id);
