const blank = /^[\s\p{Cc}\u200b]*$/u

/** Whether a cell or a line shows nothing: white space of any width, or the zeros that pad a file. */
export const isBlank = (text: string): boolean => text === '' || blank.test(text)
