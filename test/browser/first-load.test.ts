import { describe, expect } from 'bun:test'
import { browserTest, visit } from './support.ts'

describe('a page that is opened', () => {
  browserTest('asks for its data before its script is loaded, and once', async () => {
    const { page, faults } = await visit('/console/account', { role: 'operator' })
    const session = '/api/platform/v1/session/detail'
    const first = {
      '/console/': ['Overview', '/api/platform/v1/overview/detail'],
      '/console/sites': ['Sites', '/api/charging/v1/siteManageThird/page?pageSize=20'],
      '/console/devices': ['Devices', '/api/device/entrance/guard/page?pageSize=20'],
    }
    let gate = Promise.withResolvers<void>()
    await page.route('**/assets/frame-*.js', async (route) => {
      await gate.promise
      await route.continue()
    })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url().replace(new URL(page.url()).origin, '')))
    for (const [path, [title = '', request = '']] of Object.entries(first)) {
      asked.length = 0
      gate = Promise.withResolvers()
      const requested = page.waitForRequest((sent) => sent.url().endsWith(request))
      const loaded = page.goto(new URL(path, page.url()).href)
      await requested
      gate.resolve()
      await loaded
      await page.getByRole('heading', { name: title, level: 1, exact: true }).waitFor()
      await page.waitForLoadState('networkidle')
      expect([path, asked.filter((url) => url === request || url === session).toSorted()]).toEqual([
        path,
        [session, request].toSorted(),
      ])
    }
    await page.unroute('**/assets/frame-*.js')
    expect(faults).toEqual([])
  })
})
