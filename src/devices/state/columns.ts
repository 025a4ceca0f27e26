import { textArray } from '../../database/routine.ts'
import type { DeviceState } from '../rules.ts'

// The columns of a device's state, and the arrays in which a routine receives the states of a batch.

const text = 'text'
export const stateTypes = {
  status: 'smallint',
  online_status: 'smallint',
  run_status: 'smallint',
  status_remark: text,
  version: text,
  battery_status: 'bigint',
  battery_energy: text,
}
export const stateColumns = Object.keys(stateTypes)
/** The new state of each device: arrays, because every statement reads them, and to parse JSON costs more than a row. */
export const stateArrays = {
  status: 'p_status',
  online_status: 'p_online',
  run_status: 'p_run',
  status_remark: 'p_remarks',
  version: 'p_versions',
  battery_status: 'p_batteries',
  battery_energy: 'p_energies',
}
export const stateParameters = {
  p_status: 'smallint[]',
  p_online: 'smallint[]',
  p_run: 'smallint[]',
  p_remarks: 'text[]',
  p_versions: 'text[]',
  p_batteries: 'bigint[]',
  p_energies: 'text[]',
}

/** An array whose elements are read by number: an empty one says that all are null, and costs nothing. */
export const elements = (values: readonly (string | number | null)[]) =>
  values.every((value) => value === null) ? '{}' : textArray(values)

export type PartialState = { [Member in keyof DeviceState]: DeviceState[Member] | null }

/** The values of `stateParameters`. */
export function stateValues(states: readonly (PartialState | undefined)[]): string[] {
  const ofMember = (member: keyof DeviceState) => elements(states.map((state) => state?.[member] ?? null))
  return [
    ofMember('status'),
    ofMember('onlineStatus'),
    ofMember('runStatus'),
    ofMember('statusRemark'),
    ofMember('version'),
    ofMember('batteryStatus'),
    ofMember('batteryEnergy'),
  ]
}
