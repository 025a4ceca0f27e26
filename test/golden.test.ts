import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from '../scripts/generated-files.ts'
import { openApiDocument } from '../src/http/openapi.ts'
import { api, operations } from '../src/operations.ts'
import { refusals } from '../src/refusals.ts'
import { getOpenApi } from '../src/service/contract.ts'
import { contractRefusals } from './conformance/refusals.ts'
import { projectFolder, target } from './harness.ts'

const readChecked = (path: string) => readFileSync(join(projectFolder, path), 'utf8')
const checkedIn = readChecked('openapi.json')
const generate = 'run `npm run generate` and review the difference'

test('openapi.json is what the operations generate', () => {
  expect(JSON.parse(checkedIn), generate).toEqual(JSON.parse(JSON.stringify(openApiDocument(api))))
})

test.each(Object.entries(generatedFiles()))('%s is checked in as it is generated', (path, text) => {
  expect(readChecked(path), generate).toBe(text)
})

// A deployment may be of another version than the checkout.
test.skipIf(process.env.FORECOURT_BASE_URL !== undefined)(
  'the service serves openapi.json as it is checked in',
  async () => {
    const client = await target()
    expect((await client.call(getOpenApi, {})).text, generate).toBe(checkedIn)
  },
)

interface ErrorRow {
  code: number
  status: number
  name: string
  when: string
  msg: string
}

function errorPage(): ErrorRow[] {
  const page = readChecked('docs/errors.md')
  return page.split('\n').flatMap((line) => {
    const [, code = '', status = '', name = '', when = '', msg = ''] = line.split(' | ').length < 5 ? [] : cells(line)
    return /^\d+$/.test(code) ? [{ code: Number(code), status: Number(status), name, when, msg }] : []
  })
}

function cells(line: string): string[] {
  return line.split('|').map((cell) => cell.trim())
}

test('docs/errors.md holds every refusal with its code, status, meaning and both messages, and nothing else', () => {
  const expected = Object.entries(refusals)
    .map(([name, { code, status, when, en, zh }]) => ({ code, status, name, when, msg: `${en} ${zh}` }))
    .sort((a, b) => a.code - b.code)
  expect(errorPage(), generate).toEqual(expected as ErrorRow[])
})

test('no code and no name occurs twice among the refusals', () => {
  const rows = errorPage()
  const codes = Object.values(refusals).map(({ code }) => code as number)
  expect(new Set(codes).size).toBe(codes.length)
  expect(new Set(rows.map(({ code }) => code)).size).toBe(rows.length)
  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
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
