alter table import_result add column updated integer not null default 0;
