-- Callbacks: the event log is their queue, so creates write nothing for them.

alter table third_party_config
  -- Signed with beside the new one for a while after a rotation, so that receivers can change over.
  add column previous_callback_secret text,
  add column secret_rotated_at timestamptz;

-- The key that callback secrets are sealed with. A process that does not hold it does not start.
create table secrets_key (
  only_row boolean primary key default true check (only_row),
  key_id text not null,
  -- The key itself, locked with the database's password, which is not in the database: so that processes for which no
  -- file was named find each other's key. Null where a file was named.
  locked_key text
);

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
  -- What is left of the replay under way, if there is one: the events that are not set waiting yet.
  replay_next_id bigint,
  replay_last_id bigint,
  replay_from timestamptz,
  replay_to timestamptz,
  -- Null for deliveries of any status, and events that have none.
  replay_status smallint,
  -- The one process that sends. Whoever finds it expired takes over.
  lease_owner text,
  lease_until timestamptz not null default '-infinity'
  -- Room for its updates, which come many times a second and touch no index.
) with (fillfactor = 50);

create index callback_replay on callback_endpoint (app_id) where replay_next_id is not null;

insert into callback_endpoint (app_id, through_event_id)
select app_id, coalesce((select max(id) from event where event.app_id = third_party_config.app_id), 0)
from third_party_config where callback_url is not null;

-- What became of each callback. The id is the event's; a test's is drawn from the same sequence.
create table delivery (
  app_id text collate "C" not null,
  id bigint not null,
  type text not null,
  -- 1 waits for an attempt, 2 delivered, 3 dead.
  status smallint not null check (status in (1, 2, 3)),
  attempts integer not null,
  next_attempt_at timestamptz,
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
create index delivery_undelivered on delivery (app_id, status, id) where status <> 2;
create index delivery_by_type on delivery (app_id, type, id);
create index delivery_by_age on delivery (app_id, created_at);
