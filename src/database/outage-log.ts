import type { Logger } from 'pino'

/** Logs one line when repeated work starts to fail and one when it succeeds again. */
export class OutageLog {
  private readonly log: Pick<Logger, 'info' | 'warn'>
  private readonly words: { failing: string; succeeding: string }
  private isFailing = false

  constructor(log: Pick<Logger, 'info' | 'warn'>, words: { failing: string; succeeding: string }) {
    this.log = log
    this.words = words
  }

  failed(error: unknown): void {
    if (!this.isFailing) this.log.warn({ err: error }, this.words.failing)
    this.isFailing = true
  }

  succeeded(): void {
    if (this.isFailing) this.log.info(this.words.succeeding)
    this.isFailing = false
  }
}
