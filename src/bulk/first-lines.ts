import { limits } from '../vocabulary/limits.ts'
import { Refusal } from '../vocabulary/refusals.ts'

/**
 * The lines of a file on which serial numbers came first, so that a later row with the same serial number and other
 * content says which row has the device. Only the newest serial numbers are remembered, and only by the process that
 * read them: a row whose first line is forgotten is refused all the same, without that line.
 */
export class FirstLines {
  private readonly lineOf = new Map<string, number>()

  /** Notes where a serial number came first. */
  note(serial: string, line: number): void {
    if (this.lineOf.has(serial)) return
    if (this.lineOf.size === limits.importKnownSerials) {
      for (const oldest of this.lineOf.keys()) {
        this.lineOf.delete(oldest)
        break
      }
    }
    this.lineOf.set(serial, line)
  }

  /** The refusal of a row whose device the application has, with the earlier line of the file that has it too. */
  explained(refusal: Refusal, serial: string, ownLine: number): Refusal {
    const line = this.lineOf.get(serial)
    if (line === undefined || line === ownLine) return refusal
    const reason = {
      en: `is also in line ${line} of this file, with other content`,
      zh: `在本文件第 ${line} 行已出现，且内容不同`,
    }
    return new Refusal(refusal.refusal, { errors: [{ field: 'deviceNo', reason }] })
  }
}
