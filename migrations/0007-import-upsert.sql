-- Imports that also update rows that are there, and what of a file was ignored: JSON text, a list of names.
alter table import
  add column is_upsert boolean not null default false,
  add column ignored_columns text;
