import { textArray } from '../../database/routine.ts'
import type { DeviceState } from '../rules.ts'
import type { ReportedValues } from './rules.ts'

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
/** Arrays of reported values, because parsing JSON costs more than a row. */
export const stateParameters = {
  p_status: 'smallint[]',
  p_online: 'smallint[]',
  p_run: 'smallint[]',
  p_remarks: 'text[]',
  p_versions: 'text[]',
  p_batteries: 'bigint[]',
  p_energies: 'text[]',
}

/** Makes an array that is read by number. An empty one means that all are null, and costs nothing. */
export const elements = (values: readonly (string | number | null)[]) =>
  values.every((value) => value === null) ? '{}' : textArray(values)

export function stateValues(reports: readonly ReportedValues[]): string[] {
  const ofMember = (member: keyof DeviceState) => elements(reports.map((values) => values[member]))
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

/** SQL: what report `n` says of each column; null for a column that it leaves out. */
export const givenSql = (n: string): Record<keyof typeof stateTypes, string> => ({
  status: `p_status[${n}]`,
  // A device that reports is online, unless the report says offline (contract §5).
  online_status: `coalesce(p_online[${n}], 1::smallint)`,
  run_status: `p_run[${n}]`,
  status_remark: `p_remarks[${n}]`,
  version: `p_versions[${n}]`,
  battery_status: `p_batteries[${n}]`,
  battery_energy: `p_energies[${n}]`,
})
