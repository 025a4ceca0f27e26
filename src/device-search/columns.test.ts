import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type CopiedDevice, DeviceColumns } from './columns.ts'
import { anyDevice, type DeviceFilter, fits as fitsRule } from './rules.ts'
import { search } from './scan.ts'

// Few values, so that they collide; serials whose order in UTF-8 is not that of JavaScript's strings.
const serial = fc.constantFrom('a', 'b', 'ab', 'b1', '~', '\uffee', '𠮷', 'é', 'A')
const name = fc.constantFrom('Gate 1', 'gate 12', 'EAST GATE', '东湖', '湖东', 'Éa', 'éA', 'aab', 'a')
const code = fc.constantFrom('1', '2', '3')
const device: fc.Arbitrary<CopiedDevice> = fc.record({
  deviceNo: serial,
  boundMicros: fc.integer({ min: 0, max: 5 }).map((second) => second * 1_000_000),
  deviceName: name,
  provinceCode: code,
  cityCode: code,
  districtCode: code,
  modelName: fc.option(code),
  coordinates: fc.constantFrom('0,0', '1 , -1', '-180,90', '1.5,1.50'),
  status: fc.constantFrom(1, 2),
  onlineStatus: fc.constantFrom(1, 2),
  runStatus: fc.constantFrom(0, 1, 2),
})
const step = fc.oneof({ weight: 4, arbitrary: device }, { weight: 1, arbitrary: serial })
const moment = fc.option(fc.integer({ min: 0, max: 6 }).map((second) => new Date(second * 1000)))
const filter: fc.Arbitrary<DeviceFilter> = fc.record({
  ...anyDevice,
  deviceNo: fc.option(serial),
  deviceName: fc.option(fc.oneof(name, fc.constantFrom('g', 'ate', 'E 1', '湖', 'b'))),
  provinceCode: fc.option(code),
  cityCode: fc.option(code),
  districtCode: fc.option(fc.constantFrom('1', '9')),
  modelName: fc.option(code),
  status: fc.option(fc.constantFrom(1, 2)),
  onlineStatus: fc.option(fc.constantFrom(1, 2)),
  runStatus: fc.option(fc.constantFrom(0, 1, 2)),
  boundFrom: moment,
  boundBefore: moment,
  bbox: fc.option(fc.constantFrom({ minLng: -180, minLat: -1, maxLng: 1, maxLat: 90 })),
})

const lower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

function fits(one: CopiedDevice, wanted: DeviceFilter): boolean {
  const { deviceNo, deviceName, boundFrom, boundBefore, bbox, ...equal } = wanted
  const [longitude = 0, latitude = 0] = one.coordinates.split(',').map(Number)
  return (
    one.deviceNo.startsWith(deviceNo ?? '') &&
    lower(one.deviceName).includes(lower(deviceName ?? '')) &&
    one.boundMicros >= (boundFrom?.getTime() ?? 0) * 1000 &&
    one.boundMicros < (boundBefore?.getTime() ?? 1e9) * 1000 &&
    (bbox === null ||
      (longitude >= bbox.minLng && longitude <= bbox.maxLng && latitude >= bbox.minLat && latitude <= bbox.maxLat)) &&
    Object.entries(equal).every(([member, value]) => value === null || one[member as keyof CopiedDevice] === value)
  )
}

const newestFirst = (one: CopiedDevice, other: CopiedDevice) =>
  other.boundMicros - one.boundMicros || Buffer.compare(Buffer.from(other.deviceNo), Buffer.from(one.deviceNo))

test('columns find what looking at every device finds, however the devices came, changed and went', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.array(filter, { minLength: 1, maxLength: 10 }),
      fc.option(device),
      fc.record({ offset: fc.nat(4), limit: fc.integer({ min: 1, max: 4 }), countTo: fc.integer({ min: 1, max: 9 }) }),
      (steps, filters, after, { offset, limit, countTo }) => {
        const columns = new DeviceColumns(0)
        const model = new Map<string, CopiedDevice>()
        for (const one of steps) {
          if (typeof one === 'string') {
            columns.remove(one)
            model.delete(one)
          } else {
            columns.put(one)
            model.set(one.deviceNo, one)
          }
        }
        expect(columns.devices).toBe(model.size)
        for (const wanted of filters) {
          const fitting = [...model.values()].filter((one) => fits(one, wanted)).sort(newestFirst)
          const behind = after === null ? fitting : fitting.filter((one) => newestFirst(after, one) < 0)
          expect(search(columns, { filter: wanted, after, offset, limit, countTo })).toEqual({
            serials: behind.slice(offset, offset + limit).map(({ deviceNo }) => deviceNo),
            counted: Math.min(fitting.length, countTo),
          })
        }
      },
    ),
    { numRuns: 3000 },
  )
})

test('columns hold many devices, and tell when most of their rows are of no use any more', () => {
  const columns = new DeviceColumns(10)
  const make = (index: number, deviceName: string): CopiedDevice => ({
    deviceNo: `SN-${index}`,
    // Not in the order in which they come.
    boundMicros: (index * 7919) % 30_000,
    deviceName,
    provinceCode: '1',
    cityCode: '1',
    districtCode: String(index % 300),
    modelName: null,
    coordinates: '1,1',
    status: 1,
    onlineStatus: 1,
    runStatus: 0,
  })
  for (let index = 0; index < 30_000; index++) columns.put(make(index, `gate ${index}`))
  expect(columns.isLoose).toBe(false)
  const count = (wanted: Partial<DeviceFilter>) =>
    search(columns, { filter: { ...anyDevice, ...wanted }, after: null, offset: 0, limit: 1, countTo: 100_000 })
  // 22321 × 7919 leaves 29999, the latest moment.
  expect(count({})).toEqual({ serials: ['SN-22321'], counted: 30_000 })
  expect(count({ districtCode: '7' }).counted).toBe(100)
  for (let index = 0; index < 30_000; index++) columns.put(make(index, `barrier ${index}`))
  expect(count({ deviceName: 'gate' }).counted).toBe(0)
  expect(count({ deviceName: 'r 1' }).counted).toBe(11_111)
  expect(columns.isLoose).toBe(false)
  for (let index = 0; index < 20_000; index++) columns.remove(`SN-${index}`)
  expect(columns.devices).toBe(10_000)
  expect(count({}).counted).toBe(10_000)
  expect(columns.isLoose).toBe(true)
})

test('a device by itself fits a filter as it does among others', () => {
  fc.assert(
    fc.property(device, filter, (one, wanted) => {
      const boundAt = new Date(one.boundMicros / 1000)
      expect(fitsRule({ ...one, boundAt }, wanted)).toBe(fits(one, wanted))
    }),
    { numRuns: 3000 },
  )
})
