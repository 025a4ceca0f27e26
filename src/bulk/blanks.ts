const blank = /^[\s\p{Cc}\u200b]*$/u

/** Tells whether a cell or line shows nothing: white space of any width, or the zeros that pad a file. */
export const isBlank = (text: string): boolean => text === '' || blank.test(text)
