import { expect, test } from 'bun:test'
import { Company } from '../runtime/company.ts'
import { limits } from '../vocabulary/limits.ts'
import { Pace } from './pace.ts'

const { requestsInTurn: most, requestsOfOneInTurn: ofOne, requestsOfCrowdInTurn: ofCrowd } = limits
const nextTurn = async () => {
  await new Promise((resolve) => setImmediate(resolve))
  await Promise.resolve()
}

function crowd(company: Company) {
  const pace = new Pace(company, 1000)
  const begun: string[] = []
  return {
    begun,
    countOf: (caller: string) => begun.filter((one) => one === caller).length,
    ask(caller: string, times = 1): void {
      for (let count = 0; count < times; count++) {
        const wait = pace.wait(caller, caller.startsWith('stranger'))
        if (wait === undefined) begun.push(caller)
        else void wait.then(() => begun.push(caller))
      }
    },
  }
}

test('while there are others, few requests of a caller begin in a turn of the event loop, and none is lost', async () => {
  const company = new Company()
  company.note('busy')
  const { begun, countOf, ask } = crowd(company)
  ask('busy', 3 * ofOne)
  ask('other')
  expect([countOf('busy'), countOf('other')]).toEqual([ofOne, 1])
  await nextTurn()
  expect(countOf('busy')).toBe(2 * ofOne)
  ask('other')
  ask('busy')
  expect([countOf('busy'), countOf('other')]).toEqual([2 * ofOne, 2])
  for (let turn = 0; turn < 3; turn++) await nextTurn()
  expect(begun).toHaveLength(3 * ofOne + 3)
})

test('however many callers there are, those that wait take turns', async () => {
  const company = new Company()
  company.note('one')
  const { begun, countOf, ask } = crowd(company)
  for (let caller = 0; caller < 2 * most; caller++) ask(`stranger ${caller}`)
  ask('late')
  expect(begun).toHaveLength(most)
  await nextTurn()
  expect([begun.length, countOf('late')]).toEqual([2 * most, 0])
  await nextTurn()
  expect([begun.length, countOf('late')]).toEqual([2 * most + 1, 1])
})

test('who is alone waits for nothing', () => {
  const { begun, ask } = crowd(new Company())
  ask('alone', 4 * most)
  expect(begun).toHaveLength(4 * most)
  // Nobody knows how many a stranger is.
  ask('stranger', ofOne + 1)
  expect(begun).toHaveLength(4 * most + ofOne)
})

test('of a crowd fewer begin in a turn, and the others all the same', async () => {
  const company = new Company()
  company.note('busy')
  const { countOf, ask } = crowd(company)
  ask('busy', 1001 + 2 * ofOne)
  expect(countOf('busy')).toBe(ofOne)
  await nextTurn()
  expect(countOf('busy')).toBe(ofOne + ofCrowd)
  ask('other')
  expect(countOf('other')).toBe(1)
})
