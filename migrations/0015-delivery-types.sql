-- outside a transaction
-- Tests count in no figure of callbacks, so the index has the type: counts read nothing else. It replaces
-- delivery_undelivered.
drop index concurrently if exists delivery_undelivered_of_type;
create index concurrently delivery_undelivered_of_type on delivery (app_id, status, id) include (type) where status <> 2;
drop index concurrently if exists delivery_undelivered;
