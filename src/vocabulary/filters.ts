import type { Static, TObject, TSchema } from 'typebox'
import { type Box, readBbox } from './coordinates.ts'
import { readTimeRange, type TimeRange } from './moments.ts'
import { pageQuery, sortMembers } from './pages.ts'
import { given } from './values.ts'

// A page operation declares its filters once, in its query. Pages, exports and bulk actions read them by that schema.

type NoFilter = 'appId' | keyof typeof pageQuery | 'sort' | 'order'
const noFilters = ['appId', ...Object.keys(pageQuery), ...sortMembers]

type Given<Value> = Exclude<Value, null | undefined | ''>

type FilterOf<Value> = [Given<Value>] extends ['true' | 'false'] ? boolean : Given<Value>

/** What a query filters by; null for a filter that is not given. */
export type Filters<Query extends TObject | undefined> = Query extends TObject
  ? {
      [Name in Exclude<keyof Static<Query>, NoFilter | 'timeFrom' | 'timeTo' | 'bbox'>]-?: FilterOf<
        Static<Query>[Name]
      > | null
    } & ('timeFrom' extends keyof Static<Query> ? { time: TimeRange } : unknown) &
      ('bbox' extends keyof Static<Query> ? { bbox: Box | null } : unknown)
  : never

/** The members of a query that are filters, with their schemas. */
export const filterMembers = (schema: TObject | undefined): [string, TSchema][] =>
  Object.entries(schema?.properties ?? {}).filter(([name]) => !noFilters.includes(name))

type Choice = { const?: unknown; anyOf?: Choice[] }

/** Whether a filter is `true` or `false`: a text in a query, a boolean in a body. */
export const isFlag = ({ const: value, anyOf = [] }: Choice): boolean => value === 'true' || anyOf.some(isFlag)

/**
 * Reads the filters of a query, which was checked by the schema: one that is missing or empty is null, `true` and `false` are
 * booleans, `timeFrom` and `timeTo` are `time`.
 */
export function readFilters<Query extends TObject>(schema: Query | undefined, query: object): Filters<Query> {
  const asked = query as Record<string, unknown>
  const read = ([name, member]: [string, TSchema]) => {
    const value = given(asked[name])
    return [name, value !== null && isFlag(member as Choice) ? String(value) === 'true' : value]
  }
  const { timeFrom, timeTo, bbox, ...filters } = Object.fromEntries(filterMembers(schema).map(read))
  return {
    ...filters,
    ...(timeFrom !== undefined && { time: readTimeRange({ timeFrom, timeTo }) }),
    ...(bbox !== undefined && { bbox: bbox === null ? null : readBbox(bbox) }),
  } as Filters<Query>
}
