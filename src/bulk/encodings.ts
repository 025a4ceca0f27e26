export type Encoding = 'utf-8' | 'gb18030'

/**
 * Finds bytes that are valid UTF-8 but may be Chinese text in GB18030: 模 has the bytes of ģ. Nearly all Chinese UTF-8
 * can be decoded as GB18030, but into rare characters. So bytes count as UTF-8 only if it reads three or four bytes per
 * character and GB18030 a character beyond GB 2312; Latin, Greek and Cyrillic never suffice.
 */
export class TwoReadings {
  private lead = 0
  private isGb18030 = true
  private hasLetters = false
  private hasWide = false
  private hasRare = false

  /** Reads bytes known to be well-formed UTF-8. */
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
    // UTF-8 has no digit within a character, so no four-byte character of GB18030 can follow.
    this.isGb18030 = byte >= 0x40 && byte !== 0x7f
    this.hasRare ||= byte < 0xa1 || this.lead < 0xa1 || this.lead > 0xf7 || (this.lead > 0xa9 && this.lead < 0xb0)
    this.lead = 0
  }

  get isOpen(): boolean {
    return this.isGb18030 && !(this.hasWide && this.hasRare)
  }

  get isAmbiguous(): boolean {
    return this.isOpen && this.hasLetters && this.lead === 0
  }
}

/** Tells whether a UTF-8 lead byte is common in Chinese or English texts, unlike Thai and Korean. */
const isUsualLead = (byte: number) => (byte >= 0xe2 && byte <= 0xe9) || byte === 0xef || byte === 0xf0

export const utf8Mark = [0xef, 0xbb, 0xbf] as const

/** Recognizes UTF-16 by its byte-order mark or as ASCII text. */
export const isUtf16 = ([first, second]: Uint8Array) =>
  (first === 0xff && second === 0xfe) ||
  (first === 0xfe && second === 0xff) ||
  (first !== 0 && second === 0) ||
  (first === 0 && second !== undefined && second !== 0)
