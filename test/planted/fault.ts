/** A fault to plant in a copy of the checkout (`scripts/planted.ts`), to see which tests find it. */
export interface Fault {
  /** What is wrong then. */
  name: string
  file: string
  /** Occurs exactly once in the file. */
  find: string
  replace: string
  /** The test files that find it; empty if they aren’t known yet. */
  foundBy: readonly string[]
  /** It changes generated files, which the copy then generates again. */
  isGenerated?: true
  /** Only the long run finds it. */
  isOfLongRun?: true
}
