import { afterAll } from 'bun:test'
import { stopTarget } from './harness.ts'

afterAll(stopTarget)
