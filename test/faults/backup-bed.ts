import { expect } from 'bun:test'
import { join } from 'node:path'
import type postgres from 'postgres'
import type { Ended } from '../kit/service.ts'
import { newSharedDatabase } from '../kit/shared-server.ts'
import { Workplace } from '../kit/workplace.ts'

/** Databases and files for backups. */
export class BackupBed {
  readonly place = new Workplace()
  private made = 0

  clear(): Promise<void> {
    return this.place.clear()
  }

  /** Creates a database. Returns environment variables for it, and a function that runs SQL in it. */
  readonly newDatabase = async (template: 'forecourt' | 'template1' = 'template1') => {
    const database = await newSharedDatabase(template)
    const env = { DATABASE_URL: database.url(), FORECOURT_DATA_DIR: this.place.newFolder() }
    return { env, look: <T>(use: (sql: postgres.Sql) => Promise<T>) => database.run(use) }
  }

  readonly newFile = () => join(this.place.home, `backup-${++this.made}`)
}

export function expectDone(ended: Ended): void {
  expect([ended.code, ended.stderr]).toEqual([0, ''])
}

/** Expects that the command ended with one sentence on standard error, and with exit code 1. */
export function expectRefused({ code, stdout, stderr }: Ended, words: RegExp | string): void {
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(words)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
}
