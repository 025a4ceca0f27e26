import type { Box } from '../values.ts'

/** What a page of devices is narrowed to; what is null does not narrow it. */
export interface DeviceFilter {
  /** The beginning of the serial number. */
  deviceNo: string | null
  /** A part of the name; ASCII letters match in both cases. */
  deviceName: string | null
  provinceCode: string | null
  cityCode: string | null
  districtCode: string | null
  modelName: string | null
  status: number | null
  onlineStatus: number | null
  runStatus: number | null
  boundFrom: Date | null
  /** The first moment that does not fit any more. */
  boundBefore: Date | null
  bbox: Box | null
}

/** A combination of the three states that a device reports. */
export interface StateCombination {
  status: number
  onlineStatus: number
  runStatus: number
}

const statuses = [1, 2]
const onlineStatuses = [1, 2]
const runStatuses = [0, 1, 2]

/** The combinations of states that fit the filter: of twelve, each is one range of the index `device_by_state`. */
export function fittingStates({ status, onlineStatus, runStatus }: DeviceFilter): StateCombination[] {
  const fitting = (states: number[], wanted: number | null) => (wanted === null ? states : [wanted])
  return fitting(statuses, status).flatMap((one) =>
    fitting(onlineStatuses, onlineStatus).flatMap((two) =>
      fitting(runStatuses, runStatus).map((three) => ({ status: one, onlineStatus: two, runStatus: three })),
    ),
  )
}

/** ASCII letters in lower case, all else as it is: what `lower` does to a text that is compared byte by byte. */
export function asciiLower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
