import { describe } from 'bun:test'
import { describeRaces } from './races.ts'
import { atScale } from './support.ts'

describe.each(atScale([2], [2, 1]))('on as many processes that share a database: %d', (processes) =>
  describeRaces(processes),
)
