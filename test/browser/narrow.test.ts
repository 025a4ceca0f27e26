import { describe, expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deviceBody, newApplication, newSerial } from '../kit/records.ts'
import { newRule, newSite } from './records.ts'
import { client, longBrowserTest, picture, visit, whatIsWider } from './support.ts'

/** A name in one word, as long as the service takes. */
const longName = 'Ladestationsbetreibergesellschaftsvertretungsbevollmaechtigtenbuero'.slice(0, 64)

/** An address of every route, with records that have long names. */
async function addresses(): Promise<string[]> {
  const app = await newApplication(client)
  const { appId, token } = app
  const rule = await newRule(app, 1, longName)
  const site = await newSite(app, { siteName: longName, fastChargeBillRuleId: rule })
  const deviceNo = newSerial('narrow')
  const device = deviceBody(appId, { deviceNo, deviceName: longName })
  expect((await client.call('createDevice', device, { token })).code).toBe(0)
  const source = readFileSync(join(import.meta.dirname, '..', '..', 'console', 'src', 'routes.tsx'), 'utf8')
  const known: Record<string, string> = { ':appId': appId, ':deviceNo': deviceNo, ':tab': 'callback' }
  return [...source.matchAll(/\bpage\('([^']*)'/g)].map(([, route = '']) => {
    const id = route.startsWith('sites') ? site.id : route.startsWith('billing') ? rule : 1
    const path = route.replace('*', 'no-such-page').replace(/:\w+/g, (name) => known[name] ?? String(id))
    return `${path.startsWith('/') ? path : `/console/${path}`}?appId=${appId}`
  })
}

let prepared: Promise<string[]> | undefined

describe.each(['en', 'zh'] as const)('in %s', (language) => {
  longBrowserTest('no page is wider than a window of 320 or 361 px', async () => {
    prepared ??= addresses()
    const paths = await prepared
    const { page } = await visit('/console', {
      role: 'admin',
      language,
      viewport: { width: 320, height: 640 },
      isPolling: true,
    })
    const wider: string[] = []
    for (const path of paths) {
      await page.goto(client.url + path)
      await page.locator('h1, .result').first().waitFor()
      await page.waitForLoadState('networkidle')
      for (const width of [320, 361]) {
        await page.setViewportSize({ width, height: 640 })
        wider.push(...(await whatIsWider(page)).map((words) => `${width} px: ${words}`))
      }
      await page.setViewportSize({ width: 320, height: 640 })
      await picture(page, `narrow ${language} ${path.replaceAll(/\W+/g, '-').slice(0, 60)}`)
    }
    expect(wider).toEqual([])
    await page.goto(`${client.url}/console/devices`)
    await page.getByRole('button', { name: language === 'en' ? 'Your account' : '我的账号' }).click()
    const menu = page.getByRole('menu').filter({ hasText: language === 'en' ? 'Sign out' : '退出登录' })
    await menu.waitFor()
    const box = await menu.boundingBox()
    expect(box?.x).toBeGreaterThanOrEqual(0)
    expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(320)
  })
})
