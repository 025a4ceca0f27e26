import type { TObject, TSchema } from 'typebox'
import { sessionCookieName } from '../callers/cookies.ts'
import { version } from '../runtime/version.ts'
import type { Operation } from '../vocabulary/operation.ts'
import { type RefusalName, refusals } from '../vocabulary/refusals.ts'
import { rolesOf } from '../vocabulary/roles.ts'
import { FieldFaults, nameKey } from '../vocabulary/values.ts'
import {
  capitalised,
  envelopeSchemas,
  fixedResponses,
  headerParameters,
  headers,
  headersOf,
  refTo,
  webhookParameters,
} from './openapi-parts.ts'
import { dataOf, nameOfAll, refusalHeaders, refusalsOf, shortNames, toldOf } from './operation-refusals.ts'
import { type Glossary, type Json, SchemaPublisher } from './published-schema.ts'
import { shareParameters } from './shared-parameters.ts'

export interface Api {
  description: string
  operations: readonly Operation[]
  tokenPath: string
  /** The data of each type of event. */
  webhooks: readonly Webhook[]
  tags: Readonly<Record<string, Tag>>
  glossary: Glossary
}

interface Webhook {
  type: string
  summary: string
  /** For all types of event about the same kind of record. */
  record: string
  data: TSchema
}

interface Tag {
  name: string
  description: string
  group: string
}

export function openApiDocument(api: Api): Json {
  return new DocumentWriter(api).write()
}

const webhookTag = 'Callbacks'

class DocumentWriter {
  private readonly api: Api
  private readonly schemas: SchemaPublisher
  private readonly responses: Record<string, Json> = {}
  private readonly requestBodies: Record<string, Json> = {}
  private readonly usedTags = new Set<string>()

  constructor(api: Api) {
    this.api = api
    this.schemas = new SchemaPublisher(api.glossary)
  }

  write(): Json {
    const { operations, description, tags } = this.api
    const paths: Record<string, Record<string, Json>> = {}
    for (const operation of operations) {
      paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: this.describe(operation) }
    }
    const webhooks = Object.fromEntries(
      this.api.webhooks.map((webhook) => [webhook.type, this.describeWebhook(webhook)]),
    )
    this.tellEvents()
    const parameters = shareParameters(paths)
    const listed = [...new Set(Object.values(tags))].filter(({ name }) => this.usedTags.has(name))
    return {
      openapi: '3.1.0',
      info: {
        title: 'Forecourt',
        version,
        description,
        contact: { name: 'The platform that runs this service' },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [
        { url: '/', description: 'The service that this document was read from.' },
        { url: 'http://127.0.0.1:8080', description: 'A service on this machine, at its default address.' },
      ],
      tags: listed.map(({ name, description }) => ({ name, description })),
      'x-tagGroups': groupsOf(listed),
      // For operations that applications may call; others state their own.
      security: [{ accessToken: [] }, ...ofOperators],
      paths,
      components: {
        securitySchemes: this.securitySchemes(),
        parameters: { ...parameters, ...headerParameters },
        headers,
        requestBodies: this.requestBodies,
        responses: { ...this.responses, ...fixedResponses },
        schemas: this.schemas.inOrderOfUse(envelopeSchemas),
      },
      // Behind the schemas that they refer to, which makes the document smaller.
      webhooks,
    }
  }

  private securitySchemes(): Json {
    return {
      accessToken: {
        type: 'oauth2',
        description: 'An application’s access token, by OAuth 2.0 client credentials: `Authorization: Bearer …`.',
        flows: { clientCredentials: { tokenUrl: this.api.tokenPath, scopes: {} } },
      },
      client: {
        type: 'http',
        scheme: 'basic',
        description: 'The appId and the appSecret, if they are not in the body.',
      },
      operatorKey: { type: 'http', scheme: 'bearer', description: 'An operator key: `Authorization: Bearer …`.' },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: sessionCookieName,
        description: 'A session of the console, in its cookie.',
      },
    }
  }

  private describe(operation: Operation): Json {
    const { id, summary, query, body, takes } = operation
    const parameters = [
      ...(query === undefined ? [] : this.queryParameters(query)),
      ...(operation.idempotent ? [refTo('parameters', 'IdempotencyKey')] : []),
      ...(operation.conditional ? [refTo('parameters', 'IfMatch')] : []),
      ...(operation.resumes ? [refTo('parameters', 'LastEventId')] : []),
    ]
    return {
      operationId: id,
      summary: wordsOf(id),
      description: summary,
      tags: [this.tagOf(operation)],
      // All others are open to operators, and to applications if the operation admits them.
      ...(operation.roles === undefined ? {} : { 'x-roles': rolesOf(operation) }),
      ...securityOf(operation),
      ...(parameters.length > 0 && { parameters }),
      ...(body === undefined ? {} : { requestBody: this.requestBody(operation, body) }),
      ...(takes === undefined ? {} : { requestBody: fileBody(takes) }),
      responses: {
        ...(operation.redirects
          ? { 303: { description: 'A redirect for the browser.' } }
          : { 200: this.success(operation) }),
        ...(operation.cached && { 304: refTo('responses', 'NotModified') }),
        ...this.refusals(operation),
      },
    }
  }

  private tagOf({ id, group }: Operation): string {
    const tag = this.api.tags[group]
    if (tag === undefined) throw new Error(`src/reference/api.ts has no group ${group}, which ${id} names`)
    this.usedTags.add(tag.name)
    return tag.name
  }

  private queryParameters(query: TObject): Json[] {
    const required = new Set((query as { required?: string[] }).required)
    return Object.entries(query.properties).map(([name, member]) => {
      const { description, schema } = this.schemas.publishParameter(name, member)
      const isRequired = required.has(name)
      return {
        name,
        in: 'query',
        ...(isRequired && { required: true }),
        description,
        schema,
        ...(isRequired && { example: this.schemas.exampleOf(name, member) }),
      }
    })
  }

  private requestBody(operation: Operation, body: TObject): Json {
    const schema =
      nameKey in body ? this.schemas.publish(body) : this.component(`${capitalised(operation.id)}Request`, body)
    const example = this.schemas.exampleBody(body, operation.example)
    const form = operation.takesForm ? { 'application/x-www-form-urlencoded': { schema } } : {}
    return { required: true, content: { 'application/json': { schema, example }, ...form } }
  }

  /** Under a name that generated clients can say. */
  private component(name: string, schema: TSchema): Json {
    this.schemas.components[name] ??= this.schemas.publish(schema)
    return refTo('schemas', name)
  }

  private success(operation: Operation): Json {
    const { id, answers, data, beside, tagged, cached, idempotent } = operation
    const told = [...(tagged || cached ? ['ETag'] : []), ...(idempotent ? ['Replayed'] : [])]
    if (answers !== undefined && typeof answers !== 'string') {
      const content = answers.map((type) => [type, { schema: { type: type.endsWith('+json') ? 'object' : 'string' } }])
      return { description: 'Done.', content: Object.fromEntries(content) }
    }
    const isPlain = (data as { type?: string }).type === undefined
    const published = () =>
      (data as { properties?: object }).properties === undefined || nameKey in data
        ? this.schemas.publish(data)
        : this.component(`${capitalised(id)}Result`, data)
    const schema =
      answers === undefined
        ? this.answer(published(), beside?.answer)
        : isPlain
          ? { type: answers === 'application/json' ? 'object' : 'string' }
          : published()
    return {
      description: 'Done.',
      ...headersOf(told),
      content: { [answers ?? 'application/json']: { schema } },
    }
  }

  /** If several operations return the same record, its envelope has a name. */
  private answer(data: Json, beside: TObject | undefined): Json {
    const besides = beside === undefined ? {} : (this.schemas.publish(beside).properties as Json)
    const record = String(data.$ref).split('/').at(-1) ?? ''
    if (/(Result|Page)$/.test(record)) return envelope(data, besides)
    this.schemas.components[`${record}Answer`] ??= envelope(data, besides)
    return refTo('schemas', `${record}Answer`)
  }

  private refusals(operation: Operation): Json {
    const byStatus = new Map<number, RefusalName[]>()
    for (const name of refusalsOf(operation)) {
      for (const status of [operation.statuses?.[name] ?? refusals[name].status].flat()) {
        byStatus.set(status, [...(byStatus.get(status) ?? []), name])
      }
    }
    const told = [...byStatus].map(([status, names]) => [
      status,
      this.refusal(status, names, status < 404 ? operation.beside?.refusal : undefined),
    ])
    return Object.fromEntries([
      ...told,
      [500, this.refusal(500, ['internalFault'], undefined)],
      ['default', this.rejected()],
    ])
  }

  /** With a status that the operation does not name, so that a client which validates accepts it. */
  private rejected(): Json {
    const { components } = this.schemas
    const others = refusalNames.filter((name) => name !== 'invalidRequest')
    // A client finds out by the code what the data is.
    components.InvalidRequest ??= this.refusalSchema(['invalidRequest'], undefined)
    components.OtherRefusal ??= this.refusalSchema(others, undefined)
    const schema = { anyOf: [refTo('schemas', 'InvalidRequest'), refTo('schemas', 'OtherRefusal')] }
    this.responses.Rejected ??= {
      description:
        'Any other error. 10001 invalidRequest has status 405 for a wrong method, 408 if the body didn’t arrive in time, 413 if the body is too large, and 415 for a wrong media type.',
      ...headersOf(['Allow']),
      content: { 'application/json': { schema } },
    }
    return refTo('responses', 'Rejected')
  }

  /** Operations with the same refusals share one component; those of OAuth have their own. */
  private refusal(status: number, names: RefusalName[], beside: TObject | undefined): Json {
    const joined = nameOfAll(names.map(capitalised))
    const name = `${shortNames[joined] ?? joined}${beside === undefined ? '' : 'OfOAuth'}`
    this.responses[name] ??= {
      description: names.map(toldOf).join(', '),
      ...headersOf((joined === 'TokenInvalid' ? ['WWW-Authenticate'] : refusalHeaders[status]) ?? []),
      content: { 'application/json': { schema: this.refusalSchema(names, beside) } },
    }
    return refTo('responses', name)
  }

  private refusalSchema(names: RefusalName[], beside: TObject | undefined): Json {
    const code = {
      type: 'integer',
      enum: names.map((name) => refusals[name].code),
      description: 'Error code, for programs.',
    }
    const own = { properties: { code, ...dataOf(names, this.schemas.publish(FieldFaults)) } }
    const oauth = beside === undefined ? [] : [this.component('OAuthError', beside)]
    return { allOf: [refTo('schemas', 'Refusal'), own, ...oauth] }
  }

  /** Describes events as a union by type; each type has the same record as its callback. */
  private tellEvents(): void {
    const { components } = this.schemas
    const { Event } = components
    if (Event === undefined) return
    const { data: _, ...members } = Event.properties as Json
    components.EventHead = { ...Event, properties: members, required: Object.keys(members) }
    const known = new Set(JSON.stringify(components.EventType).match(/\w+\.\w+/g))
    const webhooks = this.api.webhooks.filter(({ type }) => known.has(type))
    const records = new Map(webhooks.map((webhook) => [webhook.record, webhook.data]))
    const anyOf = [...records].map(([record, schema]) => {
      const types = webhooks.filter((webhook) => webhook.record === record).map(({ type }) => type)
      const type = { type: 'string', enum: types, description: 'What happened.' }
      const data = this.schemas.publish(schema)
      const told =
        data.$ref === undefined ? data : { ...data, description: 'The record, as returned by its detail operation.' }
      const own = { required: ['type', 'data'], properties: { type, data: told } }
      components[`${record}Event`] = { allOf: [refTo('schemas', 'EventHead'), own] }
      return refTo('schemas', `${record}Event`)
    })
    components.Event = { anyOf }
  }

  private describeWebhook(webhook: Webhook): Json {
    const { type, summary } = webhook
    this.usedTags.add(webhookTag)
    return {
      post: {
        operationId: `on${type.split('.').map(capitalised).join('')}`,
        summary,
        tags: [webhookTag],
        security: [],
        parameters: webhookParameters.map((name) => refTo('parameters', name)),
        requestBody: this.callbackBody(webhook),
        responses: { '2XX': refTo('responses', 'Received') },
      },
    }
  }

  private callbackBody({ record, data }: Webhook): Json {
    const types = this.api.webhooks.filter((webhook) => webhook.record === record).map(({ type }) => type)
    const name = `${record}Callback`
    const own = {
      required: ['type', 'data'],
      properties: {
        type: { type: 'string', enum: types, description: 'What happened.' },
        data: this.schemas.publish(data),
      },
    }
    this.schemas.components[name] ??= { allOf: [refTo('schemas', 'Callback'), own] }
    this.requestBodies[name] ??= { required: true, content: { 'application/json': { schema: refTo('schemas', name) } } }
    return refTo('requestBodies', name)
  }
}

function fileBody(takes: readonly string[]): Json {
  return { required: true, content: Object.fromEntries(takes.map((type) => [type, { schema: { type: 'string' } }])) }
}

const ofOperators = [{ operatorKey: [] }, { session: [] }]

function securityOf({ callers, takesForm }: Operation): { security?: Json[] } {
  if (takesForm) return { security: [{}, { client: [] }] }
  if (callers.length === 0) return { security: [] }
  return callers.includes('application') ? {} : { security: ofOperators }
}

function envelope(data: Json, beside: Json): Json {
  const own = { required: ['data', ...Object.keys(beside)], properties: { data, ...beside } }
  return { allOf: [refTo('schemas', 'Success'), own] }
}

const refusalNames = Object.keys(refusals) as RefusalName[]

function groupsOf(tags: readonly Tag[]): Json[] {
  const groups = new Map<string, string[]>()
  for (const { name, group } of tags) groups.set(group, [...(groups.get(group) ?? []), name])
  return [...groups].map(([name, tags]) => ({ name, tags }))
}

/** createDevice: Create device. */
function wordsOf(id: string): string {
  return capitalised(id.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))
}
