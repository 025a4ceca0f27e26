-- outside a transaction
-- Finds a refused write by the id of its request, which people are told and look for.
drop index concurrently if exists refusal_by_request;
create index concurrently refusal_by_request on refusal (request_id);
