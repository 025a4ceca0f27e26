import { expect } from 'bun:test'
import type { Static } from 'typebox'
import type { DeviceRecord, pageDevices } from '../src/devices/contract.ts'
import type { Answer } from './kit/client.ts'

// Compares pages of devices with a model that checks every record against the filter in memory.

export type Filter = Record<string, string | number>
/** When devices reported last, by serial number, as the service shows it; those that never reported are missing. */
export type LastReports = ReadonlyMap<string, string>
type Ask = (query: Filter) => Promise<Answer<Static<typeof pageDevices.data>>>

/** Whether a record fits a filter, as contract §5 and the operation's description define the filter. */
function fits(device: DeviceRecord, filter: Filter, reports: LastReports): boolean {
  const reported = reports.get(device.deviceNo)
  return Object.entries(filter).every(([member, wanted]) => (tests[member] as Test)(device, wanted as never, reported))
}

type Test = (device: DeviceRecord, wanted: never, lastReport: string | undefined) => boolean

const tests: Record<string, Test> = {
  deviceNo: (device, wanted: string) => device.deviceNo.toLowerCase().includes(wanted.toLowerCase()),
  deviceName: (device, wanted: string) => device.deviceName.toLowerCase().includes(wanted.toLowerCase()),
  tag: (device, wanted: string) => device.tag === wanted,
  provinceCode: (device, wanted: string) => device.deviceBattery.provinceCode === wanted,
  cityCode: (device, wanted: string) => device.deviceBattery.cityCode === wanted,
  districtCode: (device, wanted: string) => device.deviceBattery.districtCode === wanted,
  modelName: (device, wanted: string) => device.modelName === wanted,
  status: (device, wanted: number) => device.status === wanted,
  onlineStatus: (device, wanted: number) => device.onlineStatus === wanted,
  runStatus: (device, wanted: number) => device.runStatus === wanted,
  timeFrom: (device, wanted: string) => device.createTime >= wanted,
  timeTo: (device, wanted: string) => device.createTime <= wanted,
  lastReportFrom: (_, wanted: string, lastReport) => lastReport !== undefined && lastReport >= wanted,
  lastReportTo: (_, wanted: string, lastReport) => lastReport !== undefined && lastReport <= wanted,
  hasReported: (_, wanted: string, lastReport) => String(lastReport !== undefined) === wanted,
  bbox: (device, wanted: string) => {
    const [minLng = 0, minLat = 0, maxLng = 0, maxLat = 0] = wanted.split(',').map(Number)
    const [longitude = 0, latitude = 0] = device.deviceBattery.coordinates.split(',').map(Number)
    return longitude >= minLng && longitude <= maxLng && latitude >= minLat && latitude <= maxLat
  },
}

/** For each filter, values that fit many of these devices, few and none. */
export function filterValues(
  devices: readonly DeviceRecord[],
  reports: LastReports,
): Record<string, (string | number)[]> {
  const some = devices.filter((_, index) => index % Math.ceil(devices.length / 4) === 0)
  const { deviceBattery: place, deviceNo } = some[0] as DeviceRecord
  const times = devices.map((device) => device.createTime).sort()
  const middle = times[Math.floor(times.length / 2)] as string
  const reportTimes = [...reports.values()].sort()
  const middleReport = reportTimes[Math.floor(reportTimes.length / 2)] as string
  const boxes = some.map(({ deviceBattery }) => {
    const [longitude = 0, latitude = 0] = deviceBattery.coordinates.split(',').map(Number)
    return `${longitude},${latitude},${Math.min(180, longitude + 7)},${Math.min(90, latitude + 9)}`
  })
  const of = (read: (device: DeviceRecord) => string | null) => [
    ...new Set(some.map(read).filter((text) => text !== null)),
  ]
  return {
    deviceNo: [deviceNo.slice(0, 2), deviceNo.slice(1, -1).toUpperCase(), deviceNo.toLowerCase(), `${deviceNo}x`],
    deviceName: [
      ...['gate', 'GATE 1', 'e g', '东', '湖门', 'é', 'É', '%', '_', '\\', "'", '𠮷', 'no such name', ' '],
      ...of((device) => device.deviceName),
    ],
    tag: [...of((device) => device.tag), longTag, longTag.slice(0, 64), 'NORTH', ' ', 'no such tag'],
    provinceCode: [...of((device) => device.deviceBattery.provinceCode), 'x'],
    cityCode: [...of((device) => device.deviceBattery.cityCode), place.provinceCode],
    districtCode: [...of((device) => device.deviceBattery.districtCode), '9'],
    modelName: [...of((device) => device.modelName), 'no such model'],
    status: [1, 2],
    onlineStatus: [1, 2],
    runStatus: [0, 1, 2],
    timeFrom: [middle, '1999-12-31 23:59:59', '2999-01-01 00:00:00'],
    timeTo: [middle, times[0] as string, '1999-12-31 23:59:59'],
    lastReportFrom: [middleReport, '1999-12-31 23:59:59', '2999-01-01 00:00:00'],
    lastReportTo: [middleReport, reportTimes[0] as string, '1999-12-31 23:59:59'],
    hasReported: ['true', 'false'],
    bbox: [...boxes, '-180,-90,180,90', '0.5,0.5,0.6,0.6', '-0, -0 ,10 , 10'],
  }
}

/** One filter for each value, with nothing else set. */
export function singleFilters(values: Record<string, (string | number)[]>): Filter[] {
  return Object.entries(values).flatMap(([member, wanted]) => wanted.map((value) => ({ [member]: value })))
}

/** Every pair of filters, each with a value that `choose` picks. */
export function pairsOfFilters(
  values: Record<string, (string | number)[]>,
  choose: <Value>(from: readonly Value[]) => Value,
): Filter[] {
  const members = Object.keys(values)
  return members.flatMap((one, index) =>
    members.slice(index + 1).map((other) => ({
      [one]: choose(values[one] as string[]),
      [other]: choose(values[other] as string[]),
    })),
  )
}

/** Reads all pages by cursor and returns their devices. */
export async function walk(ask: Ask, filter: Filter, pageSize: number): Promise<DeviceRecord[]> {
  const walked: DeviceRecord[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const answer: Awaited<ReturnType<Ask>> = await ask({ ...filter, pageSize, cursor })
    expect(`${answer.status} ${answer.text}`).toStartWith('200 {"code":0')
    walked.push(...answer.data.list)
    cursor = answer.data.nextCursor
  }
  return walked
}

/**
 * Compares the pages of a filter with the devices that fit it: the first page and its total, a page by number, and all
 * pages by cursor. `devices` must be sorted newest first.
 */
export async function expectPages(
  ask: Ask,
  filter: Filter,
  devices: readonly DeviceRecord[],
  reports: LastReports,
  pageSize: number,
) {
  const expected = devices.filter((device) => fits(device, filter, reports))
  const first = await ask({ ...filter, pageSize })
  const told = JSON.stringify(filter)
  expect(`${told} ${first.status} ${first.text}`).toStartWith(`${told} 200 {"code":0`)
  expect({ filter, ...first.data, nextCursor: first.data.nextCursor !== null }).toEqual({
    filter,
    list: expected.slice(0, pageSize),
    total: expected.length,
    totalIsExact: true,
    pageNo: 1,
    pageSize,
    pages: Math.ceil(expected.length / pageSize),
    nextCursor: expected.length > pageSize,
  })
  if (expected.length <= pageSize) return
  const second = await ask({ ...filter, pageSize, pageNo: 2 })
  expect({ filter, list: second.data.list }).toEqual({ filter, list: expected.slice(pageSize, 2 * pageSize) })
  const walked = await walk(ask, filter, Math.min(100, Math.max(pageSize, Math.ceil(expected.length / 5))))
  expect({ filter, walked }).toEqual({ filter, walked: expected })
}

/** A tag that is longer than the part of a tag that the index stores. */
const longTag = '长'.repeat(70)

/** The body of a device that shares values with other devices, or nearly does, in each member that filters compare. */
export function motleyDevice(random: () => number, deviceNo: string): Record<string, unknown> {
  const choose = <Value>(from: readonly Value[]) => from[Math.floor(random() * from.length)] as Value
  const province = choose(['360000', '110000', '440000'])
  const city = `${province.slice(0, 2)}0${choose(['1', '2'])}00`
  const name = `${choose(['East', 'east', 'Élan', 'élan', '东湖', '东 湖', '𠮷野', '100%', 'a_b', "O'Hara", '\\'])}`
  const degrees = (most: number) => ((random() * 2 - 1) * most).toFixed(Math.floor(random() * 8))
  return {
    deviceNo,
    tag: choose([null, '', 'north', 'North', longTag, `${longTag}x`, longTag.slice(0, 64)]),
    deviceName: `${name}${choose([' gate ', '门', ' GATE ', ' '])}${Math.floor(random() * 30)}`,
    provinceCode: province,
    cityCode: city,
    districtCode: `${city.slice(0, 4)}0${choose(['1', '2', '3'])}`,
    coordinates: `${choose(['0', '10', degrees(180)])}${choose([',', ' , '])}${choose(['0.5', degrees(90)])}`,
  }
}
