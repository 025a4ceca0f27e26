import { expect, test } from 'bun:test'
import { boundOf, manyInGate, measureOperations, mostOf } from './costs/walk.ts'
import { atScale } from './faults/support.ts'
import { hasOldestPostgres } from './harness.ts'

// No operation may read more because its tables have more rows, whether PostgreSQL has statistics or not.

test.if(hasOldestPostgres)(
  'every operation reads as much beside many rows as beside few',
  async () => {
    const many = atScale(manyInGate, 200_000)
    const costs = await measureOperations(many)
    const told = ({ name, small, large, analysed }: (typeof costs)[number]) =>
      `${name}: ${small.read} → ${large.read} without statistics (${large.dearest}), ${analysed.read} with (${analysed.dearest})`
    const grown = costs.filter((cost) => !cost.isOpen && mostOf(cost) > boundOf(cost, many))
    expect(grown.map(told)).toEqual([])
    // Operations marked as growing (`isOpen`) that no longer grow: their mark must be removed.
    const mended = costs.filter((cost) => cost.isOpen && mostOf(cost) <= boundOf(cost, many))
    expect(mended.map(told)).toEqual([])
    // An allowance (`allowed`) that the operation does not need could hide a later fault.
    expect(costs.filter(({ allowed, isOpen }) => allowed && isOpen)).toEqual([])
  },
  600_000,
)
