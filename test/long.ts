import { test } from 'bun:test'
import { isLong } from './faults/support.ts'

/** A test of the long run only: in the gate another one meets the same mechanism. */
export const longTest = test.skipIf(!isLong)
