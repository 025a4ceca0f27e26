import { writeOnce } from '../../callers/write-once.ts'
import type { Context } from '../../context.ts'
import { insertPlatformEvent } from '../../events/store.ts'
import { type Handler, handle, read } from '../../http/handler.ts'
import { given } from '../../vocabulary/values.ts'
import type { Catalogue } from './catalogue.ts'
import { deleteDeviceModel, pageDeviceModels, saveDeviceModel } from './contract.ts'
import * as store from './store.ts'

export function deviceModelRoutes({ sql }: Context, catalogue: Catalogue): Handler[] {
  return [
    handle(saveDeviceModel, async ({ body, actor, ...request }) => {
      const model = {
        serialPrefix: body.serialPrefix,
        modelName: body.modelName,
        productPictureUrl: given(body.productPictureUrl),
        deviceType: given(body.deviceType),
        deviceTypeName: given(body.deviceTypeName),
      }
      return catalogue.change(request.pending, () =>
        writeOnce(sql, request, async (tx) => {
          await store.touchCatalogue(tx)
          const data = await store.upsertDeviceModel(tx, model)
          await insertPlatformEvent(tx, { type: 'deviceModel.saved', actor, subject: data.serialPrefix, data })
          return data
        }),
      )
    }),

    handle(deleteDeviceModel, async ({ body, actor, ...request }) => {
      return catalogue.change(request.pending, () =>
        writeOnce(sql, request, async (tx) => {
          await store.touchCatalogue(tx)
          const data = await store.deleteDeviceModel(tx, body.serialPrefix)
          await insertPlatformEvent(tx, { type: 'deviceModel.deleted', actor, subject: data.serialPrefix, data })
          return data
        }),
      )
    }),

    read(pageDeviceModels, ({ sql, query }) => store.pageOfDeviceModels(sql, query)),
  ]
}
