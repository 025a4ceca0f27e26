-- outside a transaction
-- The pages of all devices that are sorted by time. Of the time alone, and at its end when a device is made, so that it costs a
-- create less than can be measured; the devices of one moment are sorted by serial when they are read. As an expression, so
-- that it serves these pages alone: a look-up of a device by its whole key must not be planned with its time.
drop index concurrently if exists device_by_time;
create index concurrently device_by_time on device ((bound_at at time zone 'UTC'));
