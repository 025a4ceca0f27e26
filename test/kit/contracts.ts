import type { Static, TObject, TSchema } from 'typebox'
import { type contracts, operations } from '../../src/reference/operations.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'

type All<Each> = (Each extends unknown ? (one: Each) => void : never) extends (all: infer Together) => void
  ? Together
  : never
type Exported = All<(typeof contracts)[number]>

/** The ID of an operation is also the name of its contract. */
export type OperationId = {
  [Name in keyof Exported]: Exported[Name] extends { id: string; path: string } ? Name : never
}[keyof Exported]

/** What an operation answers with, by its ID or its contract. */
export type DataOf<Called> = Called extends OperationId
  ? DataOf<Exported[Called]>
  : Called extends Operation<TObject, TObject, infer Data extends TSchema>
    ? Static<Data>
    : never

const byId = new Map(operations.map((operation) => [operation.id, operation]))

/** Returns a contract, also by its ID. */
export function contractOf(called: OperationId | Operation): Operation {
  if (typeof called !== 'string') return called
  const found = byId.get(called)
  if (found === undefined) throw new Error(`no operation ${called}`)
  return found
}
