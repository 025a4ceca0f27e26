-- The people who run the platform, their keys and their sessions, and what the overview counts.

create sequence operator_id;
create table operator (
  id bigint primary key default nextval('operator_id'),
  name text not null,
  role text not null check (role in ('admin', 'operator', 'viewer', 'developer')),
  status smallint not null default 1 check (status in (1, 2)),
  -- Null until the set-up link was used.
  password_hash text,
  created_at timestamptz not null,
  signed_in_at timestamptz
);
-- The audit trail shows people by name, so no two names may look the same.
create unique index operator_by_name on operator (lower(normalize(name, NFKC)));

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
  app_id text collate "C" not null references application,
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
  created_at timestamptz not null,
  seen_at timestamptz not null,
  expires_at timestamptz not null,
  check (num_nonnulls(operator_id, operator_key_id, setting_key_hash) = 1)
);
create index operator_session_by_operator on operator_session (operator_id);
create index operator_session_by_operator_key on operator_session (operator_key_id);
create index operator_session_by_expiry on operator_session (expires_at);

-- Wrong passwords by what they count for: a source, a name, both, or a browser. A crash may forget them.
create unlogged table sign_in_attempt (
  key text collate "C" primary key,
  failures integer not null,
  since timestamptz not null,
  -- When the last of them was written to the log, how many came since, of whom the newest is and where it came from.
  told_at timestamptz,
  untold integer not null default 0,
  operator_id bigint,
  address text,
  -- When it was last written to the log that the limit was reached.
  locked_at timestamptz
);

-- What all processes counted in each minute.
create table minute_figures (
  minute timestamptz primary key,
  creates bigint not null,
  refusals bigint not null
);

-- The last count of what is too many to count at each look; one row.
create table platform_count (
  only_row boolean primary key default true check (only_row),
  counts json not null,
  counted_at timestamptz not null
);

-- Devices that need someone: few among many, and none that is fresh, so creates pay nothing for it.
create index device_in_trouble on device (device_no) where status <> 1;

-- The audit trail: what people and their keys did, and what happened in no application. What applications do is not in
-- it, so their creates pay nothing.
create index event_of_audit on event (id) where app_id = '' or starts_with(actor, 'operator');
