import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { prepareDatabase } from './kit/database.ts'
import { newDataDir, projectFolder } from './kit/folders.ts'
import { freePort } from './kit/replicated.ts'
import { startService } from './kit/service.ts'

// The README, and the pages for operators, exist in English and in Chinese; both must have the same content.

const read = (file: string) => readFileSync(join(projectFolder, file), 'utf8')
const english = read('README.md')
const chinese = read('README.zh-CN.md')

const fence = /^```\w*\n[\s\S]*?^```$/gm
const all = (pattern: RegExp, text: string) => [...text.matchAll(pattern)].map(([whole, part]) => part ?? whole)
/** The targets of links, without the link to the other language. */
const linksOf = (text: string) => all(/\]\(([^)]+)\)/g, text).filter((link) => !link.startsWith('README'))
const spansOf = (text: string) => [...new Set(all(/`([^`\n]+)`/g, text.replaceAll(fence, '')))].sort()
/** The Chinese page for an English one, if there is one. */
function translated(link: string): string {
  const page = link.replace('guides/en/', 'guides/zh/').replace('docs/security/README', 'docs/security')
  const chinese = page.replace(/^docs\/([^/]+\.md)$/, 'docs/zh/$1')
  return existsSync(join(projectFolder, chinese)) ? chinese : link
}

test('the commands, the request and its answer are the same in both languages', () => {
  expect(all(fence, english).length).toBeGreaterThan(4)
  expect(all(fence, chinese)).toEqual(all(fence, english))
})

test('so are the figures of the benchmark', () => {
  const figures = (text: string) =>
    all(/^\| .+\| --: \|\n((?:\|.+\n)+)/gm, text).map((table) => all(/\d[\d,.]*/g, table))
  expect(figures(english)[0]?.length).toBeGreaterThan(20)
  expect(figures(chinese)).toEqual(figures(english))
})

test('names, paths and settings are the same, and each has its place in both', () => {
  expect(spansOf(chinese)).toEqual(spansOf(english))
})

test('every link leads to a file, and the Chinese ones to Chinese pages', () => {
  for (const link of [...linksOf(english), ...linksOf(chinese)]) {
    expect(existsSync(join(projectFolder, link)), link).toBe(true)
  }
  // Both READMEs link the list of guides in both languages, so equal links are counted once.
  const unique = (links: string[]) => [...new Set(links.map(translated))].sort()
  expect(unique(linksOf(chinese))).toEqual(unique(linksOf(english)))
  const wrong = linksOf(chinese).filter((link) => translated(link) !== link && !link.endsWith('README.md'))
  expect(wrong).toEqual([])
})

test.each(readdirSync(join(projectFolder, 'docs', 'zh')))(
  'docs/zh/%s has the headings, the code, the rows, the names and the links of its English page',
  (file) => {
    const page = `docs/${file === 'security.md' ? 'security/README.md' : file}`
    const shapeOf = (path: string) => {
      const text = read(path)
      const links = all(/\]\((?!#|https?:)([^)#]+)[^)]*\)/g, text).map((link) => join(dirname(path), link))
      for (const link of links) expect(existsSync(join(projectFolder, link)), link).toBe(true)
      return {
        headings: text.match(/^#+ /gm),
        code: text.match(/^```\w+\n[\s\S]*?^```$/gm),
        rows: text.match(/^\| /gm)?.length,
        names: spansOf(text),
        links: links.map(translated).sort(),
      }
    }
    expect(shapeOf(`docs/zh/${file}`)).toEqual(shapeOf(page))
  },
)

test('the commands for a lost secret work as they are pasted: a new service, a key, and a secret that fetches a token', async () => {
  const [block = ''] = all(/^```sh\n(export FORECOURT_OPERATOR_KEY[\s\S]*?)^```$/gm, english)
  expect(block).toContain('npm start &\n')
  const port = await freePort()
  // The service of an earlier terminal, which has ended.
  const dataDir = newDataDir()
  prepareDatabase(dataDir)
  await (await startService({ dataDir })).stop()
  const env = { ...process.env, FORECOURT_PORT: String(port), FORECOURT_DATA_DIR: dataDir, NODE_ENV: undefined }
  // The service's output goes to standard error, apart from what the block prints. $! is the service's process id.
  const text = block.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`).replace('npm start &', 'npm start >&2 &')
  const shell = Bun.spawn(['bash', '-c', `${text}\nkill -TERM $!\nwait $!`], {
    cwd: projectFolder,
    env: { ...env, DATABASE_URL: undefined },
    stderr: 'pipe',
  })
  const [printed, log] = await Promise.all([new Response(shell.stdout).text(), new Response(shell.stderr).text()])
  const { code, data } = JSON.parse(printed.trim().split('\n').at(-1) ?? '')
  expect(code, log).toBe(0)
  expect(data.appSecret).toMatch(/^\S{20,}$/)
})
