import { api } from '../src/reference/api.ts'
import { openApiDocument } from '../src/reference/openapi.ts'
import { operations } from '../src/reference/operations.ts'
import { version } from '../src/runtime/version.ts'
import type { Operation } from '../src/vocabulary/operation.ts'
import { refusals } from '../src/vocabulary/refusals.ts'
import { nameOf } from '../src/vocabulary/values.ts'

// Writes the SDK's types from the OpenAPI document, so that programs that use the SDK need neither the contracts nor
// their library.

interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  enum?: unknown[]
  allOf?: Schema[]
  anyOf?: Schema[]
  items?: Schema
  required?: string[]
  properties?: Record<string, Schema>
}

interface Parameter {
  $ref?: string
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
}

interface Described {
  operationId: string
  description?: string
  summary: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { content: Record<string, { schema: Schema }> }>
}

interface Document {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> }
}

const last = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1)
const capital = (id: string) => id.slice(0, 1).toUpperCase() + id.slice(1)

/** What programs call the values of the enumerations, in the order of the values. */
const valueNames: Record<string, string[]> = {
  ActStatus: ['waiting', 'running', 'done', 'failed', 'cancelled'],
  DeliveryStatus: ['pending', 'delivered', 'failed'],
  DeviceStatus: ['normal', 'faulty'],
  ImportStatus: ['waiting', 'running', 'done', 'failed', 'cancelled'],
  LaneType: ['entrance', 'exit', 'both', 'door'],
  OnlineStatus: ['online', 'offline'],
  PriceChangeStatus: ['scheduled', 'applied', 'cancelled'],
  RegionLevel: ['province', 'city', 'district'],
  RuleType: ['fast', 'slow', 'occupancy'],
  RunStatus: ['closed', 'open', 'stopped'],
}

/** The enumerations as objects of named values. Throws for one that has no names, or too few. */
function valuesOf(schemas: Record<string, Schema>): string[] {
  const ofNumbers = Object.entries(schemas).filter(([name, { type }]) => type === 'integer' && name !== 'RefusalCode')
  return ofNumbers.flatMap(([name, { enum: values }]) => {
    if (values === undefined) return []
    const names = valueNames[name] ?? []
    if (names.length !== values.length) throw new Error(`valueNames has no name for each value of ${name}`)
    return `export const ${name} = { ${names.map((each, index) => `${each}: ${values[index]}`).join(', ')} } as const`
  })
}

/** The text of `sdk/src/api.ts`. */
export function sdkApi(): string {
  const { paths, components } = openApiDocument(api) as unknown as Document
  const types = new Types(components.schemas)
  const methods = operations.map((operation) => {
    const described = paths[operation.path]?.[operation.method.toLowerCase()]
    if (described === undefined) throw new Error(`${operation.id} is in no path`)
    return methodOf(operation, described, types, components.parameters)
  })
  const callbacks = Object.keys(components.schemas).filter((name) => name !== 'Callback' && name.endsWith('Callback'))
  const event = `export type CallbackEvent = ${callbacks.map((name) => types.of({ $ref: name })).join(' | ')}`
  const names = Object.entries(refusals)
    .sort(([, one], [, other]) => one.code - other.code)
    .map(([name, { code }]) => `  ${code}: '${name}',`)
  return [
    '// Made from the contracts by `npm run generate`. Not to be edited.',
    "import type { ExportMethod, FileMethod, Followed, Method, PageMethod } from './method.ts'",
    "export type { CallOptions, StreamOptions } from './method.ts'",
    types.text(),
    `/** What an application’s callback is told: the record, as its operation answers it. */\n${event}`,
    `/** One method for each operation. */\nexport interface Methods {\n${methods.join('\n')}\n}`,
    `/** How each operation is called. */\nexport const operations = {\n${operations.map(callOf).join('\n')}\n} as const`,
    ...valuesOf(components.schemas),
    `/** The names of the refusals, by their codes. */\nexport const codeNames = {\n${names.join('\n')}\n} as const`,
    '/** The name of a refusal. */\nexport type RefusalName = (typeof codeNames)[keyof typeof codeNames]',
    `/** The version of the SDK, as in its \`User-Agent\`. */\nexport const sdkVersion = '${version}'\n`,
  ].join('\n\n')
}

function methodOf(operation: Operation, described: Described, types: Types, shared: Record<string, Parameter>): string {
  const body = described.requestBody?.content['application/json']?.schema
  const parameters = (described.parameters ?? []).map(({ $ref, ...own }) =>
    $ref === undefined ? (own as Parameter) : (shared[last($ref)] as Parameter),
  )
  const input = body === undefined ? types.query(`${capital(operation.id)}Query`, parameters) : types.of(body)
  const [answer] = Object.entries(described.responses['200']?.content ?? {})
  const data = answer === undefined ? 'unknown' : types.dataOf(answer[1].schema)
  const method = isPage(operation) ? 'PageMethod' : operation.takes === undefined ? 'Method' : 'FileMethod'
  const type = isFile(operation)
    ? `ExportMethod<${input}>`
    : (overloadsOf(operation, input, types) ?? `${method}<${input}, ${data}>`)
  // Their rows can be followed (`streamEvents`).
  const followed = operation.id === 'pageEvents' ? ' & Followed<StreamEventsQuery, Event>' : ''
  return `${comment(described.description ?? described.summary, '  ')}  ${operation.id}: ${type}${followed}`
}

/** The types of a method whose input decides which of several records it returns. */
function overloadsOf({ answersBy }: Operation, input: string, types: Types): string | undefined {
  if (answersBy === undefined) return undefined
  const overloads = Object.entries(answersBy).map(
    ([member, schema]) => `Method<${input} & { ${member}: string }, ${types.of({ $ref: nameOf(schema) ?? '' })}>`,
  )
  return overloads.join(' & ')
}

const isFile = ({ answers }: Operation) => Array.isArray(answers)
const isPage = ({ query }: Operation) => query?.properties.cursor !== undefined

function callOf(operation: Operation): string {
  const { id, method, path, idempotent, callers } = operation
  const marks = [
    ...(idempotent ? ['isIdempotent: true'] : []),
    ...(callers.length === 0 ? ['isOpen: true'] : []),
    ...(isPage(operation) ? ['isPage: true'] : []),
    ...(operation.takes === undefined ? [] : ['takesFile: true']),
    ...(operation.answers === undefined ? [] : [`answers: ${literal(operation.answers)}`]),
  ]
  return `  ${id}: { ${[`method: '${method}'`, `path: '${path}'`, ...marks].join(', ')} },`
}

function comment(words: string | undefined, indent = ''): string {
  return words === undefined ? '' : `${indent}/** ${words} */\n`
}

/** TypeScript of JSON Schema: every object, union and closed set that is named keeps its name; a plain text is a string. */
class Types {
  private readonly schemas: Record<string, Schema>
  private readonly declared = new Map<string, string>()

  constructor(schemas: Record<string, Schema>) {
    this.schemas = schemas
  }

  /** The types that were asked for, and the types that they refer to. */
  text(): string {
    return [...this.declared]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, text]) => text)
      .join('\n\n')
  }

  of(schema: Schema, indent = ''): string {
    if (schema.$ref !== undefined) return this.named(last(schema.$ref))
    if (schema.allOf) return schema.allOf.map((part) => this.of(part, indent)).join(' & ')
    if (schema.anyOf) return [...new Set(schema.anyOf.map((part) => this.of(part, indent)))].join(' | ')
    if (schema.enum) return schema.enum.map(literal).join(' | ')
    const kinds = [schema.type ?? []].flat()
    if (kinds.length === 0) return schema.properties === undefined ? 'unknown' : this.members(schema, indent)
    return [...new Set(kinds.map((kind) => this.ofKind(kind, schema, indent)))].join(' | ')
  }

  /** The type of `data` in an answer with the envelope; the type of the whole response if it has no envelope. */
  dataOf(schema: Schema): string {
    const whole = schema.$ref === undefined ? schema : this.schemas[last(schema.$ref)]
    const data = whole?.allOf?.find(({ properties }) => properties?.data !== undefined)?.properties?.data
    return this.of(data ?? schema)
  }

  query(name: string, parameters: Parameter[]): string {
    const asked = parameters.filter((parameter) => parameter.in === 'query')
    if (asked.length === 0) return 'Record<never, never>'
    const properties = Object.fromEntries(
      asked.map(({ name, description, schema }) => [
        name,
        description === undefined ? schema : { ...schema, description },
      ]),
    )
    const required = asked.filter((parameter) => parameter.required).map((parameter) => parameter.name)
    this.declared.set(name, `export interface ${name} ${this.members({ properties, required }, '')}`)
    return name
  }

  private named(name: string): string {
    const schema = this.schemas[name]
    if (schema === undefined) throw new Error(`${name} is no component`)
    const isPlain = schema.properties === undefined && !schema.allOf && !schema.anyOf && !schema.enum
    if (isPlain) return this.of(schema)
    if (!this.declared.has(name)) {
      // The name is taken before the members are written, because a member may refer to it.
      this.declared.set(name, '')
      const isObject = schema.properties !== undefined && Object.keys(schema.properties).length > 0
      const declaration = isObject
        ? `export interface ${name} ${this.members(schema, '')}`
        : `export type ${name} = ${this.of(schema)}`
      this.declared.set(name, comment(schema.description) + declaration)
    }
    return name
  }

  private ofKind(kind: string, schema: Schema, indent: string): string {
    if (kind === 'array') return `Array<${this.of(schema.items ?? {}, indent)}>`
    if (kind === 'object')
      return schema.properties === undefined ? 'Record<string, unknown>' : this.members(schema, indent)
    return kind === 'integer' ? 'number' : kind
  }

  private members({ properties = {}, required = [] }: Schema, indent: string): string {
    const lines = Object.entries(properties).map(([name, member]) => {
      const isRequired = required.includes(name)
      const type = this.of(member, `${indent}  `) + (isRequired ? '' : ' | undefined')
      return `${comment(member.description, `${indent}  `)}${indent}  ${name}${isRequired ? '' : '?'}: ${type}`
    })
    return lines.length === 0 ? 'Record<never, never>' : `{\n${lines.join('\n')}\n${indent}}`
  }
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  return typeof value === 'string' ? `'${value}'` : String(value)
}
