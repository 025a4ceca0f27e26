import { transaction } from '../database/transaction.ts'
import { inSession, type Place } from './session.ts'
import { type BackupRecord, insertRecord } from './store.ts'

/** For the metrics and `forecourt doctor`. */
export function recordBackup(place: Place, record: BackupRecord): Promise<void> {
  return inSession(place, ({ sql }) => transaction(sql, (tx) => insertRecord(tx, record)))
}
