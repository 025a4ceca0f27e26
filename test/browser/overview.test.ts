import { expect } from 'bun:test'
import { deviceBody, newApplication } from '../kit/records.ts'
import { newDevices, newSite } from './records.ts'
import { browserTest, client, expectSound, longBrowserTest, visit } from './support.ts'

browserTest('the overview shows the platform at a glance, light and dark', async () => {
  const app = await newApplication(client)
  await newSite(app)
  for (const deviceNo of await newDevices(app, 3)) await client.call('reportDeviceState', { deviceNo, status: 2 }, app)
  await client.call('createDevice', deviceBody(app.appId, { deviceNo: '' }), app)
  const { page } = await visit('/console', { role: 'viewer' })
  await page.getByRole('figure', { name: /^Last 24 hours: / }).waitFor({ timeout: 25_000 })
  await expectSound(page, 'Overview', 'overview')
  // An hour of the chart tells what it counts, and links to these rows: devices and sites each have an axis.
  for (const list of ['devices', 'sites']) {
    const created = page.getByRole('link', { name: new RegExp(`: \\d[\\d,]* ${list}? created$`) }).last()
    expect(await created.getAttribute('href')).toMatch(new RegExp(`^/console/${list}\\?timeFrom=`))
  }
  const hour = page.getByRole('link', { name: /: \d[\d,]* refused requests?$/ }).last()
  await hour.hover()
  const told = /^\S+ (\d\d:\d\d):00 .*: ([\d,]+) refused/.exec((await hour.getAttribute('aria-label')) ?? '')
  const shown = await page.locator('.chart-told').innerText()
  expect(shown).toStartWith(`${told?.[1]}–`)
  expect(shown).toEndWith(`Refused requests ${told?.[2]}`)
  await hour.click()
  await page.waitForURL(/\/console\/refusals\?timeFrom=[\d-]+\+\d\d%3A00%3A00&timeTo=[\d-]+\+\d\d%3A\d\d%3A59$/)
  await page.getByRole('row').nth(1).waitFor()
})

longBrowserTest('the overview shows a part of what asks for attention, and leads to all of each kind', async () => {
  const { page } = await visit('/console/sites', { role: 'admin' })
  const finding = (code: string, place: number, more: object = {}) => {
    const values = Object.entries({ appId: `app${place}`, appName: `App ${place}`, count: 1, ...more })
    return { code, status: 'warn', values: values.map(([name, value]) => ({ name, value: String(value) })) }
  }
  const ten = Array.from({ length: 10 }, (_, place) => place)
  await page.route('**/overview/detail', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    // Ten applications, though less than ten of each kind; ten sites; three imports.
    body.data.attention = [
      ...ten.map((place) => finding(place % 2 === 0 ? 'deviceFaulty' : 'callbackDead', place)),
      ...ten.map((place) => finding('siteUnreachable', place, { siteId: place, siteName: `Site ${place}` })),
      ...[1, 2, 3].map((id) => finding('importFailed', id, { id, kind: 'sites', since: '2026-01-01 00:00:00' })),
    ]
    const counts = { devicesFaulty: 1234, callbacksDead: 20, callbacksStopped: 0, callbacksHeld: 11 }
    Object.assign(body.data.counts, counts)
    await route.fulfill({ response, json: body })
  })
  await page.goto(`${client.url}/console`)
  const rest = page.locator('#troubles').getByRole('listitem').getByRole('link')
  await rest.first().waitFor()
  const told = await rest.evaluateAll((links) => links.map((link) => [link.textContent, link.getAttribute('href')]))
  const deliveriesOf = (status: number) => expect.stringContaining(`/console/deliveries?status=${status}&type=`)
  expect(told).toEqual([
    ['11 paused endpoints and their pending deliveries', deliveriesOf(1)],
    ['Failed deliveries: 20', deliveriesOf(3)],
    ['Faulty devices: 1,234', '/console/devices?status=2'],
    ['Devices that are offline and faulty', '/console/devices?status=2&onlineStatus=2&isPlaced=true'],
  ])
  await expectSound(page, 'Overview', 'overview-attention')
  await page.unroute('**/overview/detail')
})

longBrowserTest('the overview tells those who run the service what it stands on, and admins its settings', async () => {
  const { page } = await visit('/console', { role: 'admin' })
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Service' }).click()
  await page.getByText(/^PostgreSQL \d+\S* responds in \d+ ms\.$/).waitFor()
  await page.getByRole('button', { name: /^All \d+ tables$/ }).click()
  await page.getByRole('cell', { name: 'device_binding', exact: true }).waitFor()
  await page.getByRole('button', { name: /^All \d+ settings$/ }).click()
  await page.getByRole('cell', { name: 'FORECOURT_TIME_ZONE', exact: true }).waitFor()
  await expectSound(page, 'Service', 'service')
  const operator = await visit('/console/service', { role: 'operator' })
  await operator.page.getByText(/^PostgreSQL \d/).waitFor()
  expect(await operator.page.getByText('FORECOURT_TIME_ZONE').count()).toBe(0)
})
