import { expect, test } from 'bun:test'
import { becomesTrue } from '../kit/waits.ts'
import { asOperator, command, startForecourt } from './support.ts'

// The demonstration fleet, which new users see first.

const { client, settings } = await asOperator()

const size = ['--sites', '12', '--devices', '40', '--json']

interface Outcome {
  applications: { appId: string; appName: string; sites: number; devices: number }[]
  reports: number
  refused: number
}

test('a fleet in real districts whose devices stand at its sites and whose states move; a second run goes on with it, until Ctrl-C', async () => {
  const first = await command(['demo', '--once', ...size], settings)
  expect(first).toMatchObject({ code: 0 })
  const { applications, reports } = JSON.parse(first.stdout) as Outcome
  expect(applications.map(({ sites, devices }) => [sites, devices])).toEqual([
    [4, 13],
    [4, 13],
    [4, 14],
  ])
  expect(reports).toBe(40)

  const { child, ended } = startForecourt(['demo', ...size], settings)
  await new Promise<void>((resolve) => {
    let said = ''
    child.stderr?.on('data', (piece) => {
      said += piece
      if (said.includes('Ctrl-C')) resolve()
    })
  })
  child.kill('SIGINT')
  const second = await ended
  const again = JSON.parse(second.stdout) as Outcome
  expect({ code: second.code, refused: again.refused }).toEqual({ code: 0, refused: 0 })
  expect(again.applications.map(({ appId }) => appId)).toEqual(applications.map(({ appId }) => appId))

  for (const { appId, sites, devices } of applications) {
    const siteRows = (await client.operate('pageSites', { appId, pageSize: '100' })).data
    const deviceRows = (await client.operate('pageDevices', { appId, pageSize: '100' })).data
    expect([siteRows.total, deviceRows.total]).toEqual([sites, devices])
    expect(siteRows.list.filter(({ districtName, cityName }) => districtName === '' || cityName === '')).toEqual([])
    expect(deviceRows.list.filter(({ modelName, deviceBattery }) => !modelName || !deviceBattery.districtName)).toEqual(
      [],
    )
    expect(deviceRows.list.some(({ onlineStatus }) => onlineStatus === 1)).toBe(true)
    await expectPlaced(appId, siteRows.list, devices)
  }
  const failing = applications.at(-1)?.appId
  // A delivery is listed after its first attempt.
  const told = async () => (await client.operate('pageDeliveries', { appId: failing })).data.list
  await becomesTrue(async () => (await told()).length > 0)
  expect((await told())[0]).toMatchObject({ type: 'site.created', responseStatus: null })
})

/**
 * Expects each device at the site that its name begins with, in the lane that its name ends with, since the first run.
 */
async function expectPlaced(appId: string, sites: { id: number; siteName: string }[], devices: number): Promise<void> {
  const { list, total } = (await client.operate('pagePlacements', { appId, pageSize: '100' })).data
  expect(total).toBe(devices)
  for (const { siteId, siteName, deviceName, laneName, laneType } of list) {
    expect(sites).toContainEqual(expect.objectContaining({ id: siteId, siteName }))
    expect(deviceName).toBe(`${siteName} ${laneName}`)
    expect(laneType).toBe(laneName?.endsWith('出口') ? 2 : 1)
  }
  const told = (await client.operate('pageEvents', { appId, type: 'device.placed,device.unplaced' })).data
  expect(told.total).toBe(devices)
}
