import { eventStreamType } from '../src/events/contract.ts'
import { api } from '../src/reference/api.ts'
import { openApiDocument } from '../src/reference/openapi.ts'

// A Postman collection (2.1) of `openapi.json`: the same folders, and a request with the operation's example each.

interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  example?: unknown
  schema: { type?: string; enum?: unknown[]; examples?: unknown[]; default?: unknown }
}

interface DescribedOperation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security?: object[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  responses?: object
}

interface Description {
  info: { title: string }
  tags: { name: string; description: string }[]
  'x-tagGroups': { name: string; tags: string[] }[]
  paths: Record<string, Record<string, DescribedOperation>>
}

/**
 * The OpenAPI document with each reference replaced by its component. A component that refers to itself is left out.
 */
function resolved(document: object, part: unknown, above: readonly string[] = []): unknown {
  if (Array.isArray(part)) return part.map((item) => resolved(document, item, above))
  if (typeof part !== 'object' || part === null) return part
  const { $ref } = part as { $ref?: string }
  if ($ref === undefined) {
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, resolved(document, value, above)]))
  }
  if (above.includes($ref)) return {}
  const named = $ref
    .slice(2)
    .split('/')
    .reduce((at, name) => (at as Record<string, unknown>)[name], document as unknown)
  return resolved(document, named, [...above, $ref])
}

/** Variables in place of the values of the examples, to be set by the reader. */
const variables = {
  baseUrl: 'http://127.0.0.1:8080',
  appId: '',
  appSecret: '',
  operatorKey: '',
  token: '',
}
const own: [RegExp, string][] = [
  [/eb5ffaabb88d8c09f000/g, '{{appId}}'],
  [/the appSecret/g, '{{appSecret}}'],
]
const withVariables = (text: string) => own.reduce((changed, [value, name]) => changed.replace(value, name), text)

const bearer = (variable: string) => ({
  type: 'bearer',
  bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }],
})
const script = (lines: string[]) => [{ listen: 'test', script: { type: 'text/javascript', exec: lines } }]

const keepToken = script(["pm.collectionVariables.set('token', pm.response.json().data.accessToken)"])

const document = openApiDocument(api) as unknown as Description
const isOfOperators = (tag: string) => document['x-tagGroups'][1]?.tags.includes(tag) === true

/** Operations that remove or stop something that later requests need. */
const takesAway =
  /^(delete|revoke|rotate|reset|unbind|forceUnbind|transfer|freeze|cancel|end|handOver|takeApplicationOffline)/

/** Where the service takes one of several parameters, the one that is switched on. */
const oneOf: Record<string, string> = {
  getDeviceState: 'deviceNo',
  pagePlacementHistory: 'deviceNo',
  suggestPlacements: 'deviceNo',
}

/** The collection as text. */
export function postmanCollection(): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // A stream never ends: whoever runs the collection would wait for ever.
      .filter(([, { responses }]) => !JSON.stringify(responses).includes(eventStreamType))
      .map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        ...(resolved(document, { ...operation, responses: undefined }) as DescribedOperation),
      })),
  )
  const folders = document.tags.map(({ name, description }) => ({
    name,
    description,
    ...(isOfOperators(name) ? { auth: bearer('operatorKey') } : {}),
    item: operations.filter(({ tags, operationId }) => tags[0] === name && !takesAway.test(operationId)).map(requestOf),
  }))
  const takingAway = {
    name: 'Taking away',
    description:
      'What deletes, ends or replaces something, secrets among them. Apart, so that a folder which is run as a whole leaves the application, its token and its records as they were.',
    item: operations
      .filter(({ operationId }) => takesAway.test(operationId))
      .map((operation) => {
        const item = requestOf(operation)
        const auth = isOfOperators(operation.tags[0] ?? '') ? { auth: bearer('operatorKey') } : {}
        return { ...item, request: { ...auth, ...item.request } }
      }),
  }
  const collection = {
    info: {
      name: document.info.title,
      description:
        'Fill in the variables of the collection: baseUrl, appId and appSecret, and operatorKey for what operators do. “Issue token” keeps its token for the others. Generated from openapi.json.',
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: bearer('token'),
    event: script([
      "if (pm.response.headers.get('content-type')?.startsWith('application/json') && pm.request.url.getPath().startsWith('/api/')) {",
      "  pm.test('the answer is the envelope', () => pm.expect(pm.response.json()).to.include.keys('code', 'msg', 'data'))",
      '}',
    ]),
    variable: Object.entries(variables).map(([key, value]) => ({ key, value })),
    item: [...folders.filter(({ item }) => item.length > 0), takingAway],
  }
  return `${JSON.stringify(collection, null, 1)}\n`
}

function requestOf(operation: DescribedOperation & { path: string; method: string }) {
  const { path, method, operationId, summary, description, tags, security, parameters = [], requestBody } = operation
  const [[mediaType, { example }] = [undefined, { example: undefined }]] = Object.entries(requestBody?.content ?? {})
  const headers = parameters.filter((parameter) => parameter.in === 'header')
  return {
    name: summary,
    ...(operationId === 'issueToken' ? { event: keepToken } : {}),
    request: {
      method,
      description,
      ...(security?.length === 0 ? { auth: { type: 'noauth' } } : {}),
      header: [
        ...(mediaType === undefined ? [] : [{ key: 'Content-Type', value: mediaType }]),
        ...headers.map(({ name, description }) => ({
          key: name,
          value: name === 'Idempotency-Key' ? '{{$guid}}' : '',
          description,
          disabled: name !== 'Idempotency-Key',
        })),
      ],
      ...(mediaType === undefined ? {} : { body: bodyOf(mediaType, example) }),
      url: {
        raw: `{{baseUrl}}${path}`,
        host: ['{{baseUrl}}'],
        path: path.split('/').slice(1),
        query: parameters
          .filter((parameter) => parameter.in === 'query')
          .map(({ name, required, description, example, schema }) => ({
            key: name,
            value: withVariables(String(example ?? schema.examples?.[0] ?? schema.default ?? firstValue(name, schema))),
            description,
            // An operator chooses the application.
            disabled:
              required !== true && name !== oneOf[operationId] && !(name === 'appId' && isOfOperators(tags[0] ?? '')),
          })),
      },
    },
  }
}

/** A file is the reader's to choose. */
const bodyOf = (mediaType: string, example: unknown) =>
  mediaType === 'application/json'
    ? { mode: 'raw', raw: withVariables(JSON.stringify(example ?? {}, null, 2)) }
    : { mode: 'file', file: {} }

function firstValue(name: string, { type, enum: choices }: Parameter['schema']): unknown {
  if (name === 'appId') return '{{appId}}'
  if (choices !== undefined) return choices[0]
  return type === 'integer' ? 1 : ''
}
