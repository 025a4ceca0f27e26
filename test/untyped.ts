import { operations } from '../src/reference/operations.ts'
import type { Operation } from '../src/vocabulary/operation.ts'

/** An operation as one of many, for tests that take each as its contract says and know the types of none. */
export function untyped({ id }: { id: string }): Operation {
  const operation = operations.find((one) => one.id === id)
  if (operation === undefined) throw new Error(`no operation is called ${id}`)
  return operation
}
