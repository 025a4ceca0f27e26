import type { Statements } from '../database/open.ts'

/** It adds history through the two tables only, never in a partition, and removes it only by `keep_history`. */
export async function grantService(owner: Statements, role: string): Promise<void> {
  await owner.unsafe(`
    revoke all on database forecourt from public;
    revoke all on schema public from public;
    revoke all on all tables in schema public from ${role};
    grant connect on database forecourt to ${role};
    grant usage on schema public to ${role};
    grant select, insert, update, delete on all tables in schema public to ${role};
    revoke update, delete on event, state_change from ${role};
    do $$
    declare v_name text;
    begin
      for v_name in select inhrelid::regclass::text from pg_inherits
        where inhparent in ('event'::regclass, 'state_change'::regclass)
      loop
        execute format('revoke all on %s from ${role}', v_name);
      end loop;
    end $$;
    revoke insert, update, delete on schema_migration, routine from ${role};
    grant update (seen_at) on routine to ${role};
    grant usage, select on all sequences in schema public to ${role};
    grant execute on all routines in schema public to ${role};`)
}
