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
