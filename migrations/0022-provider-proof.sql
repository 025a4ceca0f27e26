-- When a session's person last signed in anew at the provider, where our second factor is still to be shown for a proof.
alter table operator_session add column provider_proven_at timestamptz;
