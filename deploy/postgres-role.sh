#!/bin/sh
# Run once by the image of PostgreSQL, as its superuser: the service's own role, which is none (docs/settings.md).
set -eu
# psql reads the password itself: in its arguments every process of the machine could.
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" <<'SQL'
\set password `cat /run/secrets/database_password`
create role forecourt login password :'password' nosuperuser nocreatedb nocreaterole;
create database forecourt owner forecourt encoding 'UTF8' template template0;
revoke connect on database forecourt from public;
SQL
