import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createDevice } from '../src/devices/contract.ts'
import { api } from '../src/reference/api.ts'
import { openApiDocument } from '../src/reference/openapi.ts'
import { refusalsOf } from '../src/reference/operation-refusals.ts'
import { operations } from '../src/reference/operations.ts'
import { type RefusalName, refusals } from '../src/vocabulary/refusals.ts'
import { PublishedApi } from './kit/published.ts'

// Checks of the published OpenAPI document: what client generators, other tools and human readers need from it.

interface Schema {
  $ref?: string
  type?: string | string[]
  examples?: unknown[]
  description?: string
  pattern?: string
  format?: string
  maximum?: number
  const?: unknown
  enum?: unknown[]
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}
interface Answer {
  $ref?: string
  content?: Record<string, { schema: Schema }>
}
interface Described {
  operationId: string
  description: string
  parameters?: { $ref?: string; name?: string; description?: string; schema?: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, Answer>
}
interface Document {
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Described>>
  webhooks: Record<string, { post: { requestBody: { $ref: string } } }>
  components: {
    schemas: Record<string, Schema>
    responses: Record<string, Answer>
    parameters: Record<string, { description?: string }>
  }
}

const text = JSON.stringify(openApiDocument(api))
const document = JSON.parse(text) as Document
const { schemas, responses, parameters } = document.components
const described = Object.values(document.paths).flatMap((methods) => Object.values(methods))
const nameOf = ($ref = '') => $ref.split('/').at(-1) ?? ''

/** Every schema inside a schema, each with its path. */
function* within(schema: Schema, at: string): Generator<[string, Schema]> {
  yield [at, schema]
  for (const [name, member] of Object.entries(schema.properties ?? {})) yield* within(member, `${at}.${name}`)
  if (schema.items !== undefined) yield* within(schema.items, `${at}[]`)
  for (const part of [schema.anyOf, schema.oneOf, schema.allOf].flatMap((parts) => parts ?? [])) yield* within(part, at)
}

const everySchema = [
  ...Object.entries(schemas).flatMap(([name, schema]) => [...within(schema, name)]),
  ...described.flatMap(({ operationId, parameters = [] }) =>
    parameters.flatMap(({ name, schema }) => (schema ? [...within(schema, `${operationId} ${name}`)] : [])),
  ),
]

// `npm run generate` writes the size into a file, so that a change which makes the document larger shows up in the
// diff.
test('it is as large as is checked in, and small enough to be read at once', () => {
  const { compressedKilobytes } = JSON.parse(readFileSync(join(import.meta.dirname, 'openapi-size.json'), 'utf8'))
  expect(gzipSync(text).byteLength).toBeLessThanOrEqual(compressedKilobytes * 1000)
  expect(compressedKilobytes).toBeLessThanOrEqual(48)
})

test('every operation, parameter, tag and member of a record says what it means', () => {
  const silent = described.filter(({ description }) => !description).map(({ operationId }) => operationId)
  for (const { operationId, parameters = [] } of described) {
    for (const { $ref, name, description } of parameters) {
      if (($ref === undefined ? description : parameters && descriptionOf($ref)) === undefined)
        silent.push(`${operationId} ${name}`)
    }
  }
  // The envelope's members are described once; the members of its data are described in the record.
  const envelope = new Set(['data', 'code', 'type'])
  const names = new Set(Object.keys(refusals))
  for (const [at, { properties = {} }] of everySchema) {
    for (const [name, member] of Object.entries(properties)) {
      const isTold = member.description ?? schemas[nameOf(member.$ref)]?.description
      if (
        isTold === undefined &&
        !(envelope.has(name) && (/Answer$|Callback$/.test(at) || names.has(uncapitalised(at))))
      )
        silent.push(`${at}.${name}`)
    }
  }
  expect(silent).toEqual([])
  for (const tag of document.tags) expect([tag.name, tag.description]).toEqual([tag.name, expect.stringMatching(/\.$/)])
})

const uncapitalised = (text: string) => text.slice(0, 1).toLowerCase() + text.slice(1)

function descriptionOf($ref: string): string | undefined {
  return parameters[nameOf($ref)]?.description
}

test('every pattern is read alike without the flag u, look-ahead and classes of Unicode', () => {
  for (const [at, { pattern }] of everySchema) {
    if (pattern === undefined) continue
    expect([at, pattern]).toEqual([at, expect.not.stringMatching(/\\p|\(\?[=!<]|\\u/)])
    expect(() => new RegExp(pattern)).not.toThrow()
  }
})

test('every integer that may pass 2^31 says int64: a client of 32 bits would fail at the id of an event', () => {
  const integers = everySchema.filter(([, { type }]) => [type].flat().includes('integer'))
  expect(integers.length).toBeGreaterThan(100)
  const isSmall = ({ enum: values, maximum }: Schema) =>
    values !== undefined || (maximum !== undefined && maximum < 2 ** 31)
  const narrow = integers.filter(([, schema]) => !isSmall(schema) && schema.format !== 'int64').map(([at]) => at)
  // A refusal's code has five digits.
  expect(narrow).toEqual(['Refusal.code'])
  for (const id of ['EventHead.id', 'Delivery.eventId', 'Site.id', 'Import.bytes', 'AuditEntry.id']) {
    expect(integers.filter(([at]) => at === id).map(([, { format }]) => format)).toContain('int64')
  }
})

test('it names no document that its readers do not have', () => {
  expect(text).not.toMatch(/document §|contract §|§[1-9]\.\d \(|decision 0/)
})

describe('refusals', () => {
  test.each(operations.map((operation) => [operation.id, operation] as const))(
    '%s tells the codes of its own as values, each under its status',
    (id, { refusals: own, statuses }) => {
      const answers = described.find(({ operationId }) => operationId === id)?.responses ?? {}
      for (const name of own) {
        const { code, status } = refusals[name]
        for (const one of [statuses?.[name] ?? status].flat()) {
          const answer = answers[one]
          const content = answer?.content ?? responses[nameOf(answer?.$ref)]?.content ?? {}
          expect(codesOf(content['application/json']?.schema ?? {})).toContain(code)
        }
      }
    },
  )
})

test('an operation tells every refusal: its own under their statuses, any other by default, and a fault by 500', () => {
  const published = new PublishedApi(text)
  const path = '/api/device/entrance/guard/create'
  const violations = (code: number, status: number) => {
    const headers = new Headers({
      'content-type': 'application/json',
      'x-request-id': '1',
      'retry-after': '1',
      'www-authenticate': 'Bearer',
    })
    const answer = JSON.stringify({ code, msg: 'no', data: code === 10001 ? { errors: [] } : null })
    const exchange = { method: 'POST', path, requestHeaders: new Headers(), requestBody: undefined, status, headers }
    return published.ofAnswer({ ...exchange, text: answer })
  }
  expect(violations(49999, 500)).toEqual([])
  expect(violations(49998, 500)).not.toEqual([])
  const own = refusalsOf(createDevice)
  for (const [name, { code, status }] of Object.entries(refusals)) {
    if (own.has(name as RefusalName)) expect([name, violations(code, status)]).toEqual([name, []])
    expect([name, violations(code, 413)]).toEqual([name, []])
  }
  expect(violations(12345, 413)).not.toEqual([])
})

function codesOf(schema: Schema): unknown[] {
  const known = schema.$ref === undefined ? schema : (schemas[nameOf(schema.$ref)] ?? {})
  const parts = [known.oneOf, known.allOf, known.anyOf].flatMap((each) => each ?? [])
  return [...(known.properties?.code?.enum ?? []), ...parts.flatMap(codesOf)]
}

test('each type of event has its webhook, with the record as its data', () => {
  expect(Object.keys(document.webhooks)).toContain('device.bound')
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    const [, own] = schemas[nameOf(post.requestBody.$ref)]?.allOf ?? []
    expect(own?.properties?.type?.enum).toContain(type)
    expect(own?.properties?.data).toBeDefined()
  }
})

test('each operation’s answer has an example that fits: what tools make of the examples of its values', () => {
  const published = new PublishedApi(text)
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, responses }] of Object.entries(methods)) {
      const [mediaType = '', content] = Object.entries(responses['200']?.content ?? {})[0] ?? []
      if (mediaType !== 'application/json' || operationId === 'getOpenApi') continue
      const headers = new Headers({ 'content-type': mediaType, etag: '"1"' })
      const body = JSON.stringify(exampleOf(content?.schema ?? {}, operationId))
      const exchange = { method, path, requestHeaders: new Headers(), requestBody: undefined, status: 200, headers }
      expect([operationId, published.ofAnswer({ ...exchange, text: body })]).toEqual([operationId, []])
    }
  }
})

/**
 * The first example of a schema, or one composed of its parts' examples. Throws where a tool would have to invent a
 * text.
 */
function exampleOf(schema: Schema, at: string): unknown {
  const { $ref, examples, enum: values, allOf, anyOf, properties, items } = schema
  if (examples !== undefined) return examples[0]
  if ($ref !== undefined) return exampleOf(schemas[nameOf($ref)] ?? {}, nameOf($ref))
  if (values !== undefined || schema.const !== undefined) return values?.[0] ?? schema.const
  if (allOf !== undefined) return Object.assign({}, ...allOf.map((part) => exampleOf(part, at)))
  if (anyOf !== undefined) return exampleOf(anyOf[0] ?? {}, at)
  if (properties !== undefined) {
    const members = Object.entries(properties)
    return Object.fromEntries(members.map(([name, member]) => [name, exampleOf(member, `${at}.${name}`)]))
  }
  if (items !== undefined) return items.type === undefined && items.$ref === undefined ? [] : [exampleOf(items, at)]
  if (Array.isArray(schema.type)) return null
  if (schema.type === 'integer') return 0
  if (schema.type === 'boolean') return false
  if (schema.type === undefined) return {}
  throw new Error(`no example at ${at}`)
}
