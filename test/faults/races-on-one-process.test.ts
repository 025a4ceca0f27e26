import { describe } from 'bun:test'
import { describeRaces } from './races.ts'

describe('on one process', () => describeRaces(1))
