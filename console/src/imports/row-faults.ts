import { registrationLengths } from '../../../src/devices/contract.ts'
import { serialPattern } from '../../../src/vocabulary/values.ts'
import { readPoint, swapped } from '../map/point.ts'
import type { TextColumn } from './table-text.ts'

// Checks rows before they are sent, so that all faults show at once. The service checks them again.

export const fieldNames = [
  'deviceNo',
  'deviceName',
  'districtCode',
  'coordinates',
  'tag',
  'detailAddress',
  'provinceCode',
  'cityCode',
] as const
export type FieldName = (typeof fieldNames)[number]

/** A device as typed; an unknown member is empty. */
export type Draft = Record<FieldName, string>

export const blankDraft = Object.fromEntries(fieldNames.map((name) => [name, ''])) as Draft

const headings: Record<FieldName, readonly string[]> = {
  deviceNo: ['serial', 'serialno', 'serialnumber', 'sn', '设备序列号', '序列号', '设备编号', '设备号'],
  deviceName: ['name', '设备名称', '名称'],
  districtCode: ['district', '区县编码', '区县代码', '区编码', '行政区划代码', '区划代码'],
  coordinates: ['coordinate', '经纬度', '坐标'],
  tag: ['remark', 'note', '备注', '标签'],
  detailAddress: ['address', '详细地址', '地址'],
  provinceCode: ['province', '省编码', '省份编码', '省代码'],
  cityCode: ['city', '市编码', '城市编码', '市代码'],
}

export const draftColumns: readonly TextColumn<FieldName>[] = fieldNames.map((name) => ({
  name,
  headings: headings[name],
}))

/** Whether the member is required. */
export function isNeeded(name: FieldName): boolean {
  return ['deviceNo', 'deviceName', 'districtCode', 'coordinates'].includes(name)
}

type Fault = 'needed' | 'hasSpace' | 'tooLong' | 'notCoordinates' | 'swapped' | 'twice'
export type Faults = Partial<Record<FieldName, Fault>>

/** The faults of a draft, by field. */
export function faultsOf(draft: Draft): Faults {
  const found = fieldNames.map((name): [FieldName, Fault | undefined] => [name, faultOf(name, draft[name].trim())])
  return Object.fromEntries(found.filter(([, fault]) => fault !== undefined))
}

function faultOf(name: FieldName, value: string): Fault | undefined {
  if (value === '') return isNeeded(name) ? 'needed' : undefined
  if ([...value].length > registrationLengths[name]) return 'tooLong'
  if (name === 'deviceNo' && !isSerial(value)) return 'hasSpace'
  if (name !== 'coordinates') return undefined
  if (readPoint(value) !== undefined) return undefined
  return swapped(value) === undefined ? 'notCoordinates' : 'swapped'
}

const serial = new RegExp(serialPattern, 'u')
export const isSerial = (text: string) => serial.test(text)

/** Normalises coordinates copied from maps or chats, with other commas, spaces or brackets, for the service. */
export function tidyPair(value: string): string {
  const numbers = value.match(/-?\d+(?:\.\d+)?/g)
  const isPair = numbers?.length === 2 && /^[\s\d.,，;；()（）[\]-]*$/.test(value)
  return isPair ? numbers.join(',') : value.trim()
}

/** The serial numbers that occur more than once in a list. */
export function repeatedSerials(drafts: readonly Draft[]): Set<string> {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const { deviceNo } of drafts) (seen.has(deviceNo) ? repeated : seen).add(deviceNo)
  repeated.delete('')
  return repeated
}

/** A row of createBatch from a draft; empty members are left out. */
export function toRegistration(draft: Draft) {
  const { deviceNo, deviceName, districtCode, coordinates, ...others } = draft
  const given = Object.entries(others).map(([name, value]) => [name, value.trim() === '' ? null : value.trim()])
  return {
    deviceNo: deviceNo.trim(),
    deviceName: deviceName.trim(),
    districtCode: districtCode.trim(),
    coordinates: coordinates.trim(),
    ...(Object.fromEntries(given) as Record<keyof typeof others, string | null>),
  }
}
