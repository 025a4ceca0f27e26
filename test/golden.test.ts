import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from '../scripts/generated-files.ts'
import { api } from '../src/reference/api.ts'
import { openApiDocument } from '../src/reference/openapi.ts'
import { operations } from '../src/reference/operations.ts'
import { refusals } from '../src/vocabulary/refusals.ts'
import { contractRefusals } from './conformance/refusals.ts'
import { target } from './kit/client.ts'
import { projectFolder } from './kit/folders.ts'

const readChecked = (path: string) => readFileSync(join(projectFolder, path), 'utf8')
const checkedIn = readChecked('openapi.json')
const generate = 'run `npm run generate` and review the difference'

test('openapi.json is what the operations generate', () => {
  expect(JSON.parse(checkedIn), generate).toEqual(JSON.parse(JSON.stringify(openApiDocument(api))))
})

test.each(Object.entries(generatedFiles()))('%s is checked in as it is generated', (path, text) => {
  expect(readChecked(path), generate).toBe(text)
})

// Skipped for a deployment given by address: it may run another version than this checkout.
test.skipIf(process.env.FORECOURT_BASE_URL !== undefined)(
  'the service serves openapi.json as it is checked in',
  async () => {
    const client = await target()
    expect(JSON.parse((await client.call('getOpenApi', {})).text), generate).toEqual(JSON.parse(checkedIn))
  },
)

test.each(['en', 'zh'])('the guide of errors in %s tells every code, and what to do', (language) => {
  const guide = readChecked(`docs/guides/${language}/errors.md`)
  const told = [
    ...guide.matchAll(/^\| <a id="(\d+)"><\/a>\*\*(\d+)\*\* (\w+) \| (\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm),
  ]
  const expected = Object.entries(refusals).map(([name, { code, status }]) => [code, code, name, status].join(' '))
  expect(told.map(([, anchor, code, name, status]) => [anchor, code, name, status].join(' '))).toEqual(
    expected.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
  )
  const script = language === 'zh' ? /\p{Script=Han}.*。$/u : /^[^\p{Script=Han}]+\.$/u
  for (const [, , , , , ...texts] of told) for (const text of texts) expect(text).toMatch(script)
})

test('no code occurs twice among the refusals', () => {
  const codes = Object.values(refusals).map(({ code }) => code as number)
  expect(new Set(codes).size).toBe(codes.length)
})

test('every refusal of the contract has the contract’s code, status and name', () => {
  const table = Object.fromEntries(Object.entries(refusals).map(([name, { code, status }]) => [name, { code, status }]))
  expect(table).toMatchObject(contractRefusals)
})

test('every refusal has a message in English and one in Chinese', () => {
  for (const { en, zh } of Object.values(refusals)) {
    expect(en).toMatch(/^[\x20-\x7e]+\.$/)
    expect(zh).toMatch(/\p{Script=Han}.*。$/u)
  }
})

test('no operation’s id, and no method and path, occurs twice', () => {
  const ids = operations.map(({ id }) => id)
  const routes = operations.map(({ method, path }) => `${method} ${path}`)
  expect(new Set(ids).size).toBe(ids.length)
  expect(new Set(routes).size).toBe(routes.length)
})
