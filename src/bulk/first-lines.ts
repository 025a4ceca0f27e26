import { createHash } from 'node:crypto'
import { limits } from '../vocabulary/limits.ts'
import { fieldFault, Refusal } from '../vocabulary/refusals.ts'
import { contentOf, type DeviceRow, type RowOutcome } from './row-writers.ts'

interface FirstRow {
  line: number
  /** A digest of the row in a dry run that creates, whose device isn't stored. */
  digest: string | undefined
}

/**
 * Remembers the first row with each serial, so that a later row with other content can name its line; in a dry run that
 * creates, the first row also decides the later one's result. It forgets the oldest serials and lives in one process:
 * later rows are then refused without a line, or count as new in a dry run.
 */
export class FirstLines {
  private readonly firstOf = new Map<string, FirstRow>()
  private readonly decides: boolean

  /** `decides` is for a dry run that creates. */
  constructor(decides: boolean) {
    this.decides = decides
  }

  /** Returns a valid row's result, from its result without earlier portions. */
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
  const en = `also appears in line ${line} of this file, with different content`
  const errors = [fieldFault('deviceNo', en, `在本文件第 ${line} 行已出现，且内容不同`)]
  return new Refusal('deviceAlreadyYours', { errors })
}
