/** A nightly backup and two hours. */
const lateBackupMs = 26 * 3_600_000

/** If one is taken each night; null if none was ever taken. */
export const isBackupLate = (takenAt: Date | null) => takenAt === null || Date.now() - takenAt.getTime() > lateBackupMs

interface Table {
  name: string
  references: readonly string[]
}

/** Tokens are included, so that programs continue after a move; people sign in again. */
const leftOut = new Set([
  // The head names the files that made the schema, and the program creates its routines.
  'schema_migration',
  'routine',
  // The restored database has a key of its own, and everything is sealed again with it.
  'secrets_key',
  // Sessions and links may have been revoked since the backup.
  'operator_session',
  'operator_setup',
  'operator_totp_draft',
  'used_ticket',
  'sign_in_attempt',
  // Counted again after the restore.
  'platform_count',
  'fleet_count',
  'usage_hour',
  // The backups of another place.
  'backup_record',
  // What another place could hear.
  'service_hearing',
])

/** Their rows stay in a restore. */
const staying = new Set(['schema_migration', 'routine', 'secrets_key'])

/** Before anybody uses the service; a row in any other table is a user's. */
const writtenByItself = new Set([
  ...leftOut,
  'access_token',
  'application',
  'application_lock',
  'billing_rule',
  'callback_pause',
  'database_size',
  'device_catalogue',
  'event',
  'event_head',
  'idempotency_key',
  'minute_figures',
  'operator',
  'operator_browser',
  'refusal',
  'region_version',
  'rule_terms',
  'third_party_config',
])

export const isKept = ({ name }: Pick<Table, 'name'>) => !leftOut.has(name)
export const isReplaced = ({ name }: Pick<Table, 'name'>) => !staying.has(name)
export const isWrittenByItself = ({ name }: Pick<Table, 'name'>) => writtenByItself.has(name)

/** Each table comes after those that its rows refer to. */
export function sortByReference<Named extends Table>(tables: readonly Named[]): Named[] {
  const placed = new Map<string, Named>()
  const place = (table: Named) => {
    if (placed.has(table.name)) return
    for (const other of tables) if (table.references.includes(other.name)) place(other)
    placed.set(table.name, table)
  }
  for (const table of tables) place(table)
  return [...placed.values()]
}
