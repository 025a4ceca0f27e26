-- Regions that operators have added or changed. Where both have a code, these count and not the built-in table.
create table region (
  code text collate "C" primary key,
  name text not null,
  parent_code text,
  -- Whether the region has ended: it is no longer in the tree, but keeps its name.
  is_ended boolean not null,
  created_at timestamptz not null
);
-- Changes with every change of the regions, so that each process reads them again only then.
create table region_version (
  only_row boolean primary key default true check (only_row),
  version uuid not null
);
insert into region_version (version) values (gen_random_uuid());
