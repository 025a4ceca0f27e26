-- Whether a session that began by a password alone has shown the account's second factor since, or set it up itself.
alter table operator_session add column has_shown_factor boolean not null default false;
