import type { TObject, TSchema } from 'typebox'
import { cookieNames } from '../callers/cookies.ts'
import { rolesOf } from '../callers/roles.ts'
import { type RefusalName, refusals } from '../refusals.ts'
import { FieldFaults, reasonKey, shownKey } from '../values.ts'
import type { Operation } from './operation.ts'

type Json = Record<string, unknown>

/** The refusals that an operation can give beyond its own, from what it takes and who may call it. */
function commonRefusals(operation: Operation): RefusalName[] {
  const common: RefusalName[] = ['invalidRequest', 'internalFault', 'unavailable']
  if (operation.callers.length > 0) common.push('tokenInvalid', 'notPermitted')
  if (operation.callers.includes('application')) common.push('applicationFrozen', 'tooManyRequests')
  if (operation.idempotent) common.push('idempotencyKeyReused')
  if (operation.conditional) common.push('preconditionFailed')
  return common
}

/** What an OpenAPI document tells of. */
export interface Api {
  operations: readonly Operation[]
  /** The path at which applications obtain access tokens. */
  tokenPath: string
  /** What the service sends of itself, as OpenAPI describes an operation. */
  webhooks: Record<string, Json>
}

/** The OpenAPI 3.1 document of an API; `openapi.json` is that of the service, checked in. */
export function openApiDocument({ operations, tokenPath, webhooks }: Api): Json {
  const paths: Record<string, Json> = {}
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: describe(operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Forecourt',
      version: '1',
      description:
        'Charging sites and smart entrance devices of a cloud open platform. `code` is the contract; `msg` is for people.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    webhooks: Object.fromEntries(Object.entries(webhooks).map(([name, post]) => [name, { post }])),
    components: {
      securitySchemes: {
        accessToken: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: tokenPath, scopes: {} } },
        },
        operatorKey: { type: 'http', scheme: 'bearer', description: 'an operator key' },
        session: { type: 'apiKey', in: 'cookie', name: cookieNames.session, description: 'a session of the console' },
      },
      schemas: { Refusal: refusalSchema },
    },
  }
}

const refusalSchema = {
  type: 'object',
  required: ['code', 'msg', 'data'],
  properties: {
    code: { type: 'integer' },
    msg: { type: 'string' },
    data: {
      anyOf: [{ type: 'null' }, FieldFaults],
    },
  },
}

function describe(operation: Operation): Json {
  const media = ['application/json', ...(operation.takesForm ? ['application/x-www-form-urlencoded'] : [])]
  return {
    operationId: operation.id,
    summary: operation.summary,
    tags: [tagOf(operation.path)],
    ...(operation.callers.includes('operator') ? { 'x-roles': rolesOf(operation) } : {}),
    security: operation.callers.flatMap((kind): Json[] =>
      kind === 'application' ? [{ accessToken: [] }] : [{ operatorKey: [] }, { session: [] }],
    ),
    parameters: [
      ...queryParameters(operation.query),
      ...(operation.idempotent ? [idempotencyKey] : []),
      ...(operation.conditional ? [ifMatch] : []),
    ],
    ...(operation.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: Object.fromEntries(media.map((type) => [type, { schema: show(operation.body as TSchema) }])),
          },
        }),
    responses: responses(operation),
  }
}

/** The last folder of the path: one tag a resource. */
function tagOf(path: string): string {
  return path.startsWith('/api/') ? (path.split('/').at(-2) ?? 'service') : 'service'
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes a retry safe: the same key and body, byte for byte, get the first answer again, with null for a secret that is shown once. Kept 24 hours.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
}

const ifMatch = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'An `ETag` that was answered before: the change is refused with 10009 when the record has changed since.',
  schema: { type: 'string' },
}

const etagHeader = {
  ETag: { description: 'names this state of the record, for `If-Match`', schema: { type: 'string' } },
}

const replayedHeader = {
  'Idempotency-Replayed': {
    description: 'true for the answer of an earlier request with the same `Idempotency-Key`',
    schema: { const: 'true' },
  },
}

function queryParameters(query: TObject | undefined): Json[] {
  if (query === undefined) return []
  const required = new Set((query as unknown as { required?: string[] }).required)
  return Object.entries(query.properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.has(name),
    schema: show(schema),
  }))
}

function responses(operation: Operation): Json {
  const success =
    operation.answers === undefined
      ? {
          'application/json': {
            schema: {
              type: 'object',
              required: ['code', 'msg', 'data'],
              properties: { code: { const: 0 }, msg: { const: 'success' }, data: show(operation.data) },
            },
          },
        }
      : { [operation.answers]: {} }
  const byStatus = new Map<number, RefusalName[]>()
  for (const name of new Set([...commonRefusals(operation), ...operation.refusals])) {
    const { status } = refusals[name]
    byStatus.set(status, [...(byStatus.get(status) ?? []), name])
  }
  const refused = [...byStatus].map(([status, names]) => [
    String(status),
    {
      description: names.map((name) => `${refusals[name].code} ${name}`).join(', '),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
    },
  ])
  const headers = { ...(operation.tagged && etagHeader), ...(operation.idempotent && replayedHeader) }
  const hasHeaders = Object.keys(headers).length > 0
  const answered = { description: 'success', ...(hasHeaders && { headers }), content: success }
  return Object.fromEntries([['200', answered], ...refused])
}

/** A schema without what only the service itself reads; a value's reason becomes its description. */
function show(schema: TSchema): unknown {
  return JSON.parse(
    JSON.stringify(schema, (_, value) => {
      if (typeof value !== 'object' || value === null) return value
      if (shownKey in value) return value[shownKey]
      if (!(reasonKey in value)) return value
      const { [reasonKey]: reason, ...rest } = value as Json & { [reasonKey]: { en: string } }
      return rest.anyOf === undefined ? { ...rest, description: rest.description ?? reason?.en } : rest
    }),
  )
}
