-- How many of a minute's creates were of sites; the rest were of devices. Minutes that the version before has counted
-- have none.
alter table minute_figures add column site_creates bigint not null default 0;
