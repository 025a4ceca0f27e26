import Type, { type Static } from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { pageOf, pageQuery } from '../../vocabulary/pages.ts'
import { deviceNo, moment, name, named, optional } from '../../vocabulary/values.ts'

const mostEntries = 20_000

const folder = '/api/platform/v1/deviceInventory'

export const InventoryEntry = named(
  'InventoryEntry',
  Type.Object({ deviceNo: Type.String(), modelName: Type.String(), createTime: moment }),
)
export type InventoryEntry = Static<typeof InventoryEntry>

export const importDeviceInventory = operation({
  id: 'importDeviceInventory',
  group: 'deviceInventory',
  summary: 'Adds serial numbers to the inventory or updates their models. Either all are written or none.',
  words: { en: 'Import inventory', zh: '导入库存' },
  method: 'POST',
  path: `${folder}/import`,
  callers: ['operator'],
  body: Type.Object({
    entries: Type.Array(Type.Object({ deviceNo, modelName: name }), { minItems: 1, maxItems: mostEntries }),
  }),
  data: Type.Object({ added: Type.Integer(), changed: Type.Integer() }),
  refusals: [],
  idempotent: true,
  maxBodyBytes: 8 * 1024 * 1024,
})

export const pageDeviceInventory = operation({
  id: 'pageDeviceInventory',
  group: 'deviceInventory',
  summary: 'Lists the inventory by serial number.',
  method: 'GET',
  path: `${folder}/page`,
  callers: ['operator'],
  query: Type.Object({
    ...pageQuery,
    deviceNo: optional({ ...deviceNo, description: 'part of the serial number, not case-sensitive' }),
    modelName: optional(name),
  }),
  data: pageOf(InventoryEntry),
  refusals: [],
})

export const deleteDeviceInventory = operation({
  id: 'deleteDeviceInventory',
  group: 'deviceInventory',
  summary: 'Removes a serial number from the inventory. A bound device stays bound.',
  words: { en: 'Delete an inventory entry', zh: '删除库存条目' },
  method: 'POST',
  path: `${folder}/delete`,
  callers: ['operator'],
  body: Type.Object({ deviceNo }),
  data: InventoryEntry,
  refusals: ['inventoryEntryNotFound'],
  idempotent: true,
})
