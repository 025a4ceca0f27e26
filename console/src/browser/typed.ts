/** The full-width forms of ASCII, and how far they are from it. */
const fullWidth = /[\uff01-\uff5e]/g
const toAscii = 0xfee0

/**
 * A serial number or a code as the device, or the other program, has it: an input method or a page that it was copied
 * from gives letters and digits of full width, and signs that nobody sees.
 */
export const plainCode = (text: string): string =>
  text
    .replace(fullWidth, (sign) => String.fromCharCode(sign.charCodeAt(0) - toAscii))
    .replace(/\p{Cf}/gu, '')
    .trim()
