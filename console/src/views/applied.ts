import { signal } from '../browser/signal.ts'

/**
 * How many views have been applied; it is a part of the page's React key. Applying a saved view changes the address and the
 * choice of columns together. The page is then rendered anew.
 */
export const appliedViews = signal(0)
