import type { Sql } from '../database/open.ts'
import { startRounds } from '../runtime/loop.ts'
import type { Peers } from '../runtime/peer-processes.ts'
import { replaceSavedRegions } from './names.ts'
import { readRegions, regionsVersion } from './store.ts'

/** Other machines see a change within a second. */
const lookEveryMs = 400

export class SavedRegions {
  private readonly sql: Sql
  private readonly peers: Peers
  private version: string | undefined
  private last: Promise<unknown> = Promise.resolve()
  private rounds: { stop(): void } | undefined

  constructor(sql: Sql, peers: Peers) {
    this.sql = sql
    this.peers = peers
    peers.onAsked('regions', async () => {
      await this.read()
      return null
    })
  }

  /** Resolves when this process uses the names; later changes follow. */
  async start(): Promise<void> {
    await this.read()
    // While the database is away, the names stay as they are; others log that.
    this.rounds = startRounds(() => this.read().catch(() => {}), lookEveryMs)
  }

  stop(): void {
    this.rounds?.stop()
  }

  /** Resolves when all processes of this machine use the change. */
  async noteChange(): Promise<void> {
    await Promise.all([this.read(), this.peers.ask('regions', null)])
  }

  /** One after the other, so that an earlier reading never replaces a later one. */
  private read(): Promise<void> {
    const reading = this.last.then(() => this.readIfChanged())
    this.last = reading.catch(() => {})
    return reading
  }

  private async readIfChanged(): Promise<void> {
    if (this.version !== undefined && (await regionsVersion(this.sql)) === this.version) return
    const { version, saved } = await readRegions(this.sql)
    replaceSavedRegions(saved)
    this.version = version
  }
}
