-- How a session began, and when its person last proved who they are. Null in sessions of the version before: they began by
-- password or key, and with a proof.
alter table operator_session
  add column method text,
  add column confirmed_at timestamptz,
  -- Of single sign-on: the longest that the session lasts, the provider's id of it, and its ID token, sealed, for the sign-out.
  add column ends_at timestamptz,
  add column provider_session text,
  add column id_token text;
