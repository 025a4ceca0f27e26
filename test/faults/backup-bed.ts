import { expect } from 'bun:test'
import { join } from 'node:path'
import type postgres from 'postgres'
import { forecourt } from '../cli/support.ts'
import { type OwnDatabase, withSql } from '../kit/database.ts'
import type { Ended } from '../kit/service.ts'
import { Workplace } from '../kit/workplace.ts'

/** A database server with a schema to copy from, and databases and files for backups of it. */
export class BackupBed {
  readonly place = new Workplace()
  private server!: OwnDatabase
  private made = 0

  async start(): Promise<void> {
    this.server = await this.place.startDatabase()
    // Databases are copied from this one, so it needs the schema.
    expectDone({ ...(await forecourt(['migrate', 'up'], { DATABASE_URL: this.server.url() })), stderr: '' })
  }

  clear(): Promise<void> {
    return this.place.clear()
  }

  /**
   * Creates a database without a schema on the server. Returns environment variables for it, and a function that runs
   * SQL in it.
   */
  readonly newDatabase = async (template = 'template1') => {
    const name = `restored_${++this.made}`
    await this.server.run((sql) => sql.unsafe(`create database ${name} template ${template}`))
    const connection = { ...this.server.connection, database: name }
    const env = { DATABASE_URL: this.server.url(name), FORECOURT_DATA_DIR: this.place.newFolder() }
    return { env, look: <T>(use: (sql: postgres.Sql) => Promise<T>) => withSql(connection, use) }
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
