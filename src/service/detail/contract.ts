import Type, { type Static } from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { described, moment, named, nullable } from '../../vocabulary/values.ts'
import { FindingRecord } from '../contract.ts'

const bytes = (description: string) => Type.Integer({ description, examples: [9_000_000] })

const TableSize = named(
  'TableSize',
  Type.Object({
    name: Type.String({ description: 'the table’s name', examples: ['device'] }),
    rows: nullable(Type.Integer({ description: 'an estimate; null where the database has none yet' })),
    bytes: bytes('its size with its indexes, over all nodes'),
    keptDays: nullable(Type.Integer({ description: 'after how many days its rows are removed; null for never' })),
    setting: nullable(
      Type.String({ description: 'the name of the setting for these days; null if they cannot be set' }),
    ),
  }),
)
export type TableSize = Static<typeof TableSize>

const SettingInForce = named(
  'SettingInForce',
  Type.Object({
    name: Type.String({ description: 'the setting’s name', examples: ['FORECOURT_PORT'] }),
    value: nullable(
      Type.String({ description: 'the value, as it would be set; null if there is none, and for a secret' }),
    ),
    isSecret: Type.Boolean({ description: 'whether its value is secret and never shown' }),
    isSet: Type.Boolean({ description: 'whether it differs from the default' }),
  }),
)

export type SettingInForce = Static<typeof SettingInForce>

export const getServiceDetail = operation({
  id: 'getServiceDetail',
  group: 'service',
  summary: 'Returns runtime, database, disk and table sizes, and a 12-month forecast. A few seconds old.',
  method: 'GET',
  path: '/api/platform/v1/service/detail',
  callers: ['operator'],
  roles: ['admin', 'operator'],
  dependsOnRole: true,
  query: Type.Object({}),
  data: Type.Object({
    version: Type.String({ description: 'the service’s version', examples: ['1.0.0'] }),
    runtime: Type.String({ description: 'the runtime and its version, such as Bun 1.4.5', examples: ['Node 24.0.0'] }),
    databaseVersion: Type.String({ description: 'the version of PostgreSQL', examples: ['18.0'] }),
    isEmbedded: Type.Boolean({ description: 'whether the database is embedded' }),
    isDistributed: Type.Boolean({ description: 'whether the database is spread over the nodes of a Citus cluster' }),
    startTime: described(moment, 'When the responding process started.'),
    findings: Type.Array(FindingRecord, { description: 'faults first' }),
    databaseBytes: nullable(bytes('the size of the database, over all nodes; null while a node is away')),
    bytesPerDay: nullable(
      Type.Integer({ description: 'its growth per day, over the last week; null in the first hours' }),
    ),
    tables: Type.Array(TableSize, { description: 'the largest first' }),
    forecast: nullable(
      Type.Object(
        {
          months: Type.Array(Type.Object({ time: moment, bytes: bytes('the size of the database then') }), {
            description: 'the end of each of the next twelve months',
          }),
          fullTime: Type.Union([moment, Type.Null()], {
            description: 'when the disk is full; null if the disk is large enough for the year',
          }),
        },
        { description: 'based on growth over the last week; null while the growth is unknown' },
      ),
    ),
    settings: nullable(
      Type.Array(SettingInForce, { description: 'the current settings, without secrets; null for non-admins' }),
    ),
  }),
  refusals: [],
})
