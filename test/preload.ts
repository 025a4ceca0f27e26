import { afterAll } from 'bun:test'
import { stopTarget } from './kit/client.ts'

afterAll(stopTarget)
