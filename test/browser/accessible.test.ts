import { afterAll, describe, expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { jobStatus } from '../../src/bulk/jobs/contract.ts'
import { Client } from '../kit/client.ts'
import { projectFolder } from '../kit/folders.ts'
import { newPerson } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial, siteBody } from '../kit/records.ts'
import { startService } from '../kit/service.ts'
import { becomesTrue } from '../kit/waits.ts'
import { expectSound, leadTo, longBrowserTest, narrow, visit, whatIsWider } from './support.ts'

// Every page of the console, with records on it, and what opens above a page: axe finds nothing, and nothing is wider than
// its window. In English and Chinese, on a desk and on phones, in the light and in the dark.

interface PageOfConsole {
  /** As console/src/routes.tsx has it, without `/console/`. */
  route: string
  path: string
  /** A text of a record, in both languages the same, which is there once the page has loaded. */
  shows: string | RegExp
}

/** In one word, which no line can break. */
const longWord = 'Ladestationsbetreibergesellschaftsvertretung'

/** A service with a record of each kind. A proof lasts a second there, so that acts ask for one. */
async function prepare() {
  const service = await startService({
    env: { FORECOURT_PRIVATE_CALLBACKS: 'allow', FORECOURT_CONFIRM_SECONDS: '1' },
  })
  const client = new Client(service)
  const appName = `Harbour Parking ${longWord}`
  // No process listens on this port.
  const thirdPartyConfig = { operatorName: 'Harbour Operator', callbackUrl: 'http://127.0.0.1:1/callback' }
  const { appId, token } = await newApplication(client, { appName, thirdPartyConfig })
  const as = { token }
  const ruleOf = async (body: object) => (await client.call('saveBillingRule', body, as)).data.id
  const day = [
    { startTime: '00:00:00', electricityPrice: '0.4', servicePrice: '0.3' },
    { startTime: '08:30:00', electricityPrice: '0.9', servicePrice: '0.4' },
  ]
  const fast = await ruleOf({ ruleName: `Fast by day ${longWord}`, ruleType: 1, periods: day })
  await ruleOf({ ruleName: 'Occupancy', ruleType: 3, freeMinutes: 15, unitMinutes: 30, unitPrice: '2', dailyCap: '40' })
  const siteName = `Riverside ${longWord}`
  const coordinates = '115.899918,28.676493'
  const site = await client.call('saveSite', siteBody(appId, { siteName, coordinates, fastChargeBillRuleId: fast }), as)
  const [deviceNo, other] = [newSerial('GATE'), newSerial('GATE')]
  for (const serial of [deviceNo, other]) {
    await client.call('createDevice', deviceBody(appId, { deviceNo: serial, deviceName: longWord }), as)
  }
  // For the log of refusals.
  await client.call('createDevice', deviceBody(appId, { coordinates: 'nowhere', deviceNo: 'REFUSED-1' }), as)
  await client.call('reportDeviceState', { deviceNo, status: 2, onlineStatus: 1, statusRemark: 'arm bent' }, as)
  await client.call('savePlacement', { deviceNo, siteId: site.data.id, laneType: 3, laneName: 'East' }, as)
  const effectiveTime = new Date(Date.now() + 86_400_000).toISOString().replace(/\.\d+/, '')
  const change = { billingRuleId: fast, periods: day.slice(0, 1), effectiveTime }
  await client.call('schedulePriceChange', change, as)

  const file = 'deviceNo,deviceName,districtCode,coordinates\nIMPORTED 1,x,360102,nowhere\n'
  const job = (await client.call('createImport', { kind: 'devices', appId, file }, as)).data
  const isImported = async () => (await client.operate('getImport', { id: job.id })).data.status === jobStatus.done
  expect(await becomesTrue(isImported)).toBe(true)
  const begun = { kind: 'devices', act: 'update', filter: { all: true }, set: { tag: 'lane 1' } }
  const act = (await client.call('createAct', begun, as)).data
  expect(await becomesTrue(async () => (await client.operate('getAct', { id: act.id })).data.status === 3)).toBe(true)

  const serialPrefix = newSerial('MODEL')
  await client.operate('saveDeviceModel', { serialPrefix, modelName: 'Lift gate 2' })
  await client.operate('importDeviceInventory', {
    entries: [{ deviceNo: newSerial('STOCK'), modelName: 'Lift gate 2' }],
  })
  await client.operate('saveRegion', { code: '360192', name: '新区' })
  const person = await newPerson(client, 'viewer')
  const key = newSerial('key')
  await client.operate('createOperatorKey', { name: key, role: 'viewer' })
  const hasFailed = async () => (await client.operate('pageDeliveries', { appId })).data.list.some(({ error }) => error)
  expect(await becomesTrue(hasFailed)).toBe(true)

  const siteAt = `sites/${appId}/${site.data.id}`
  const deviceAt = `devices/${appId}/${deviceNo}`
  const ruleAt = `billing-rules/${appId}/${fast}`
  const page = (route: string, shows: string | RegExp, path = route): PageOfConsole => ({ route, path, shows })
  const ofApplication = (tab: string, shows: string | RegExp) =>
    page('applications/:appId/:tab', shows, `applications/${appId}/${tab}`)
  const pages = {
    records: [
      page('applications', appName),
      page('applications/:appId', appId, `applications/${appId}`),
      ofApplication('overview', appId),
      ofApplication('callback', 'ECONNREFUSED'),
      ofApplication('sites', siteName),
      ofApplication('devices', deviceNo),
      ofApplication('billing-rules', 'Fast by day'),
      ofApplication('events', /Device bound|绑定设备/),
      ofApplication('members', /Members|成员/),
      page('sites', siteName, `sites?appId=${appId}`),
      page('sites', siteName, `sites?appId=${appId}&view=map`),
      page('sites/new', /Contact person|联系人/, `sites/new?appId=${appId}&like=${site.data.id}`),
      page('sites/:appId/:id', 'East', siteAt),
      page('sites/:appId/:id/edit', /Contact person|联系人/, `${siteAt}/edit`),
    ],
    devicesAndPrices: [
      page('devices', deviceNo, `devices?appId=${appId}`),
      page('devices/new', /Serial number|序列号/, `devices/new?appId=${appId}`),
      page('devices/new', /Paste|粘贴/, `devices/new?appId=${appId}&tab=several`),
      page('devices/:appId/:deviceNo', 'arm bent', deviceAt),
      page('devices/:appId/:deviceNo/edit', /Serial number|序列号/, `${deviceAt}/edit`),
      page('billing-rules', 'Fast by day', `billing-rules?appId=${appId}`),
      page('billing-rules/new', /Electricity|电费/, `billing-rules/new?appId=${appId}`),
      page('billing-rules/:appId/:id', '08:30', ruleAt),
      page('billing-rules/:appId/:id/edit', /Electricity|电费/, `${ruleAt}/edit`),
      page('billing-rules/:appId/:id/prices', /Electricity|电费/, `${ruleAt}/prices`),
      page('price-changes', 'Fast by day', `price-changes?appId=${appId}`),
      page('models', serialPrefix),
      page('models', /STOCK-/, 'models?tab=inventory'),
      page('regions', '360192'),
    ],
    platform: [
      page('', /ECONNREFUSED/),
      page('account', /Password|密码/),
      page('imports', /^(Import|导入) \d+/, `imports?appId=${appId}`),
      page('imports/new', appName, `imports/new?kind=devices&appId=${appId}`),
      page('imports/:id', 'IMPORTED 1', `imports/${job.id}`),
      page('acts', /Update devices|修改设备/, `acts?appId=${appId}`),
      page('acts/:id', deviceNo, `acts/${act.id}`),
      page('events', appName, `events?tab=audit&appId=${appId}`),
      page('events', /Device bound|绑定设备/, `events?appId=${appId}`),
      page('deliveries', /ECONNREFUSED/, `deliveries?appId=${appId}`),
      page('refusals', 'REFUSED-1'),
      page('people', person.name, `people?name=${person.name}`),
      page('people', key, 'people?tab=keys'),
      page('people', /^admin-/, 'people?tab=sessions'),
      page('service', /^PostgreSQL \d/),
      page('*', /Page not found|页面不存在/, 'no-such-page'),
    ],
  } satisfies Record<string, PageOfConsole[]>
  return { service, client, appId, pages }
}

let prepared: ReturnType<typeof prepare> | undefined
const bed = () => {
  prepared ??= prepare()
  return prepared
}
afterAll(async () => (await prepared)?.service.stop())

const combinations = (['en', 'zh'] as const).flatMap((language) =>
  [{ width: 1280, height: 800 }, narrow].map((viewport) => ({ language, viewport, at: `${viewport.width} px` })),
)

/** Checks what is shown; of a page that is in another language or width, the picture has another name. */
const isSound = (page: Page, name: string) => expectSound(page, /./, name)
const nameOf = (path: string, { language, at }: { language: string; at: string }) =>
  `axe-${path.replaceAll(/[^\w-]+/g, '-')}-${language}-${at.replace(' px', '')}`

/** Opened on smaller phones, too, the page is not wider than the window. */
async function expectFits(page: Page, shows: string | RegExp): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 })
  await page.reload()
  await page.getByRole('main').getByText(shows).first().waitFor({ state: 'attached' })
  for (const width of [320, 361]) {
    await page.setViewportSize({ width, height: 640 })
    expect([width, await whatIsWider(page)]).toEqual([width, []])
  }
  await page.setViewportSize(narrow)
}

describe('every page of the console', () => {
  longBrowserTest('is among those that are checked', async () => {
    const { pages } = await bed()
    const source = readFileSync(join(projectFolder, 'console', 'src', 'routes.tsx'), 'utf8')
    const routes = [...source.matchAll(/\bpage\('([^']*)'/g)].map(([, path = '']) => path)
    const signedOut = ['/console/sign-in', '/console/set-up']
    const checked = Object.values(pages).flatMap((part) => part.map(({ route }) => route))
    expect(routes.length).toBeGreaterThan(25)
    expect(routes.filter((route) => ![...checked, ...signedOut].includes(route))).toEqual([])
  })

  longBrowserTest('offers a viewer nothing that changes a record', async () => {
    const { client: through, pages } = await bed()
    const { page } = await visit('/console/account', { role: 'viewer', through })
    const acts =
      /^(New|Add|Edit|Save|Create|Duplicate|Import$|Delete|Remove|Rotate|Take|Bring|Freeze|Unbind|Force|Transfer|Change|Replay|Send|Schedule|Cancel|Undo|Reset|Revoke|Reassign|End)\b/
    for (const { route, path, shows } of Object.values(pages).flat()) {
      // One's own account is everybody's to change, and members are the admins' to see.
      if (route === 'account' || path.endsWith('/members')) continue
      await page.goto(`${through.url}/console/${path}`)
      const main = page.getByRole('main')
      const isShown = main.getByText(shows).or(main.getByText('Your role doesn’t have access to this.'))
      await isShown.first().waitFor({ state: 'attached' })
      const offers = main.getByRole('button', { name: acts }).or(main.getByRole('link', { name: acts }))
      expect([path, await offers.allTextContents()]).toEqual([path, []])
    }
  })

  for (const part of ['records', 'devicesAndPrices', 'platform'] as const) {
    describe.each(combinations)(`${part}, $language, $at`, (combination) => {
      longBrowserTest('is without a finding, light and dark', async () => {
        const { client: through, pages } = await bed()
        const { page } = await visit('/console/account', { role: 'admin', through, ...combination })
        await page.getByRole('heading', { level: 1 }).waitFor()
        for (const { path, shows } of pages[part]) {
          await page.goto(`${through.url}/console/${path}`)
          await page.getByRole('main').getByText(shows).first().waitFor({ state: 'attached' })
          await isSound(page, nameOf(path, combination))
          if (combination.viewport === narrow) await expectFits(page, shows)
        }
      })
    })
  }
})

describe.each(combinations)('what opens above a page, $language, $at', (combination) => {
  const { language, viewport } = combination
  const word = (en: string | RegExp, zh: string | RegExp) => (language === 'en' ? en : zh)

  longBrowserTest('is without a finding, light and dark', async () => {
    const { client: through, appId } = await bed()
    const as = { role: 'admin', through, ...combination } as const
    const { page, headers } = await visit(`/console/devices?appId=${appId}`, as)
    await page.getByText(word('2 total', '共 2 条')).waitFor()
    await through.call('saveView', { page: 'devices', name: 'Mine', query: `appId=${appId}` }, { headers })
    const check = async (name: string) => {
      await isSound(page, nameOf(name, combination))
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    }
    const dialog = (en: string, zh: string) => page.getByRole('dialog', { name: word(en, zh) })
    const isPhone = viewport === narrow

    await page.keyboard.press('Control+k')
    const find = dialog('Search', '查找')
    await find.getByRole('combobox').fill('GATE')
    await find.getByRole('option').first().waitFor()
    await check('find')
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByRole('checkbox').waitFor()
    await check('shortcuts')

    if (isPhone) await page.getByRole('button', { name: word(/Filters/, /筛选/) }).click()
    const chooseOfViews = async (item: RegExp | string) => {
      await page.getByRole('button', { name: word('Views', '视图') }).click()
      await page.getByRole('menuitem', { name: item }).click()
      await page.getByRole('dialog').waitFor()
    }
    await chooseOfViews(word(/^Save this view/, /^保存/))
    await check('view-save')
    await chooseOfViews(word(/^Rename or delete/, /^重命名/))
    await check('views')
    await page.getByRole('button', { name: word('Columns', '列'), exact: true }).click()
    await page.getByRole('checkbox').nth(3).waitFor()
    await isSound(page, nameOf('columns', combination))
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: word('Export', '导出') }).click()
    await page.getByRole('link', { name: /^CSV/ }).waitFor()
    await isSound(page, nameOf('export', combination))
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: word(/^Bulk action on all 2/, /^批量操作全部 2/) }).click()
    await page.getByRole('dialog').waitFor()
    await check('all-that-match')
    if (isPhone) {
      await page.getByRole('button', { name: word('Menu', '菜单') }).click()
      await page.getByRole('dialog').getByRole('link').nth(5).waitFor()
      await check('menu')
      await page.setViewportSize({ width: 320, height: 640 })
      await page.getByRole('button', { name: word('Your account', '我的账号') }).click()
      const menu = page.getByRole('menu').filter({ hasText: word('Sign out', '退出登录') })
      await menu.waitFor()
      const { x = -1, width = 999 } = (await menu.boundingBox()) ?? {}
      expect([x >= 0, x + width <= 320]).toEqual([true, true])
      await page.keyboard.press('Escape')
      await page.setViewportSize(narrow)
    }

    await openFirstRow(page, `/console/events?appId=${appId}`, word(/^Device bound, /, /^绑定设备/))
    await check('event')
    await openFirstRow(page, `/console/deliveries?appId=${appId}`, word(/view delivery/, /的详情$/))
    await page.getByRole('dialog').getByText('ECONNREFUSED').first().waitFor()
    await check('delivery')

    // By now the proof of the sign-in is older than a second.
    await leadTo(page, '/console/people?tab=keys')
    await page.getByRole('button', { name: word('New key', '新建密钥') }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel(word('Name', '名称')).fill(newSerial('asked'))
    await form.getByRole('button', { name: word('Create', /^新\s?建$/) }).click()
    await page.getByRole('dialog').getByLabel(word('Password', '密码')).waitFor()
    await isSound(page, nameOf('proof', combination))
  })

  longBrowserTest('and the pages before sign-in are without a finding, light and dark', async () => {
    const { client: through } = await bed()
    for (const path of ['sign-in', 'set-up', 'set-up#no-such-token']) {
      const { page } = await visit(`/console/${path}`, { through, ...combination })
      await page.getByRole('heading', { level: 1 }).waitFor()
      await isSound(page, nameOf(path, combination))
      if (combination.viewport === narrow) await expectFits(page, /./)
    }
  })
})

/** Opens the drawer of a list's first row that has such a button. */
async function openFirstRow(page: Page, path: string, button: string | RegExp): Promise<void> {
  await leadTo(page, path)
  await page.getByRole('button', { name: button }).first().click()
  await page.getByRole('dialog').waitFor()
}
