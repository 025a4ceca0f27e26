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
