-- Views of the console's lists that people saved for themselves: filters, order and columns.
create sequence saved_view_id;
create table saved_view (
  id bigint primary key default nextval('saved_view_id'),
  operator_id bigint not null references operator on delete cascade,
  page text not null,
  name text not null,
  -- The query of the list's address, and its choice of columns as the console keeps it.
  query text,
  columns text,
  created_at timestamptz not null,
  unique (operator_id, page, name)
);
