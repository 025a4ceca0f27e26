import { describe } from 'bun:test'
import { describeRaces } from './races.ts'

describe('on two processes that share a database', () => describeRaces(2))
