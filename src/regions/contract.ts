import Type, { type Static, type TSchema } from 'typebox'
import { operation } from '../vocabulary/operation.ts'
import { pageOf, pageQuery } from '../vocabulary/pages.ts'
import type { Reason } from '../vocabulary/refusals.ts'
import {
  described,
  divisionCode,
  integer,
  moment,
  name,
  named,
  nullable,
  oneOf,
  optional,
  reasonKey,
  shownKey,
  withExample,
} from '../vocabulary/values.ts'

const folder = '/api/region/v1/region'
const platformFolder = '/api/platform/v1/region'
const level = Type.Integer({
  [shownKey]: named('RegionLevel', described(oneOf(1, 2, 3), '1 province, 2 city, 3 district.')),
})

/** Three levels are written out: OpenAPI's tools know those, and few know recursion. */
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
    'Returns the regions as a tree: all of them or those below `code`, in all levels or in `depth` levels. Regions that have ended are not in it.',
  method: 'GET',
  path: `${folder}/tree`,
  callers: ['application', 'operator'],
  query: Type.Object({
    code: optional(divisionCode),
    depth: optional(integer(1, 3)),
  }),
  data: Type.Object({
    list: Type.Array(node(node(node(Type.Unknown(), 0)))),
    tableDate: Type.String({
      description: 'The day up to which the built-in table has the ministry’s changes; operators can add later ones.',
      examples: ['2025-12-31'],
    }),
  }),
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
  summary: 'Returns one region, also one that has ended.',
  method: 'GET',
  path: `${folder}/detail`,
  callers: ['application', 'operator'],
  query: Type.Object({ code: divisionCode }),
  data: RegionRecord,
  refusals: ['regionNotFound'],
})

const regionCode = withExample(
  Type.String({
    pattern: String.raw`^[1-9]\d{5}$`,
    description: 'Six digits, as in GB/T 2260: provinces end in 0000, cities in 00.',
    [reasonKey]: {
      en: 'must be a region code of six digits, not beginning with 0',
      zh: '必须是六位数字的行政区划代码，且不以 0 开头',
    } satisfies Reason,
  }),
  '500157',
)

export const SavedRegionRecord = named(
  'SavedRegion',
  Type.Object({
    code: Type.String(),
    name: Type.String({ examples: ['两江新区'] }),
    parentCode: nullable(Type.String()),
    isEnded: Type.Boolean({
      description: 'Whether the region has ended: its name is shown, but the tree leaves it out.',
    }),
    builtInName: nullable(
      Type.String({ description: 'The name in the built-in table; null for a region that it does not have.' }),
    ),
    createTime: moment,
  }),
)
export type SavedRegionRecord = Static<typeof SavedRegionRecord>

export const saveRegion = operation({
  id: 'saveRegion',
  group: 'savedRegions',
  summary:
    'Creates or replaces a region that the built-in table lacks or names otherwise. It counts in every record that shows the name of its code.',
  words: { en: 'Save a region', zh: '保存行政区划' },
  method: 'POST',
  path: `${platformFolder}/save`,
  callers: ['operator'],
  body: Type.Object({
    code: regionCode,
    name,
    parentCode: optional(
      described(regionCode, 'The region above; if not given, the nearest one by code. Null for a province.'),
    ),
    isEnded: optional(
      Type.Boolean({ description: 'true: the region has ended. It keeps its name, but the tree leaves it out.' }),
    ),
  }),
  example: { code: '500157', name: '两江新区', parentCode: '500100' },
  data: SavedRegionRecord,
  refusals: [],
  idempotent: true,
})

export const deleteRegion = operation({
  id: 'deleteRegion',
  group: 'savedRegions',
  summary: 'Deletes a saved region: the built-in table applies to its code again.',
  words: { en: 'Delete a saved region', zh: '删除已保存的行政区划' },
  method: 'POST',
  path: `${platformFolder}/delete`,
  callers: ['operator'],
  body: Type.Object({ code: regionCode }),
  example: { code: '500157' },
  data: SavedRegionRecord,
  refusals: ['regionNotFound', 'regionInUse'],
  idempotent: true,
})

export const pageRegions = operation({
  id: 'pageRegions',
  group: 'savedRegions',
  summary: 'Lists the saved regions by code.',
  method: 'GET',
  path: `${platformFolder}/page`,
  callers: ['operator'],
  query: Type.Object({
    ...pageQuery,
    code: optional(described(divisionCode, 'The beginning of the codes.')),
    name: optional(described(name, 'A part of the name, upper or lower case.')),
  }),
  data: pageOf(SavedRegionRecord),
  refusals: [],
})
