import { createHash } from 'node:crypto'
import { limits } from '../vocabulary/limits.ts'
import { Refusal } from '../vocabulary/refusals.ts'
import { contentOf, type DeviceRow, type RowOutcome } from './row-writers.ts'

interface FirstRow {
  line: number
  /** A digest of the content of a dry run's row, whose device is in no table; undefined otherwise. */
  digest: string | undefined
}

/**
 * The rows of a file that had a serial number first. A later row with the same serial number and other content says which
 * row has the device; in a dry run that creates, the first row also decides the outcome of the later one. Only the newest
 * serial numbers are remembered, and only by the process that read them: a row whose first row is forgotten is refused
 * without its line, and in a dry run it counts as new.
 */
export class FirstLines {
  private readonly firstOf = new Map<string, FirstRow>()
  private readonly decides: boolean

  /** `decides` is for a dry run that creates. */
  constructor(decides: boolean) {
    this.decides = decides
  }

  /** The outcome of a valid row, given the outcome that it has without the rows of earlier portions. */
  outcomeOf(row: DeviceRow, line: number, outcome: RowOutcome): RowOutcome {
    const { deviceNo: key } = row
    const first = this.firstOf.get(key)
    // After a rollback a row meets itself.
    if (first === undefined || first.line === line) {
      if ('outcome' in outcome) this.note(key, { line, digest: this.decides ? digestOf(row) : undefined })
      return outcome
    }
    if (first.digest !== undefined) {
      return first.digest === digestOf(row) ? { outcome: 'existing', key } : { refusal: alsoIn(first.line) }
    }
    const isHeld = 'refusal' in outcome && outcome.refusal.refusal === 'deviceAlreadyYours'
    return isHeld ? { refusal: alsoIn(first.line) } : outcome
  }

  private note(serial: string, first: FirstRow): void {
    if (this.firstOf.size >= limits.importKnownSerials) {
      const [oldest] = this.firstOf.keys()
      if (oldest !== undefined) this.firstOf.delete(oldest)
    }
    this.firstOf.set(serial, first)
  }
}

const digestOf = (row: DeviceRow) => createHash('sha256').update(contentOf(row)).digest('base64')

function alsoIn(line: number): Refusal {
  const reason = {
    en: `also appears in line ${line} of this file, with different content`,
    zh: `在本文件第 ${line} 行已出现，且内容不同`,
  }
  return new Refusal('deviceAlreadyYours', { errors: [{ field: 'deviceNo', reason }] })
}
