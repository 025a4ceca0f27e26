import { expect, test } from 'bun:test'
import { boundOf, manyInGate, measureOperations, mostOf } from './costs/walk.ts'
import { atScale } from './faults/support.ts'
import { hasOldestPostgres } from './harness.ts'

// No operation reads more because more rows lie beside, whether the database has statistics or not.

test.if(hasOldestPostgres)(
  'every operation reads as much beside many rows as beside few',
  async () => {
    const many = atScale(manyInGate, 200_000)
    const costs = await measureOperations(many)
    const told = ({ name, small, large, analysed }: (typeof costs)[number]) =>
      `${name}: ${small.read} → ${large.read} without statistics (${large.dearest}), ${analysed.read} with (${analysed.dearest})`
    const grown = costs.filter((cost) => !cost.isOpen && mostOf(cost) > boundOf(cost, many))
    expect(grown.map(told)).toEqual([])
    // What is known to grow, and is to be taken from here once it is mended.
    const mended = costs.filter((cost) => cost.isOpen && mostOf(cost) <= boundOf(cost, many))
    expect(mended.map(told)).toEqual([])
    // An allowance that nothing needs is one that hides something.
    expect(costs.filter(({ allowed, isOpen }) => allowed && isOpen)).toEqual([])
  },
  600_000,
)
