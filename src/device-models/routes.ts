import { transaction } from '../database/transaction.ts'
import { type Handler, handle } from '../http/serve.ts'
import type { Platform } from '../platform.ts'
import { given } from '../values.ts'
import { deleteDeviceModel, pageDeviceModels, saveDeviceModel } from './contract.ts'
import * as store from './store.ts'

export function deviceModelRoutes({ sql, catalogue, showMoment }: Platform): Handler[] {
  return [
    handle(saveDeviceModel, async ({ body }) => {
      const model = {
        serialPrefix: body.serialPrefix,
        modelName: body.modelName,
        productPictureUrl: given(body.productPictureUrl),
        deviceType: given(body.deviceType),
        deviceTypeName: given(body.deviceTypeName),
      }
      const saved = await transaction(sql, async (tx) => {
        await store.touchCatalogue(tx)
        return store.upsertDeviceModel(tx, model, showMoment)
      })
      catalogue.forget()
      return saved
    }),

    handle(deleteDeviceModel, async ({ body }) => {
      const deleted = await transaction(sql, async (tx) => {
        await store.touchCatalogue(tx)
        return store.deleteDeviceModel(tx, body.serialPrefix, showMoment)
      })
      catalogue.forget()
      return deleted
    }),

    handle(pageDeviceModels, ({ query }) => store.pageOfDeviceModels(sql, query, showMoment)),
  ]
}
