import { beforeAll, expect, test } from 'bun:test'
import { type DeviceRecord, pageDevices } from '../../src/devices/contract.ts'
import type { DeviceState } from '../../src/devices/state/contract.ts'
import {
  expectPages,
  type Filter,
  filterValues,
  type LastReports,
  motleyDevice,
  pairsOfFilters,
  singleFilters,
  walk,
} from '../device-filters.ts'
import { newApplication, newSerial, type TestApplication } from '../kit/records.ts'
import { atScale, randomNumbers, seed } from '../kit/scale.ts'
import { client, createDeviceOf, expectFaults, expectSuccess, newSite, succeed } from './support.ts'

const random = randomNumbers(seed)
const choose = <Value>(from: readonly Value[]) => from[Math.floor(random() * from.length)] as Value

const owner = await newApplication(client)
const stranger = await newApplication(client)
/** Every device of the owner, in the order of its pages. */
let devices: DeviceRecord[] = []
let reports: LastReports = new Map()

function askFor({ token }: TestApplication) {
  return (query: Record<string, unknown>) => client.call('pageDevices', query, { token })
}

const ask = askFor(owner)

/** When each of these devices reported last. */
async function lastReportsOf(devices: readonly DeviceRecord[]): Promise<LastReports> {
  const reports = new Map<string, string>()
  for (let from = 0; from < devices.length; from += 100) {
    const portion = devices.slice(from, from + 100).map(({ deviceNo }) => deviceNo)
    const states = await succeed('getDeviceState', { deviceNos: portion.join(',') })
    for (const { deviceNo, lastReportTime } of (states as { list: DeviceState[] }).list) {
      if (lastReportTime !== null) reports.set(deviceNo, lastReportTime)
    }
  }
  return reports
}

async function createMotley(application: TestApplication, count: number, prefix: string): Promise<string[]> {
  const rows = Array.from({ length: count }, () => motleyDevice(random, newSerial(prefix)))
  const { results } = await succeed('createDevices', { devices: rows }, application)
  expect(results.map(({ code }) => code)).toEqual(rows.map(() => 0))
  return rows.map(({ deviceNo }) => String(deviceNo))
}

beforeAll(async () => {
  const serials: string[] = []
  const prefixes = ['MA', 'MB', 'x'].map(newSerial)
  const named = prefixes.slice(0, 2)
  const models = named.map((serialPrefix, index) => ({ serialPrefix, modelName: `model ${index} of it` }))
  for (const model of models) await succeed('saveDeviceModel', model)
  for (const prefix of prefixes) {
    // The prefixes are created in different seconds, so that a filter by time can separate them.
    if (serials.length > 0) await Bun.sleep(1000)
    serials.push(...(await createMotley(owner, 50, prefix)))
  }
  for (const { serialPrefix } of models) await succeed('deleteDeviceModel', { serialPrefix })
  await createMotley(stranger, 50, 'S')
  await Promise.all(
    serials
      .filter(() => random() < 0.6)
      .map(async (deviceNo) => {
        const state = { status: choose([1, 2]), onlineStatus: choose([1, 2]), runStatus: choose([0, 1, 2]) }
        await succeed('reportDeviceState', { deviceNo, ...state }, owner)
      }),
  )
  devices = await walk(ask, {}, 100)
  reports = await lastReportsOf(devices)
  expect(devices.map(({ deviceNo }) => deviceNo).sort()).toEqual(serials.sort())
})

test('pageDevices answers an application’s devices, the newest first', async () => {
  const times = devices.map(({ createTime }) => createTime)
  expect(times).toEqual(times.toSorted().reverse())
  expect(new Set(devices.map(({ appId }) => appId))).toEqual(new Set([owner.appId]))
  for (const pageSize of [1, 7, 100]) await expectPages(ask, {}, devices, reports, pageSize)
  const byNumber: DeviceRecord[] = []
  for (let pageNo = 1; pageNo <= 16; pageNo++) byNumber.push(...expectSuccess(await ask({ pageNo })).list)
  expect(byNumber).toEqual(devices)
})

test('pageDevices finds by every filter exactly what fits it', async () => {
  for (const filter of singleFilters(filterValues(devices, reports)))
    await expectPages(ask, filter, devices, reports, 10)
})

test('pageDevices finds by every two filters exactly what fits both', async () => {
  const values = filterValues(devices, reports)
  for (let round = 0; round < atScale(1, 3); round++) {
    for (const filter of pairsOfFilters(values, choose)) await expectPages(ask, filter, devices, reports, 10)
  }
})

test('pageDevices finds by all filters together exactly what fits them all', async () => {
  for (const device of devices.slice(0, 10)) {
    const { deviceNo, deviceName, modelName, status, onlineStatus, runStatus, createTime, deviceBattery } = device
    const { provinceCode, cityCode, districtCode } = deviceBattery
    const codes = { provinceCode, cityCode, districtCode }
    const filter: Filter = { deviceNo, deviceName, ...codes, status, onlineStatus, runStatus }
    const times = { timeFrom: createTime, timeTo: createTime, bbox: '-180,-90,180,90' }
    const at = reports.get(deviceNo)
    const seen = at === undefined ? { hasReported: 'false' } : { lastReportFrom: at, lastReportTo: at }
    const model = modelName === null ? {} : { modelName }
    await expectPages(ask, { ...filter, ...times, ...seen, ...model }, devices, reports, 10)
  }
})

test('pageDevices skips nothing that is there throughout, while others create and unbind', async () => {
  const application = await newApplication(client)
  const { token } = application
  const lasting = await createMotley(application, 40, 'L')
  const passing = await createMotley(application, 40, 'P')
  let isWalking = true
  const others = (async () => {
    while (isWalking) {
      const deviceNo = passing.pop() ?? newSerial('N')
      if (deviceNo.startsWith('P')) await succeed('unbindDevice', { deviceNo }, { token })
      else expectSuccess(await createDeviceOf(application, { deviceNo }))
    }
  })()
  // The devices that existed the whole time match each of these filters.
  for (const filter of [{}, { onlineStatus: 2 }, { bbox: '-180,-90,180,90' }, { hasReported: 'false' }]) {
    const walked = (await walk(askFor(application), filter, 4)).map(({ deviceNo }) => deviceNo)
    expect(walked.filter((deviceNo) => deviceNo.startsWith('L')).sort()).toEqual(lasting.toSorted())
    expect(new Set(walked).size).toBe(walked.length)
  }
  isWalking = false
  await others
})

test('a part of a serial number is found in upper and lower case, beyond ASCII too, wherever it is a filter', async () => {
  const app = await newApplication(client)
  const { appId, token } = app
  const stem = newSerial('Folded')
  const siteId = await newSite(app)
  for (const letter of ['É', 'Ⅱ', 'Ｃ', 'Ω']) {
    const other = letter.toLowerCase()
    const deviceNo = `${stem}${letter}`
    expectSuccess(await createDeviceOf(app, { deviceNo }))
    await succeed('savePlacement', { deviceNo, siteId, laneType: 1 }, { token })
    for (const sought of [deviceNo, `${stem.toLowerCase()}${other}`, `${stem.toUpperCase()}${letter}`, letter, other]) {
      const filter = { appId, deviceNo: sought }
      const act = {
        appId,
        kind: 'devices',
        act: 'update',
        filter: { deviceNo: sought },
        set: { tag: 'x' },
        dryRun: true,
      }
      const { list } = await succeed('pageDevices', filter)
      const placed = (await succeed('pagePlacements', filter)).list
      const found = (await succeed('search', { text: sought })).list as { name: string }[]
      expect([sought, list.map((device) => device.deviceNo), placed.map((device) => device.deviceNo)]).toEqual([
        sought,
        [deviceNo],
        [deviceNo],
      ])
      expect((await succeed('createAct', act as never)).rows).toBe(1)
      if (sought.length > 1) expect(JSON.stringify(found)).toContain(deviceNo)
    }
  }
})

test('pageDevices refuses what is no filter, each by its name', async () => {
  const times = ['2026-02-30 00:00:00', '2026-01-01', '2026-01-01T00:00:00', '1 day', '2026-01-01 24:00:00', '0']
  const numbers = ['-1', '9', '1.0', '00', 'normal']
  for (const [member, values] of Object.entries({
    bbox: ['1,2,3', '1,2,3,4,5', 'a,b,c,d', '181,0,181,1', '0,91,0,91', '10,0,5,1', '0,10,1,5', '1;2;3;4', ',,,', ' '],
    ...{ lastReportFrom: times, lastReportTo: times, timeFrom: times, timeTo: times },
    hasReported: ['yes', '0', 'TRUE'],
    ...{ status: numbers, onlineStatus: numbers, runStatus: numbers },
    deviceNo: ['a b', 'x'.repeat(65)],
    deviceName: ['x'.repeat(65), 'a\nb'],
    modelName: ['x'.repeat(65), ' '],
    ...{ provinceCode: ['1'.repeat(13)], cityCode: ['1'.repeat(13)], districtCode: ['1'.repeat(13), ' '] },
  })) {
    for (const value of values) expectFaults(await ask({ [member]: value }), [member])
  }
  expectFaults(await ask({ bbox: 'x', status: '9', cursor: 'x' }), ['bbox', 'status'])
  for (const cursor of ['x', 'WyJhIiwiYiJd', 'WyIxIl0', 'WzEsIngiXQ', 'WyI5OTk5OTk5OTk5OTk5OTk5OTk5IiwieCJd']) {
    expectFaults(await ask({ cursor }), ['cursor'])
  }
})

test('pageDevices answers an operator who names no application all of them, by application, newest first', async () => {
  const prefix = newSerial('ALL')
  const applications = await Promise.all(Array.from({ length: 3 }, () => newApplication(client)))
  for (const application of applications) {
    const [reported, ...others] = await createMotley(application, 15, prefix)
    for (const deviceNo of [reported, ...others.slice(8)]) {
      const report = { deviceNo, reportTime: `2026-0${1 + Math.floor(random() * 9)}-01T00:00:00Z` }
      await succeed('reportDeviceState', report, application)
    }
  }
  const askAll = (query: Filter) => client.operate('pageDevices', { ...query, deviceNo: prefix })
  const appIds = applications.map(({ appId }) => appId).sort()
  const ofOne = (appId: string) => walk((query) => client.operate('pageDevices', { ...query, appId }), {}, 100)
  const all = (await Promise.all(appIds.map(ofOne))).flat()
  expect(all.length).toBe(45)
  const reports = await lastReportsOf(all)
  expect(reports.size).toBe(21)
  for (const pageSize of [1, 7, 15, 100]) await expectPages(askAll, {}, all, reports, pageSize)
  for (const filter of singleFilters(filterValues(all, reports)).filter((filter) => !('deviceNo' in filter))) {
    await expectPages(askAll, filter, all, reports, 10)
  }
})

test('pageDevices answers an operator as it answers the application, and takes a filter that is not given as none', async () => {
  const none = Object.fromEntries(Object.keys(pageDevices.query?.properties ?? {}).map((member) => [member, '']))
  expect(expectSuccess(await ask(none)).total).toBe(devices.length)
  for (const filter of [{}, { deviceName: 'gate', pageSize: 5 }]) {
    const own = expectSuccess(await ask(filter))
    expect(await succeed('pageDevices', { ...filter, appId: owner.appId })).toEqual(own)
  }
})
