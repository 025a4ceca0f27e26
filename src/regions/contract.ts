import Type, { type Static, type TSchema } from 'typebox'
import { operation } from '../vocabulary/operation.ts'
import { described, divisionCode, integer, named, nullable, oneOf, optional, shownKey } from '../vocabulary/values.ts'

const folder = '/api/region/v1/region'
const level = Type.Integer({
  [shownKey]: named('RegionLevel', described(oneOf(1, 2, 3), '1 province, 2 city, 3 district.')),
})

/** A region as the tree shows it. Three levels are written out: OpenAPI's tools know those, and few know recursion. */
const node = (child: TSchema, most?: number) =>
  Type.Object({
    code: Type.String(),
    name: Type.String({ examples: ['东湖区'] }),
    level,
    children: Type.Array(child, most === undefined ? {} : { maxItems: most }),
  })

export const getRegionTree = operation({
  id: 'getRegionTree',
  group: 'regions',
  summary:
    'Answers the national divisions as a tree: all divisions or those below `code`, in all levels or in `depth` levels.',
  method: 'GET',
  path: `${folder}/tree`,
  callers: ['application', 'operator'],
  query: Type.Object({
    code: optional(divisionCode),
    depth: optional(integer(1, 3)),
  }),
  data: Type.Object({ list: Type.Array(node(node(node(Type.Unknown(), 0)))) }),
  refusals: ['regionNotFound'],
  cached: true,
})

const RegionRecord = named(
  'Region',
  Type.Object({
    code: Type.String(),
    name: Type.String({ examples: ['东湖区'] }),
    level,
    parentCode: nullable(Type.String()),
    fullName: Type.String({ description: 'the names from the province down, as written in an address' }),
  }),
)
export type RegionRecord = Static<typeof RegionRecord>

export const getRegion = operation({
  id: 'getRegion',
  group: 'regions',
  summary: 'Answers one national division.',
  method: 'GET',
  path: `${folder}/detail`,
  callers: ['application', 'operator'],
  query: Type.Object({ code: divisionCode }),
  data: RegionRecord,
  refusals: ['regionNotFound'],
})
