import { signal } from './signal.ts'

// Chinese is typed in pieces: while a word is being composed, the field holds letters that nobody means.

const composing = signal(false)
const note = composing.set

/** Whether a word is being composed in the field that has the focus. */
export const isComposing = composing.get

/** Calls a function when a word begins or ends. Returns what ends that. */
export const whenComposing = composing.listen

/** Keys with which an input method ends, changes or leaves a word. */
const keysOfWords = /^(Enter|Escape|Tab|Arrow|Page|Home|End)/

/**
 * Keeps the keys of an input method from every handler of the page. Safari reports the key that ends a word after the
 * word has ended, and tells it only by its code, 229. Called once, before anything else listens.
 */
export function watchComposing(): void {
  addEventListener('compositionstart', () => note(true), true)
  addEventListener('compositionend', () => note(false), true)
  // A field that is left or removed may end no word.
  addEventListener('focusout', () => note(false), true)
  addEventListener(
    'keydown',
    (event) => {
      if (!(event.isComposing || event.keyCode === 229) || !keysOfWords.test(event.key)) return
      event.stopImmediatePropagation()
      // Nor may the browser send the form or close the dialog by it.
      if (event.key === 'Enter' || event.key === 'Escape') event.preventDefault()
    },
    true,
  )
}
