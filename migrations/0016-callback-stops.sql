-- The stops of callbacks that were lifted: their events are sent only by a replay. A row goes when none is left.
create table callback_stop (
  app_id text collate "C" not null,
  -- The events that were made during the stop, by their ids: those after the first id, up to the second.
  after_id bigint not null,
  through_id bigint not null,
  lifted_at timestamptz not null,
  primary key (app_id, through_id)
);
