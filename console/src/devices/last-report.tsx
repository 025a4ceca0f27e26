import { useQuery } from '@tanstack/react-query'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { getDeviceState } from '../../../src/devices/state/contract.ts'
import { call } from '../api.ts'
import { language } from '../language/index.ts'
import { joined } from '../ui/joined.ts'
import { useCommon } from '../ui/texts.ts'
import { useDeviceTexts } from './texts.ts'

interface LastReport {
  lastReportTime: string | null
}

const readLastReport = joined<LastReport>(100, async (appId, serials) => {
  const { data } = await call(getDeviceState, { appId, deviceNos: serials.join(',') })
  return new Map('list' in data ? data.list.map((state) => [state.deviceNo, state]) : [])
})

/** When a device reported last, as a cell of a table. */
export function LastReportTime({ appId, deviceNo }: { appId: string; deviceNo: string }) {
  const common = useCommon()
  const devices = useDeviceTexts()
  const { data } = useQuery<LastReport | null, ForecourtError>({
    queryKey: [getDeviceState.id, 'last', appId, deviceNo, language()],
    queryFn: () => readLastReport(appId, deviceNo),
    refetchInterval: 10_000,
  })
  if (data == null) return <span className="faint">{common('unknown')}</span>
  if (data.lastReportTime === null) return <span className="faint">{devices('neverReported')}</span>
  return <span className="number">{data.lastReportTime}</span>
}
