import postgres from 'postgres'
import { OldestServer } from '../kit/oldest-server.ts'

/** A PostgreSQL 15 database that counts what each statement reads (`pg_stat_statements`). */
export class MeasuredDatabase {
  readonly url: string
  /** A connection that the service does not use. */
  readonly sql: postgres.Sql
  private readonly server: OldestServer

  private constructor(folder: string, server: OldestServer) {
    this.server = server
    this.url = server.url
    this.sql = postgres({
      host: folder,
      user: 'forecourt',
      database: 'postgres',
      max: 1,
      onnotice: () => {},
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
    })
  }

  /** `settings`: settings of the server, each as `name=value`. */
  static async start(folder: string, settings: readonly string[] = []): Promise<MeasuredDatabase> {
    const counting = ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.max=10000']
    return new MeasuredDatabase(folder, await OldestServer.start(folder, [...counting, ...settings]))
  }

  async stop(): Promise<void> {
    await this.sql.end()
    await this.server.stop()
  }
}
