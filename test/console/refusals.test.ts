import { expect, test } from 'bun:test'
import { operationWords } from '../../console/src/words/operation-words.ts'
import { operations } from '../../src/reference/operations.ts'

test('every write that a known caller may be refused has words, and no other name has', () => {
  const writes = operations.filter(({ method, callers }) => method === 'POST' && callers.length > 0).map(({ id }) => id)
  const missing = writes.filter((id) => !(id in operationWords))
  expect(missing, 'their words belong into console/src/words/operation-words.ts').toEqual([])
  const ids = operations.map(({ id }) => id)
  expect(Object.keys(operationWords).filter((id) => !ids.includes(id))).toEqual([])
})
