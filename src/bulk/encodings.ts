// Bytes that two encodings read, each as other letters.

/** The encodings of a CSV file. */
export type Encoding = 'utf-8' | 'gb18030'

/**
 * Whether bytes that are well-formed UTF-8 may as well be Chinese text in GB18030: 模 has the bytes of ģ. Nearly every
 * Chinese text in UTF-8 can be decoded as GB18030 too, but into characters that no one writes. So the bytes are taken for
 * UTF-8 only if it reads them as characters of three or four bytes, and GB18030 reads a character beyond GB 2312. Latin,
 * Greek and Cyrillic letters, of two bytes each, are never enough.
 */
export class TwoReadings {
  /** The first byte of a pair whose second one has not come; 0 for none. */
  private lead = 0
  private isGb18030 = true
  private hasLetters = false
  private hasWide = false
  private hasRare = false

  /** Reads on. The bytes are known to be well-formed UTF-8. */
  read(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length && this.isOpen; at++) this.take(bytes[at] as number)
  }

  private take(byte: number): void {
    if (byte >= 0xe0) this.hasWide ||= isUsualLead(byte)
    if (this.lead === 0) {
      if (byte < 0x80) return
      this.hasLetters = true
      this.isGb18030 = byte !== 0x80
      this.lead = byte
      return
    }
    // In UTF-8 no digit stands between the bytes of a character, so none of GB18030's characters of four bytes can follow.
    this.isGb18030 = byte >= 0x40 && byte !== 0x7f
    this.hasRare ||= byte < 0xa1 || this.lead < 0xa1 || this.lead > 0xf7 || (this.lead > 0xa9 && this.lead < 0xb0)
    this.lead = 0
  }

  /** Whether both readings are still possible, or the bytes are ASCII so far. */
  get isOpen(): boolean {
    return this.isGb18030 && !(this.hasWide && this.hasRare)
  }

  /** Whether both readings are possible now that the bytes have ended. */
  get isAmbiguous(): boolean {
    return this.isOpen && this.hasLetters && this.lead === 0
  }
}

/** Whether a first byte of UTF-8 begins characters that Chinese and English texts have: not Thai, not Korean. */
const isUsualLead = (byte: number) => (byte >= 0xe2 && byte <= 0xe9) || byte === 0xef || byte === 0xf0

/** A byte-order mark of UTF-8. */
export const utf8Mark = [0xef, 0xbb, 0xbf] as const

/** Whether bytes begin with UTF-16's byte-order mark, or are ASCII text in UTF-16 without it. */
export const isUtf16 = ([first, second]: Uint8Array) =>
  (first === 0xff && second === 0xfe) ||
  (first === 0xfe && second === 0xff) ||
  (first !== 0 && second === 0) ||
  (first === 0 && second !== undefined && second !== 0)
