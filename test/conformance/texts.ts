import { astral } from './support.ts'

/** The kinds of text that contract §2 distinguishes. */
export interface TextRule {
  max: number
  /** White space is refused everywhere in the text, as in serial numbers. */
  withoutWhiteSpace?: boolean
}

const twoCharactersOneLetter = 'e\u0301' // normalising would combine these two into one character
const compatibility = '\u212b\ufb01' // normalising would replace these characters
const invisible = 'a\u200b\u200db'

/** Texts that must be stored and shown exactly as they are sent. */
export function storedAsSent({ max, withoutWhiteSpace = false }: TextRule): string[] {
  const texts = [
    'x',
    'x'.repeat(max),
    astral.repeat(max),
    twoCharactersOneLetter,
    compatibility,
    invisible,
    '0012',
    'null',
    `'";--\\`,
    '<b>&amp;',
    '%00\\u0000',
    '\uffff',
    '东湖区',
  ]
  return withoutWhiteSpace ? texts : [...texts, ' x', 'x ', 'x  y', '\u3000x', 'x\u2028y', '\u00a0x']
}

const controlCharacters = ['\0', '\t', '\n', '\r', '\x1b', '\x1f', '\x7f', '\x80', '\x85', '\x9f']
const loneSurrogates = ['\ud800', '\udbff', '\udc00', '\udfff']
const otherTypes = [12, 1.5, 0, true, false, {}, [], ['x']]
const whiteSpaces = [' ', '\u3000', '\u00a0', '\u2003', '\u2028']

/**
 * Values that a member of this kind always refuses, whether it is required or not. JSON.stringify writes lone
 * surrogates as escapes.
 */
export function neverText({ max, withoutWhiteSpace = false }: TextRule): unknown[] {
  return [
    'x'.repeat(max + 1),
    astral.repeat(max + 1),
    `${'x'.repeat(max)} `,
    ...controlCharacters.map((character) => `a${character}b`),
    ...controlCharacters.map((character) => `a${character}`),
    ...loneSurrogates.map((half) => `a${half}b`),
    '\udc00\ud800',
    ...otherTypes,
    ...(withoutWhiteSpace ? whiteSpaces.map((space) => `a${space}b`) : []),
    ...(withoutWhiteSpace ? [' a', 'a '] : []),
  ]
}

/** Values that a required text also refuses: absent, empty, or only white space. */
export const notGiven: unknown[] = [undefined, null, '', ...whiteSpaces, '  \u3000 ']

/** JSON texts that are not an integer in the sense of contract §2. */
export const neverIntegers = [
  ...['-1', '1.5', '9007199254740992', '9007199254740993', '1e400', '-1e400', '1e30', '"1"', '" "', 'true', 'false'],
  ...['{}', '[]', '[1]'],
]
