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
