-- Acts on everything that matches are jobs beside imports, in their table: one worker, one sequence of ids, and an
-- application has one of either under way.
alter table import
  -- What every row that matches undergoes; null for an import.
  add column act text,
  -- JSON texts: the filter, and the members that an update sets.
  add column filter text,
  add column changes text,
  add column target_app_id text collate "C",
  add column reason text,
  -- The application's newest event when the act began: a row that came into being by a later one is none of its rows.
  add column began_after bigint,
  -- JSON text: the key of the last row that the act has come to, in the order of pages.
  add column position text,
  -- Rows that were there and were changed.
  add column updated bigint not null default 0,
  -- An act has no file.
  alter column format drop not null;
