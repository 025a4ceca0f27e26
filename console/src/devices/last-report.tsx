import { getDeviceState } from '../../../src/devices/state/contract.ts'
import { call } from '../api/api.ts'
import { ofRows } from '../ui/table/of-rows.ts'
import { useDeviceTexts } from './texts.ts'

interface Device {
  appId: string
  deviceNo: string
}

const useDeviceState = ofRows<Device, { lastReportTime: string | null }>({
  name: getDeviceState.id,
  keyOf: ({ deviceNo }) => deviceNo,
  load: async (appId, serials) => {
    const { data } = await call(getDeviceState, { appId, deviceNos: serials.join(',') })
    return Object.fromEntries('list' in data ? data.list.map((state) => [state.deviceNo, state]) : [])
  },
  refetchInterval: 10_000,
})

/** When a device reported last, as a cell of a table; `among` are the table's devices. */
export function LastReportTime({ device, among }: { device: Device; among?: readonly Device[] }) {
  const devices = useDeviceTexts()
  const state = useDeviceState(device, among)
  if (state == null) return <span className="faint">{devices('unknown')}</span>
  if (state.lastReportTime === null) return <span className="faint">{devices('neverReported')}</span>
  return <span className="number">{state.lastReportTime}</span>
}
