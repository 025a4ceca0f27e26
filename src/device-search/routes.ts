import { requireApplication } from '../applications/store.ts'
import { pageDevices } from '../devices/contract.ts'
import { applicationOf } from '../http/authenticate.ts'
import { type Handler, handle } from '../http/serve.ts'
import type { Platform } from '../platform.ts'
import { given, readBbox } from '../values.ts'
import type { DeviceFilter } from './rules.ts'
import { pageOfDevices } from './store.ts'

export function deviceSearchRoutes({ sql, showMoment, readMoment }: Platform): Handler[] {
  return [
    handle(pageDevices, async ({ caller, query }) => {
      const appId = applicationOf(caller, query.appId)
      if (caller.kind === 'operator') await requireApplication(sql, appId)
      const [from, to, bbox] = [given(query.createTimeFrom), given(query.createTimeTo), given(query.bbox)]
      const filter: DeviceFilter = {
        deviceNo: given(query.deviceNo),
        deviceName: given(query.deviceName),
        provinceCode: given(query.provinceCode),
        cityCode: given(query.cityCode),
        districtCode: given(query.districtCode),
        modelName: given(query.modelName),
        status: given(query.status),
        onlineStatus: given(query.onlineStatus),
        runStatus: given(query.runStatus),
        boundFrom: from === null ? null : readMoment(from),
        // A moment is shown to the second, so the last one counts whole.
        boundBefore: to === null ? null : new Date(readMoment(to).getTime() + 1000),
        bbox: bbox === null ? null : readBbox(bbox),
      }
      return pageOfDevices(sql, appId, filter, query, showMoment)
    }),
  ]
}
