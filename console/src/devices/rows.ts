import type { TextColumn } from './table-text.ts'

// What a device needs before it can be registered, said at once and for each row; the service has the last word.

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

/** A device as it is typed: what is not known is empty. */
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

const maxLengths: Record<FieldName, number> = {
  deviceNo: 64,
  deviceName: 64,
  districtCode: 12,
  coordinates: 64,
  tag: 512,
  detailAddress: 255,
  provinceCode: 12,
  cityCode: 12,
}

const needed: readonly FieldName[] = ['deviceNo', 'deviceName', 'districtCode', 'coordinates']

type Fault = 'needed' | 'hasSpace' | 'tooLong' | 'notCoordinates' | 'swapped' | 'twice'
export type Faults = Partial<Record<FieldName, Fault>>

/** What is wrong with a draft, by field. */
export function faultsOf(draft: Draft): Faults {
  const found = fieldNames.map((name): [FieldName, Fault | undefined] => [name, faultOf(name, draft[name].trim())])
  return Object.fromEntries(found.filter(([, fault]) => fault !== undefined))
}

function faultOf(name: FieldName, value: string): Fault | undefined {
  if (value === '') return needed.includes(name) ? 'needed' : undefined
  if ([...value].length > maxLengths[name]) return 'tooLong'
  if (name === 'deviceNo' && /\s/.test(value)) return 'hasSpace'
  if (name !== 'coordinates') return undefined
  return readPair(value) === undefined ? misfitOf(value) : undefined
}

function misfitOf(value: string): Fault {
  return readPair(swapPair(value)) === undefined ? 'notCoordinates' : 'swapped'
}

/** Longitude and latitude; undefined for what is no such pair. */
function readPair(value: string): [longitude: number, latitude: number] | undefined {
  const match = /^(-?\d{1,3}(?:\.\d+)?) *, *(-?\d{1,2}(?:\.\d+)?)$/.exec(value)
  if (match === null) return undefined
  const [longitude, latitude] = [Number(match[1]), Number(match[2])]
  return Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90 ? [longitude, latitude] : undefined
}

export function swapPair(value: string): string {
  return value.split(',').reverse().join(',').trim()
}

/** Pairs as maps and chats write them, with other commas, spaces or brackets, as the service takes them. */
export function tidyPair(value: string): string {
  const numbers = value.match(/-?\d+(?:\.\d+)?/g)
  const isPair = numbers?.length === 2 && /^[\s\d.,，;；()（）[\]-]*$/.test(value)
  return isPair ? numbers.join(',') : value.trim()
}

/** Whether a pair looks as if latitude stood first: out of range as it is, or outside China where the other way is in. */
export function looksSwapped(value: string): boolean {
  const swapped = readPair(swapPair(value))
  if (swapped === undefined) return false
  const pair = readPair(value)
  return pair === undefined || (!isInChina(pair) && isInChina(swapped))
}

function isInChina([longitude, latitude]: [number, number]): boolean {
  return longitude >= 73 && longitude <= 136 && latitude >= 3 && latitude <= 54
}

/** Serial numbers that stand in a list more than once. */
export function repeatedSerials(drafts: readonly Draft[]): Set<string> {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const { deviceNo } of drafts) (seen.has(deviceNo) ? repeated : seen).add(deviceNo)
  repeated.delete('')
  return repeated
}

/** A draft as operations take it: what is empty is not given. */
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
