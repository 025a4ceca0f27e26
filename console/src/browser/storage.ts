// What the browser keeps of a person's choices. A browser that forbids storage throws at every access: then nothing is
// kept, and everything else works.

type Kind = 'localStorage' | 'sessionStorage'

/** A stored text; null if there is none. */
export function stored(key: string, kind: Kind = 'localStorage'): string | null {
  try {
    return globalThis[kind].getItem(key)
  } catch {
    return null
  }
}

/** Stores a text, or removes it if it is null. */
export function store(key: string, text: string | null, kind: Kind = 'localStorage'): void {
  try {
    if (text === null) globalThis[kind].removeItem(key)
    else globalThis[kind].setItem(key, text)
  } catch {
    // Also thrown when the storage is full.
  }
}
