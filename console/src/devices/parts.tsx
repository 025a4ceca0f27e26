import type { DeviceRecord } from '../../../src/devices/contract.ts'
import { useSession } from '../api/api.ts'
import { State } from '../ui/text/status.tsx'
import { useDeviceTexts } from './texts.ts'

/** Whether the user sees every application, not only those that they are a member of. */
export function useSeesAll(): boolean {
  return useSession().appIds === null
}

const lowBattery = 20

interface BatteryProps {
  battery: DeviceRecord['DeviceBatteryOutput']
  /** Leaves out the status if there is a percentage. */
  isShort?: boolean
}

/** A device's battery: a percentage, and a status whose meaning the manufacturer defines. */
export function Battery({ battery, isShort = false }: BatteryProps) {
  const t = useDeviceTexts()
  const { batteryEnergy, batteryStatus } = battery
  if (batteryEnergy === null && batteryStatus === null) return <span className="faint">{t('unknown')}</span>
  const isLow = batteryEnergy !== null && Number.parseFloat(batteryEnergy) < lowBattery
  const energy = batteryEnergy === null ? t('unknown') : `${batteryEnergy.replace('%', '')}%`
  return (
    <span className="number nowrap">
      {isLow ? <State tone="bad">{energy}</State> : energy}
      {batteryStatus !== null && !(isShort && batteryEnergy !== null) && (
        <span className="faint"> · {t('batteryStatus', { status: batteryStatus })}</span>
      )}
    </span>
  )
}
