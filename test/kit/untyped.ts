import { operations } from '../../src/reference/operations.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'

/** An operation without its types, for tests that treat all operations alike. */
export function untyped({ id }: { id: string }): Operation {
  const operation = operations.find((one) => one.id === id)
  if (operation === undefined) throw new Error(`no operation is called ${id}`)
  return operation
}
