import type { DeviceRecord } from '../../../src/devices/contract.ts'
import { useSession } from '../session.tsx'
import { State } from '../ui/status.tsx'
import { useCommon } from '../ui/texts.ts'
import { useDeviceTexts } from './texts.ts'

/** Whether the caller sees every application, and not only those of which they are a member. */
export function useSeesAll(): boolean {
  return useSession().appIds === null
}

const lowBattery = 20

interface BatteryProps {
  battery: DeviceRecord['DeviceBatteryOutput']
  /** Without the status, where there is a percentage. */
  isShort?: boolean
}

/** What a device says of its battery: a percentage, and a status whose meaning is the maker's. */
export function Battery({ battery, isShort = false }: BatteryProps) {
  const t = useDeviceTexts()
  const common = useCommon()
  const { batteryEnergy, batteryStatus } = battery
  if (batteryEnergy === null && batteryStatus === null) return <span className="faint">{common('unknown')}</span>
  const isLow = batteryEnergy !== null && Number.parseFloat(batteryEnergy) < lowBattery
  const energy = batteryEnergy === null ? common('unknown') : `${batteryEnergy.replace('%', '')}%`
  return (
    <span className="number" style={{ whiteSpace: 'nowrap' }}>
      {isLow ? <State tone="bad">{energy}</State> : energy}
      {batteryStatus !== null && !(isShort && batteryEnergy !== null) && (
        <span className="faint"> · {t('batteryStatus', { status: batteryStatus })}</span>
      )}
    </span>
  )
}
