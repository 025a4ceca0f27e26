import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { verdictOf } from '../scripts/audit-verdict.ts'
import { describedHunks, driverPedigree } from '../scripts/driver-patch.ts'
import { settings } from '../src/config.ts'
import { projectFolder } from './kit/folders.ts'

const read = (path: string) => readFileSync(join(projectFolder, path), 'utf8')
const patch = 'patches/postgres+3.4.9.patch'

test('the inventory names every setting that is a secret or a time to keep, and no setting that is none', () => {
  const inventory = read('docs/security/README.md')
  const names = Object.values(settings).map(({ name }) => name)
  const mustBeThere = Object.values(settings).filter((each) => 'isSecret' in each || each.name.endsWith('_DAYS'))
  expect(mustBeThere.length).toBeGreaterThan(4)
  for (const { name } of mustBeThere) expect(inventory).toContain(`\`${name}\``)
  for (const [named] of inventory.matchAll(/\b(?:FORECOURT_|DATABASE_)[A-Z_]+/g))
    expect(names).toContain(named as never)
})

test('links of the inventories and of SECURITY.md lead to files', () => {
  for (const page of [
    'SECURITY.md',
    ...['README.md', 'asvs.md', 'driver-patch.md', 'sign-in-tests.md'].map((name) => `docs/security/${name}`),
  ]) {
    for (const [, link = ''] of read(page).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
      expect(existsSync(join(projectFolder, page, '..', link)), `${page}: ${link}`).toBe(true)
    }
  }
})

test('each promise of signing in names a test that is there', () => {
  const rows = [...read('docs/security/sign-in-tests.md').matchAll(/^\| (.+?) \| `(.+?)` \| (.+) \|$/gm)]
  expect(rows.length).toBeGreaterThan(150)
  const gone = rows.filter(
    ([, , file = '', name = '']) => !existsSync(join(projectFolder, file)) || !hasTest(file, name),
  )
  expect(gone.map(([, , file, name]) => `${file}: ${name}`)).toEqual([])
})

test('each line of the comparison with ASVS names tests that are there, and V6, V7 and V10 leave none out', () => {
  const page = read('docs/security/asvs.md')
  const rows = [...page.matchAll(/^\| ((?:\d+\.){2}\d+.*?) \| (held|partly|not) \| .+ \| (.+) \|$/gm)]
  expect(rows.length).toBeGreaterThan(75)
  // Every row is read by the pattern above.
  expect(rows.length).toBe(page.match(/^\| \d/gm)?.length as number)
  const files = rows.flatMap(([, line, , tried = '']) =>
    [...tried.matchAll(/`(.+?)`/g)].map(([, file = '']) => `${line}: ${file}`),
  )
  expect(files.filter((each) => !existsSync(join(projectFolder, each.split(': ').at(-1) ?? '')))).toEqual([])
  const untried = rows.filter(([, line = '', , tried]) => /^(6|7|10)\./.test(line) && tried === '–')
  expect(untried.map(([, line = '']) => line.split(' ')[0]?.replace(',', ''))).toEqual([])
})

/** Whether a file calls something (`test`, `longTest`, `test.each(…)`) with this name first. */
function hasTest(file: string, name: string): boolean {
  const source = read(file)
  return [`'${name}',`, `"${name}",`, `\`${name}\`,`].some((literal) =>
    source
      .split(literal)
      .slice(0, -1)
      .some((before) => /\(\s*$/.test(before)),
  )
}

test('the guide of single sign-on names its providers, and what stands before those without discovery', () => {
  const [en, zh] = ['en', 'zh'].map((language) => read(`docs/guides/${language}/sign-on.md`))
  for (const name of ['Keycloak', 'Logto', 'Authelia', 'authentik', 'Casdoor', 'Entra ID', 'Google']) {
    for (const guide of [en, zh]) expect(guide).toMatch(new RegExp(`^## .*${name}`, 'm'))
  }
  const [before = ''] = /^## WeCom, DingTalk and Feishu[\s\S]+?(?=^## )/m.exec(en ?? '') ?? []
  for (const name of ['Logto', 'Casdoor', 'Keycloak']) expect(before).toContain(name)
})

test('every hunk of the driver’s patch is described, and the bill of materials carries them', () => {
  const hunks = read(patch).match(/^@@ /gm)?.length ?? 0
  expect(describedHunks().flatMap(({ numbers }) => numbers)).toEqual(Array.from({ length: hunks }, (_, at) => at + 1))
  const { patches } = driverPedigree(patch)
  expect(patches[0]?.diff.text.content).toBe(read(patch))
  expect(patches[0]?.resolves.map(({ id }) => id)).toContain('#1208')
})

test('a known fault is bad from high on, and a registry that does not answer is not', () => {
  const report = (severity: string) =>
    JSON.stringify({
      vulnerabilities: { pkg: { severity } },
      metadata: { vulnerabilities: { [severity]: 1, total: 1 } },
    })
  const isBad = (output: string) => verdictOf(output).isBad
  expect([report('critical'), report('high'), report('moderate'), report('low')].map(isBad)).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(verdictOf(report('high')).says).toContain('pkg (high)')
  for (const none of ['', 'no JSON', '{"message":"405 Method Not Allowed","error":{}}']) {
    expect(verdictOf(none)).toMatchObject({ isBad: false, says: expect.stringContaining('does not answer') })
  }
})
