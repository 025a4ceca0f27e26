-- outside a transaction
-- Refused writes of all applications in the order of time.
drop index concurrently if exists refusal_by_time;
create index concurrently refusal_by_time on refusal (time, id);
