-- Since when, and until when, some process of the service has taken reports without a break. A break is nobody's silence:
-- presence judges devices only by the time in which the service could hear them.
create table service_hearing (
  only_row boolean primary key default true check (only_row),
  since timestamptz not null,
  heard_at timestamptz not null
) with (fillfactor = 10);
