import Type, { type TSchema } from 'typebox'
import { limits } from './limits.ts'
import { refusals } from './refusals.ts'
import { described, FieldFaults, named, namedSchemas, nameOf, nullable, oneOf, shownKey } from './values.ts'

// Pages are in `pages.ts`, which does not import refusals: the console's first load does not need their texts.

/** Rows are checked one by one: an invalid one is a result, not the end of the request. */
export function batchOf(row: TSchema, description?: string) {
  return Type.Array(Type.Unknown({ [shownKey]: row }), {
    minItems: 1,
    maxItems: limits.batchRows,
    ...(description === undefined ? {} : { description }),
  })
}

/** Without 0, so that in typed languages the code tells which of the two results a row had. */
const RefusalCode = named(
  'RefusalCode',
  described(
    oneOf(
      ...Object.values(refusals)
        .map(({ code }) => code)
        .sort((one, other) => one - other),
    ),
    'The error code.',
  ),
)

const namesOfRows = {
  deviceNo: Type.String(),
  siteName: Type.String(),
  id: Type.Integer(),
}

/** Published as two records by `code`, done and refused. `title` names them if another batch has the record's name. */
export function outcomesOf<const Name extends keyof typeof namesOfRows, Schema extends TSchema>(
  name: Name,
  schema: Schema,
  title = nameOf(schema) ?? '',
) {
  const key = described(namesOfRows[name], 'The value that identifies the row; null if the row has none.')
  const member = { [name]: nullable(key) } as Record<Name, ReturnType<typeof nullable<(typeof namesOfRows)[Name]>>>
  const msg = Type.String({ description: 'Message: success, or why the row was refused.' })
  const faults = Type.Union([FieldFaults, Type.Null()], {
    description: 'The invalid fields of the row; null if there are none.',
  })
  // Several batches return the same record.
  const known = namedSchemas.get(`${title}Outcomes`)
  const done = () =>
    named(
      `${title}Done`,
      Type.Object({
        ...member,
        code: Type.Literal(0, { description: '0: success.' }),
        msg,
        data: described(schema, 'The record, as returned by the operation for a single row.'),
      }),
    )
  const code = described(RefusalCode, 'The error code: why the row was refused.')
  const refused = () => named(`${title}Refused`, Type.Object({ ...member, code, msg, data: faults }))
  const outcome = Type.Object(
    { ...member, code: Type.Integer(), msg, data: Type.Union([schema, Type.Null(), FieldFaults]) },
    known === undefined ? { [shownKey]: Type.Union([done(), refused()]) } : {},
  )
  const outcomes = Type.Object({
    results: Type.Array(outcome, { description: 'One result per row, in order.' }),
  })
  return (known as typeof outcomes | undefined) ?? named(`${title}Outcomes`, outcomes)
}
