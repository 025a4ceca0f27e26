-- Second factors of accounts, and accounts that come by single sign-on (decision 0026).
alter table operator
  -- 1 made here, 2 made by single sign-on: then the provider says the role.
  add column source smallint not null default 1,
  -- Of source 2: the provider names no role any more. Sessions have ended, and keys rest.
  add column has_left boolean not null default false;

-- Who an account is at the provider: issuer and subject, and nothing else.
create table operator_identity (
  issuer text not null,
  subject text not null,
  operator_id bigint not null unique references operator on delete cascade,
  linked_at timestamptz not null,
  primary key (issuer, subject)
);

-- Code generators. The secret is sealed.
create table operator_totp (
  operator_id bigint primary key references operator on delete cascade,
  secret text not null,
  created_at timestamptz not null,
  used_at timestamptz,
  -- The newest step of which a code was used: it and all earlier ones are used up.
  used_step bigint not null
);
-- Secrets that were shown and of which no code has come yet.
create table operator_totp_draft (
  operator_id bigint primary key references operator on delete cascade,
  secret text not null,
  expires_at timestamptz not null
);

create sequence operator_passkey_id;
create table operator_passkey (
  id bigint primary key default nextval('operator_passkey_id'),
  operator_id bigint not null references operator on delete cascade,
  -- Both as base64url.
  credential_id text collate "C" not null unique,
  public_key text not null,
  sign_count bigint not null,
  -- Whether the passkey is kept on several devices of its owner.
  is_synced boolean not null,
  name text not null,
  created_at timestamptz not null,
  used_at timestamptz
);
create index operator_passkey_by_operator on operator_passkey (operator_id, id);

create table operator_recovery_code (
  operator_id bigint not null references operator on delete cascade,
  code_hash text collate "C" not null,
  primary key (operator_id, code_hash)
);

-- Sealed tickets that were used, until they would end anyway: each works once. Those that are not used are stored nowhere.
create table used_ticket (
  ticket_hash text collate "C" primary key,
  expires_at timestamptz not null
);
create index used_ticket_by_expiry on used_ticket (expires_at);
