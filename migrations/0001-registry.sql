-- Keys contain the column a table would be distributed by on many machines: app_id for what an application owns,
-- device_no for devices. Text is compared byte by byte ("C"): serials and ids are identifiers, not words.

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
  -- Moves with everything that decides whether a token works (freeze, rotation, revocation, limits), so that every
  -- process can ask for the few applications that changed lately instead of asking at each request.
  access_changed_at timestamptz not null,
  created_at timestamptz not null
);
create index application_by_access_change on application (access_changed_at);
create index application_by_age on application (created_at, app_id);

create sequence access_token_id;
create table access_token (
  token_hash text collate "C" primary key,
  app_id text collate "C" not null references application,
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
  callback_url text,
  callback_events text[] not null,
  -- Sealed, with the id of its key before it (src/secrets).
  callback_secret text,
  updated_at timestamptz not null
);

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

-- The primary key is the promise that a serial has one owner.
create table device (
  device_no text collate "C" primary key,
  app_id text collate "C" not null,
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
  battery_status integer,
  battery_energy text,
  bound_at timestamptz not null
);

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

-- One log: the feed, the source of callbacks and the audit trail. Writers of one application's events hold its lock,
-- so within an application a later id never becomes visible before an earlier one.
create sequence event_id;
create table event (
  app_id text collate "C" not null,
  id bigint not null default nextval('event_id'),
  type text not null,
  time timestamptz not null,
  -- With the id of the account or key behind its name: operator:Wang Fang#7.
  actor text not null,
  -- What the event is about: a serial number, a site's id; null for the application itself.
  subject text,
  -- Where it came from, in the platform's own log. The eighth column: a ninth would make each row 8 bytes longer.
  address text,
  -- JSON text, serialised once: these very bytes are also the answer's. Not checked again by the database.
  data text not null,
  primary key (app_id, id)
);

create table idempotency_key (
  app_id text collate "C" not null,
  operation text not null,
  key text collate "C" not null,
  body_hash text not null,
  -- The record that the first answer carried.
  answer text not null,
  created_at timestamptz not null,
  primary key (app_id, operation, key)
);
create index idempotency_key_by_age on idempotency_key (created_at);

-- The functions of the write path, of all versions of the program that share the database, and when a process said last
-- that it uses one; what nobody uses is dropped.
create table routine (
  name text collate "C" primary key,
  seen_at timestamptz not null default now()
);
