import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { guideNames, languages, referenceParts } from '../../console/docs-site/guide-names.ts'
import { operations } from '../../src/reference/operations.ts'
import { eventTypes } from '../../src/vocabulary/event-types.ts'
import { projectFolder } from '../kit/folders.ts'
import { client, expectFaults } from './support.ts'

const sourceOf = (language: string, name: string) =>
  readFileSync(join(projectFolder, 'docs', 'guides', language, `${name}.md`), 'utf8')
const addresses = languages.flatMap((language) =>
  ['', ...guideNames.map((name) => `/${name}`)].map((path) => `/docs/${language}${path}`),
)
const references = Object.values(referenceParts)

/** The pages that have been read so far, by path, so that each is read once. */
const pages = new Map<string, Promise<string>>()
function pageAt(path: string): Promise<string> {
  const read = async () => {
    const answer = await fetch(client.url + path)
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
    return answer.text()
  }
  const page = pages.get(path) ?? read()
  pages.set(path, page)
  return page
}

test.each([...addresses, ...references])('%s is answered, and every link on it leads somewhere', async (path) => {
  const page = await pageAt(path)
  expect(page).toContain(`<html lang="${path.startsWith('/docs/zh') ? 'zh-CN' : 'en'}">`)
  expect(page.match(/<h1/g)).toHaveLength(1)
  // A page loads nothing from other hosts and can be read without a script.
  expect(page).not.toMatch(/src="https?:|<link[^>]*href="https?:|<script(?![^>]*\bsrc=)/)
  for (const [, href = ''] of page.matchAll(/href="([^"]*)"/g)) {
    if (/^https:\/\//.test(href)) continue
    const [to = '', anchor] = href.split('#')
    if (!to.startsWith('/docs/') && to !== '') {
      expect([href, (await fetch(client.url + to)).status]).toEqual([href, 200])
    } else if (anchor !== undefined) {
      expect([href, await pageAt(to || path)]).toEqual([href, expect.stringContaining(`id="${decodeURI(anchor)}"`)])
    } else {
      await pageAt(to)
    }
  }
})

test('the reference marks what a device must have, also what its record has by another name', async () => {
  const page = await pageAt(references[0] ?? '')
  const [, create = ''] = page.split('id="createDevice"')
  const [, body = ''] = create.split('<h4>Body</h4>')
  const [members = ''] = body.split('<h4>')
  const required = [...members.matchAll(/<code>(\w+)<\/code> <b>required/g)].map(([, name]) => name)
  expect(required.sort()).toEqual(['appId', 'coordinates', 'deviceName', 'deviceNo', 'districtCode'])
})

test('an operation of the reference has its lengths, a command and a sample of its answer', async () => {
  const page = await pageAt(referenceParts.integrators)
  const [, operation = ''] = /<div id="createDevice">(.*?)<\/details>/s.exec(page) ?? []
  expect(operation).toContain('1 to 64 characters')
  expect(operation).toContain('curl -s &quot;$FORECOURT_URL/api/device/entrance/guard/create&quot;')
  const [, sample = ''] = /<pre tabindex="0"><code>(\{\s*&quot;code&quot;.*?)<\/code>/s.exec(operation) ?? []
  const { code, msg, data } = JSON.parse(sample.replaceAll('&quot;', '"'))
  expect({ code, msg, deviceNo: data.deviceNo }).toEqual({ code: 0, msg: 'success', deviceNo: 'FC-GATE-0001' })
})

test('every page has an index to search, of its language, which leads to places that are there', async () => {
  for (const language of languages) {
    const [, path = ''] = /data-search="([^"]+)"/.exec(await pageAt(`/docs/${language}`)) ?? []
    const entries: { url: string; heading: string; text: string }[] = JSON.parse(
      await (await fetch(client.url + path)).text(),
    )
    expect(entries.length).toBeGreaterThan(150)
    for (const { url } of entries) {
      const [address = '', anchor] = url.split('#')
      expect([url, anchor === undefined || (await pageAt(address)).includes(`id="${anchor}"`)]).toEqual([url, true])
    }
    const about = language === 'en' ? 'Same key, same body' : '请求体逐字节相同'
    expect(entries.some(({ text }) => text.includes(about))).toBe(true)
    expect(entries.some(({ text }) => text.includes('GET /api/device/entrance/guard/page'))).toBe(true)
  }
})

test.each([
  ['/docs', 'zh-CN,zh;q=0.9,en;q=0.8', '/docs/zh'],
  ['/docs', 'de,en;q=0.5', '/docs/en'],
  ['/docs/quick-start', 'zh-CN', '/docs/zh/quick-start'],
  ['/docs/quick-start', 'fr', '/docs/en/quick-start'],
])('%s leads who reads %s to %s', async (path, language, to) => {
  const asked = { headers: { 'accept-language': language }, redirect: 'manual' } as const
  const { status, headers } = await fetch(client.url + path, asked)
  expect([status, headers.get('location'), headers.get('vary')]).toEqual([302, to, 'accept-language'])
})

test('the guides name every type of event that an application has', () => {
  for (const language of languages) {
    const named = [...sourceOf(language, 'events').matchAll(/`(\w+\.\w+)`/g)].map(([, name]) => name)
    expect(eventTypes.filter((type) => !named.includes(type))).toEqual([])
  }
})

test('both languages have the same guides, with the same parts and the same code', () => {
  for (const language of languages) {
    const files = readdirSync(join(projectFolder, 'docs', 'guides', language)).map((file) => file.replace(/\.md$/, ''))
    expect(files.sort()).toEqual(['README', ...guideNames].sort())
  }
  const shapeOf = (source: string) => ({
    parts: source.match(/^#+ /gm),
    code: source.match(/^```\w+\n[\s\S]*?^```$/gm),
    links: [...source.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, to]) => to).sort(),
  })
  for (const name of ['README', ...guideNames]) {
    expect([name, shapeOf(sourceOf('zh', name))]).toEqual([name, shapeOf(sourceOf('en', name))])
  }
})

describe('/docs', () => {
  test('is compressed, has an entity tag and lets only our own scripts in', async () => {
    const path = `${client.url}/docs/zh/errors`
    const answer = await fetch(path, { headers: { 'accept-encoding': 'br' } })
    expect(answer.headers.get('content-encoding')).toBe('br')
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self';")
    const headers = { 'accept-encoding': 'br', 'if-none-match': String(answer.headers.get('etag')) }
    expect((await fetch(path, { headers })).status).toBe(304)
  })

  test('has no page that it does not have', async () => {
    for (const path of ['/docs/nothing', '/docs/en/none', '/docs/fr/errors', '/docs/reference/none']) {
      expectFaults(await client.send(path, {}), ['path'], 'invalidRequest', { status: 404 })
    }
  })

  test('tells every operation in one of the two parts of the reference', async () => {
    const [integrators = '', operators = ''] = await Promise.all(references.map(pageAt))
    const told = (page: string) => [...page.matchAll(/<div id="(\w+)"/g)].map(([, id = '']) => id)
    const ids = operations.map(({ id }) => id)
    expect([...told(integrators), ...told(operators)].filter((id) => ids.includes(id)).sort()).toEqual(ids.sort())
    for (const mine of ['createDevice', 'issueToken', 'getApplication']) expect(told(integrators)).toContain(mine)
    for (const theirs of ['createApplication', 'transferDevice', 'getHealth']) expect(told(operators)).toContain(theirs)
  })
})
