import { expect } from 'bun:test'
import { statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { exported } from '../conformance/support.ts'
import { newDataDir } from '../kit/folders.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { confirm, row, shows } from './hand.ts'
import { newDevice, newRule, newSite } from './records.ts'
import { browserTest, client, expectFramed, expectSound, leadTo, longBrowserTest, visit } from './support.ts'

/** Encodes text in GB 18030, as a spreadsheet on Chinese Windows saves it. */
function gb18030(text: string): Buffer {
  const decoder = new TextDecoder('gb18030')
  const codes = new Map<string, [number, number]>()
  for (let lead = 0xb0; lead < 0xf8; lead++)
    for (let trail = 0xa1; trail < 0xff; trail++)
      codes.set(decoder.decode(new Uint8Array([lead, trail])), [lead, trail])
  return Buffer.from([...text].flatMap((character) => codes.get(character) ?? [...Buffer.from(character)]))
}

const csv = (buffer: Buffer) => ({ name: '设备.csv', mimeType: 'text/csv', buffer })
const chooseFile = (page: Page, buffer: Buffer) => page.locator('input[type=file]').setInputFiles(csv(buffer))

/** The text of the file that the browser saves when `run` follows a link. */
async function saved(page: Page, run: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), run()])
  return readFile(await download.path(), 'utf8')
}

longBrowserTest('a response of somebody else is no import, whatever it says', async () => {
  const app = await newApplication(client)
  const { page } = await visit(`/console/devices?appId=${app.appId}`, { role: 'operator' })
  await page.getByRole('link', { name: 'Import', exact: true }).click()
  const row = `${newSerial()},门,360102,"115.899918,28.676493"`
  await chooseFile(page, Buffer.from(`deviceNo,deviceName,districtCode,coordinates\n${row}\n`))
  await page.getByText('All columns were recognized').waitFor()
  const others = [
    { json: { code: 0 } },
    { json: { code: 0, msg: 'ok', data: { id: 1 } } },
    { contentType: 'text/html', body: '<html>Welcome</html>' },
    { json: null },
  ]
  for (const other of others) {
    await page.route('**/import/create?*', (route) => route.fulfill({ status: 200, ...other }))
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    const told = page.getByRole('alert').filter({ hasText: 'answered with HTTP 200' })
    await told.waitFor()
    expect(new URL(page.url()).pathname).toBe('/console/imports/new')
    await page.unroute('**/import/create?*')
  }
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('Done', { exact: true }).waitFor()
})

browserTest('a file is checked, tried, imported, and tells what became of each row', async () => {
  const app = await newApplication(client)
  const [first, known, third] = [newSerial(), newSerial(), newSerial()]
  await newDevice(app, { deviceNo: known, deviceName: '西门', tag: null, detailAddress: null })
  const lines = [
    '设备序列号,名称,区县代码,坐标,所在车道',
    `${first},东门,360102,"115.899918,28.676493",三`,
    `${known},西门,360102,"115.899918,28.676493",`,
    `${third},南门,360102,nowhere,`,
  ]
  const { page } = await visit(`/console/devices?appId=${app.appId}`, { role: 'operator' })
  await page.getByRole('link', { name: 'Import', exact: true }).click()
  const template = await saved(page, () => page.getByRole('link', { name: 'Download CSV template' }).click())
  expect(template).toContain('deviceNo,')
  await chooseFile(page, Buffer.from('PK\x03\x04 not text'))
  await page.getByRole('alert').getByText('This is an Excel workbook.').waitFor()
  await page.getByRole('button', { name: 'Choose another file' }).click()
  await chooseFile(page, gb18030(lines.join('\r\n')))
  await page.getByText('GB 18030').waitFor()
  await page.getByText('Unknown columns: 所在车道.').waitFor()
  expect(await page.getByRole('button', { name: 'Import', exact: true }).isDisabled()).toBe(true)
  await page.getByRole('row', { name: /名称/ }).getByText('东门 · 西门 · 南门').waitFor()
  await page.getByLabel('Field for 所在车道').click()
  await page.getByTitle('tag', { exact: true }).click()
  await page.getByText('All columns were recognized, and none are missing.').waitFor()
  await expectSound(page, 'New import')

  await page.getByRole('button', { name: 'Dry run' }).click()
  await page.getByText('Dry run: nothing was written.').waitFor()
  await page.getByTestId('figure-Would be created').getByText('1', { exact: true }).waitFor()
  await page.getByTestId('figure-Would be refused').getByText('1', { exact: true }).waitFor()
  expect((await client.operate('pageDevices', { appId: app.appId })).data.total).toBe(1)

  await page.getByRole('link', { name: 'Import now' }).click()
  // The chosen file and the result of its check are still shown.
  await page.getByText('All columns were recognized').waitFor()
  // The upload starts and never ends.
  await page.route('**/import/create?*', () => {})
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByRole('button', { name: 'Cancel' }).waitFor()
  await page.getByRole('link', { name: 'Overview' }).click()
  await page.getByRole('button', { name: 'Stay' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.unroute('**/import/create?*')
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('Done', { exact: true }).waitFor()
  await row(page, /^Line 4 Refused/)
    .getByText('coordinates')
    .waitFor()
  expect(await row(page, /^Line [23] /).count()).toBe(0)
  await expectSound(page, /^Import \d+: Devices$/, 'import-done')
  const told = await saved(page, () => page.getByRole('link', { name: 'Download NDJSON' }).click())
  expect(JSON.parse(told)).toMatchObject({ line: 4, outcome: 'refused', code: 10001, deviceNo: third })
  await page.getByRole('link', { name: 'Rows' }).click()
  await page.getByRole('row', { name: /^Line 3 Already exists/ }).waitFor()
  const sheet = await saved(page, () => page.getByRole('button', { name: 'Download CSV' }).click())
  expect(sheet).toStartWith('\ufeffline,key,outcome,code,reason\r\n')
  expect(sheet).toContain(`2,${first},created,0,success\r\n3,${known},existing,0,success\r\n4,${third},refused,10001,`)
  await page.getByRole('link', { name: first }).click()
  await page.getByRole('heading', { level: 1, name: '东门' }).waitFor()
  const { data } = await client.operate('pageDevices', { appId: app.appId, deviceNo: first })
  expect(data.list).toMatchObject([{ deviceName: '东门', tag: '三' }])

  await leadTo(page, `/console/imports?appId=${app.appId}`)
  await page.getByRole('row', { name: /Import \d+: Devices Done 3 1 0 1 1/ }).waitFor()
  await page.getByRole('row', { name: /Dry run/ }).waitFor()
  await expectFramed(page, 'Imports')
})

longBrowserTest('a foreign column is left out; refused rows are downloaded, corrected and sent again', async () => {
  const app = await newApplication(client)
  const [good, bad] = [newSerial(), newSerial()]
  const rowOf = (serial: string, coordinates: string, name = '东门') => `${serial},${name},360102,${coordinates},x,y`
  const lines = [rowOf(good, '"115.9,28.7"'), rowOf(bad, 'nowhere'), rowOf(good, '"115.9,28.7"', '西门')]
  const file = `设备序列号,名称,区县代码,坐标,责任人,remarks2\n${lines.join('\n')}\n`
  const { page } = await visit(`/console/imports/new?kind=devices&appId=${app.appId}`, { role: 'operator' })
  await chooseFile(page, Buffer.from(file))
  await page.getByText('Unknown columns: 责任人, remarks2.').waitFor()
  await page.getByLabel('Field for 责任人').click()
  await page.getByTitle('(skip this column)', { exact: true }).last().click()
  await page.getByText('Unknown columns: remarks2.').waitFor()
  expect(await page.getByRole('button', { name: 'Import', exact: true }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Skip them' }).click()
  await page.getByText('Skipped: 责任人, remarks2.').waitFor()
  await expectSound(page, 'New import')
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('Done', { exact: true }).waitFor()
  await shows(page, 'ignore them: 责任人, remarks2.', 'also appears in line 2 of this file, with different content')
  await expectSound(page, /^Import \d+: Devices$/, 'import-refused-rows')
  const sheet = await saved(page, () => page.getByRole('button', { name: 'Download refused rows' }).click())
  const head = 'deviceNo,deviceName,districtCode,coordinates,责任人,remarks2,refusedLine,refusedCode,refusedReason'
  expect(sheet).toStartWith(`\ufeff${head}\r\n${bad},东门,360102,nowhere,x,y,3,10001,`)
  expect(sheet.trimEnd().split('\r\n')).toHaveLength(3)

  await leadTo(page, `/console/imports/new?kind=devices&appId=${app.appId}`)
  await chooseFile(page, Buffer.from(sheet.replace('nowhere', '"115.9,28.7"')))
  await page.getByText('ignore them: refusedLine, refusedCode, refusedReason.').waitFor()
  await page.getByRole('button', { name: 'Skip them' }).click()
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByText('Done', { exact: true }).waitFor()
  await page.getByTestId('figure-Created').getByText('1', { exact: true }).waitFor()
  const { data } = await client.operate('pageDevices', { appId: app.appId, deviceNo: bad })
  expect(data.list).toMatchObject([{ deviceName: '东门' }])
})

longBrowserTest('a large file loses a column while the page holds little of it; its import is cancelled', async () => {
  const app = await newApplication(client)
  const prefix = newSerial()
  const rest = `,Gate,360102,"115.9,28.7",${'x'.repeat(400)}`
  const lines = Array.from({ length: 230_000 }, (_, index) => `${prefix}-${index}${rest}`)
  const path = join(newDataDir(), 'large.csv')
  writeFileSync(path, ['deviceNo,deviceName,districtCode,coordinates,remarks2', ...lines].join('\n'))
  expect(statSync(path).size).toBeGreaterThan(100_000_000)
  const { page } = await visit(`/console/imports/new?kind=devices&appId=${app.appId}`, { role: 'operator' })
  const cdp = await page.context().newCDPSession(page)
  const heap = async () => {
    await cdp.send('HeapProfiler.collectGarbage')
    const usage: { usedSize: number; backingStorageSize?: number } = await cdp.send('Runtime.getHeapUsage')
    return usage.usedSize + (usage.backingStorageSize ?? 0)
  }
  await page.getByText('Download CSV template').waitFor()
  const before = await heap()
  await page.locator('input[type=file]').setInputFiles(path)
  await page.getByRole('button', { name: 'Skip them' }).click()
  await page.getByRole('button', { name: 'Dry run' }).click()
  let most = 0
  for (let isSent = false; !isSent; ) {
    most = Math.max(most, await heap())
    isSent = /\/imports\/\d+/.test(page.url())
  }
  expect(most - before).toBeLessThan(20_000_000)
  await page.getByText('ignore them: remarks2.').waitFor()
  // Whoever would send another is told of it.
  await leadTo(page, `/console/imports/new?kind=devices&appId=${app.appId}`)
  await page.getByText('Another import for this application is running.').waitFor()
  expect(await page.getByRole('button', { name: 'Import', exact: true }).isDisabled()).toBe(true)
  await page.getByRole('link', { name: 'View import' }).click()
  await page.getByText('The import runs on the server.').waitFor()
  await expectSound(page, /^Import \d+: Devices$/)
  await confirm(page, 'Cancel import')
  await page.getByText('Import cancelled.', { exact: true }).waitFor()
})

longBrowserTest('an exported file of each kind is changed and sent back, as it is', async () => {
  const app = await newApplication(client)
  const { appId, token } = app
  const { deviceNo } = await newDevice(app, { deviceName: 'Gate' })
  const { id } = await newSite(app, { siteName: 'Park' })
  await client.call('savePlacement', { deviceNo, siteId: id, laneType: 1 }, { token })
  const { page } = await visit('/console', { role: 'operator' })
  const words = { devices: ['Gate', 'Barrier'], sites: ['Park', 'Garden'], placements: ['2', '2'] }
  for (const [kind, [before = '', after = '']] of Object.entries(words)) {
    const file = await exported({ token }, kind, 'csv')
    await leadTo(page, `/console/imports/new?kind=${kind}&appId=${appId}`)
    await page.getByText('Update', { exact: true }).click()
    await chooseFile(page, Buffer.from(file.replace(before, after)))
    await page.getByText('All columns were recognized, and none are missing.').waitFor()
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('Done', { exact: true }).waitFor()
    await page.getByText('Imports can’t set these columns').first().waitFor()
    await page.getByTestId('figure-Refused').getByText('0', { exact: true }).waitFor()
  }
  expect((await client.call('getSite', { id }, { token })).data.siteName).toBe('Garden')
})

longBrowserTest('a list is exported with its filters, and each list has links that the service takes', async () => {
  const app = await newApplication(client)
  for (const deviceName of ['东门', 'West']) await newDevice(app, { deviceName })
  await newSite(app)
  await newRule(app, 2, 'Slow')
  const { page } = await visit(`/console/devices?appId=${app.appId}&tag=&deviceName=t`, { role: 'viewer' })
  const links = page.locator('.exports')
  await page.getByRole('row', { name: /West/ }).waitFor()
  await page.getByRole('button', { name: 'Export' }).click()
  await links.getByText('1').waitFor()
  const text = await saved(page, () => links.getByRole('link', { name: 'NDJSON' }).click())
  expect(text.trim().split('\n')).toEqual([expect.stringContaining('"deviceName":"West"')])
  const lists = { sites: 'Sites', devices: 'Devices', 'billing-rules': 'Billing rules', events: 'Events' }
  for (const [path, title] of Object.entries(lists)) {
    await leadTo(page, `/console/${path}?appId=${app.appId}`)
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    await links.getByRole('link').first().waitFor()
    for (const link of await links.getByRole('link').all()) {
      const answer = await page.request.get(`${client.url}${await link.getAttribute('href')}`)
      expect(answer.status(), path).toBe(200)
    }
    await page.keyboard.press('Escape')
  }
})
