import { writeOnce } from '../../callers/write-once.ts'
import type { Context } from '../../context.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { type Handler, handle, read } from '../../http/handler.ts'
import { limits } from '../../vocabulary/limits.ts'
import { type FieldFault, fieldFault, invalidRequest } from '../../vocabulary/refusals.ts'
import type { Catalogue } from '../models/catalogue.ts'
import { holdCatalogue, touchCatalogue } from '../models/store.ts'
import { deleteDeviceInventory, importDeviceInventory, pageDeviceInventory } from './contract.ts'
import * as store from './store.ts'

export function deviceInventoryRoutes({ sql }: Context, catalogue: Catalogue): Handler[] {
  return [
    handle(
      importDeviceInventory,
      ({ body: { entries }, actor, ...request }) =>
        catalogue.change(request.pending, () =>
          writeOnce(sql, request, async (tx) => {
            await holdCatalogue(tx)
            const unknown = await store.unknownModelNames(tx, [...new Set(entries.map((entry) => entry.modelName))])
            if (unknown.size > 0) throw invalidRequest(unknownModelFaults(entries, unknown))
            const counts = await store.upsertInventory(tx, entries)
            await insertPlatformEvent(tx, { type: 'deviceInventory.imported', actor, subject: null, data: counts })
            return counts
          }),
        ),
      { check: ({ entries = [] }) => repeatedSerialFaults(entries) },
    ),

    handle(deleteDeviceInventory, async ({ body, actor, ...request }) => {
      return catalogue.change(request.pending, () =>
        writeOnce(sql, request, async (tx) => {
          await touchCatalogue(tx)
          const data = await store.deleteInventoryEntry(tx, body.deviceNo)
          await insertPlatformEvent(tx, { type: 'deviceInventory.deleted', actor, subject: data.deviceNo, data })
          return data
        }),
      )
    }),

    read(pageDeviceInventory, ({ sql, query }) => store.pageOfInventory(sql, query)),
  ]
}

/** Takes milliseconds for the 20,000 entries that a request may have. */
function repeatedSerialFaults(entries: readonly Partial<store.NewInventoryEntry>[]): FieldFault[] {
  const seen = new Set<string | undefined>()
  const faults: FieldFault[] = []
  for (const [index, { deviceNo }] of entries.entries()) {
    if (deviceNo !== undefined && seen.has(deviceNo)) {
      faults.push(fieldFault(`entries[${index}].deviceNo`, 'appears twice in the list', '在列表中重复'))
    }
    seen.add(deviceNo)
    if (faults.length === limits.faultsShown) break
  }
  return faults
}

function unknownModelFaults(entries: readonly store.NewInventoryEntry[], unknown: Set<string>): FieldFault[] {
  return entries.flatMap(({ modelName }, index) =>
    unknown.has(modelName) ? [store.unknownModel(`entries[${index}].modelName`)] : [],
  )
}
