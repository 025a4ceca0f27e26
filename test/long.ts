import { test } from 'bun:test'
import { isLong } from './faults/support.ts'

/** A test that only the long run runs: in the gate, another test covers the same mechanism. */
export const longTest = test.skipIf(!isLong)
