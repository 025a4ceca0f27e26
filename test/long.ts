import { test } from 'bun:test'
import { isLong } from './faults/support.ts'

/** A test for the long run only: in the short run, another test covers the same mechanism. */
export const longTest = test.skipIf(!isLong)
