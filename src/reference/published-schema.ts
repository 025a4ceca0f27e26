import type { TSchema } from 'typebox'
import { namedSchemas, nameKey, shownKey } from '../vocabulary/values.ts'

export type Json = Record<string, unknown>

/** What fields mean that many records share, by their names. */
export type Glossary = Readonly<Record<string, { means?: string; example?: unknown; value?: TSchema }>>

interface Shape {
  description?: string
  anyOf?: Shape[]
  allOf?: Shape[]
  const?: unknown
  properties?: Record<string, Shape>
  required?: string[]
  items?: Shape
  examples?: unknown[]
  type?: string
  minimum?: number
  maximum?: number
  [nameKey]?: string
  [shownKey]?: Shape
}

/** For other tools: a nullable schema has two types, a union of constants is an enum; service keywords are left out. */
export class SchemaPublisher {
  readonly components: Record<string, Json> = {}
  private readonly glossary: Glossary
  private isOfQuery = false

  constructor(glossary: Glossary) {
    this.glossary = glossary
  }

  publish(schema: TSchema | Shape): Json {
    return this.use(schema as Shape)
  }

  /** In the order of their first use, so that similar ones are near each other. */
  inOrderOfUse(others: Record<string, Json>): Record<string, Json> {
    const all: Record<string, Json> = { ...this.components, ...others }
    const ordered: Record<string, Json> = {}
    const take = (name: string, schema: Json): void => {
      if (Object.hasOwn(ordered, name)) return
      ordered[name] = schema
      for (const [, used = ''] of JSON.stringify(schema).matchAll(/schemas\/(\w+)"/g)) take(used, all[used] ?? {})
    }
    for (const [name, schema] of Object.entries(all)) take(name, schema)
    return ordered
  }

  /** A common name has its meaning from the glossary unless the field says its own. */
  publishMember(name: string, schema: TSchema | Shape): Json {
    const shape = this.valueOf(name, schema as Shape)
    const published = this.withExample(name, this.use(shape))
    if (nameKey in shape && shape.anyOf?.some(isNull)) return published
    // A field with the name of its value's schema needs no further description.
    if (shape[nameKey]?.toLowerCase() === name.toLowerCase() && published.description === undefined) return published
    const description = ownDescription(shape) ?? this.glossary[name]?.means ?? published.description
    if (description !== undefined) return { ...published, description }
    const told = this.descriptionOf(published)
    return told === undefined || published.$ref !== undefined ? published : { ...published, description: told }
  }

  /** For a text without rules of its own, the glossary's schema of this name. */
  private valueOf(name: string, shape: Shape): Shape {
    const value = this.glossary[name]?.value as Shape | undefined
    const [text, other] = shape.anyOf ?? [shape]
    if (value === undefined || text === undefined || !isAnyText(text)) return shape
    if (other === undefined) return value
    return isNull(other) ? { ...shape, anyOf: [value, other] } : shape
  }

  /** For a value in a response, which no rules of a request describe. */
  private withExample(name: string, published: Json): Json {
    const { type, description: _, format: __, ...rules } = published
    const types = [type].flat()
    if (type === undefined || Object.keys(rules).length > 0) return published
    const example = this.glossary[name]?.example
    if (types.includes(typeof example === 'number' ? 'integer' : typeof example)) {
      return { ...published, examples: [example] }
    }
    return published
  }

  /** Never null; the description is published separately. */
  publishParameter(name: string, schema: TSchema): { description: unknown; schema: Json } {
    // `""` is not published for a query: an empty field can simply be left out.
    this.isOfQuery = true
    const published = this.publishMember(name, schema)
    this.isOfQuery = false
    const description = this.descriptionOf(published)
    const { description: _, examples: __, ...value } = withoutNull(this.resolved(published))
    return { description, schema: value }
  }

  /** Resolves only references to nullable components. */
  private resolved(published: Json): Json {
    const component = this.componentOf(published)
    const isNullable = JSON.stringify(component?.anyOf ?? component?.type ?? '').includes('"null"')
    return component !== undefined && isNullable ? component : published
  }

  private descriptionOf(published: Json): unknown {
    const [value] = (published.anyOf as Json[] | undefined) ?? []
    return published.description ?? this.componentOf(published)?.description ?? (value && this.descriptionOf(value))
  }

  private componentOf({ $ref }: Json): Json | undefined {
    return typeof $ref === 'string' ? this.components[$ref.split('/').at(-1) ?? ''] : undefined
  }

  exampleBody(schema: TSchema, given: Record<string, unknown> = {}): Record<string, unknown> {
    const { properties = {}, required = [] } = schema as Shape
    const known = Object.entries(properties).filter(([name]) => Object.hasOwn(given, name) || required.includes(name))
    return Object.fromEntries(
      known.map(([name, member]) => [name, Object.hasOwn(given, name) ? given[name] : this.exampleOf(name, member)]),
    )
  }

  /** The example for the name, else that for the kind of value, else the smallest valid value. */
  exampleOf(name: string, schema: TSchema | Shape): unknown {
    const shape = schema as Shape
    // The name decides more than the kind of value: a province's code is no district's.
    const common = this.glossary[name]?.example
    if (common !== undefined) return common
    if (shape.examples !== undefined) return shape.examples[0]
    const shown =
      shape.properties === undefined ? (shape[shownKey] ?? shape.anyOf?.find((option) => !isNull(option))) : undefined
    if (shown !== undefined) return this.exampleOf('', shown)
    if (shape.const !== undefined) return shape.const
    if (shape.properties !== undefined) return this.exampleBody(shape as TSchema)
    if (shape.items !== undefined) return [this.exampleOf('', shape.items)]
    if (shape.type === 'integer') return Math.max(1, shape.minimum ?? 1)
    throw new Error(`no example for ${name}`)
  }

  private use(shape: Shape): Json {
    const name = shape[nameKey]
    if (name === undefined) return this.write(shape)
    const declared = namedSchemas.get(name) as Shape
    if (this.components[name] === undefined) {
      // The place is taken before the fields are published, so that components are in the order of their first use.
      this.components[name] = {}
      this.components[name] = this.write(declared)
    }
    const reference: Json = { $ref: `#/components/schemas/${name}` }
    return shape.description === declared.description ? reference : { ...reference, description: shape.description }
  }

  private write(shape: Shape): Json {
    const shown = shape[shownKey]
    if (shown !== undefined) {
      const { description, ...published } = this.use(shown)
      const told = shape.description ?? description
      const { examples } = shape
      return { ...published, ...(told !== undefined && { description: told }), ...(examples && { examples }) }
    }
    if (shape.anyOf !== undefined) return this.writeUnion(shape, shape.anyOf)
    if (shape.const !== undefined) return this.writeUnion(shape, [shape])
    const keywords = Object.entries(shape).filter(([keyword, value]) => /^[a-z]/i.test(keyword) && value !== undefined)
    const published = Object.fromEntries(
      keywords.filter(([keyword]) => !keyword.startsWith('x-')).map((entry) => this.keyword(entry)),
    )
    // Otherwise generators choose 32 bits, too few for IDs of events. Only an integer with a bound is small.
    return isUnbounded(shape) ? { ...published, format: 'int64' } : published
  }

  private keyword([keyword, value]: [string, unknown]): [string, unknown] {
    if (keyword === 'properties') {
      const members = Object.entries(value as Record<string, Shape>)
      return [keyword, Object.fromEntries(members.map(([name, member]) => [name, this.publishMember(name, member)]))]
    }
    if (keyword === 'items') return [keyword, this.use(value as Shape)]
    if (keyword === 'allOf') return [keyword, (value as Shape[]).map((part) => withoutType(this.use(part)))]
    // Larger than many languages' integers.
    if (keyword === 'maximum' && value === Number.MAX_SAFE_INTEGER) return ['format', 'int64']
    return [keyword, value]
  }

  /** Null also stands for `""`, as the document says once: an integer's would become a union of two types. */
  private writeUnion({ description }: Shape, options: readonly Shape[]): Json {
    const told = description === undefined ? {} : { description }
    const isNullable = options.some(isNull)
    const takesEmpty = isNullable && !this.isOfQuery && options.some((option) => option.const === '')
    const values = options.filter((option) => !isNull(option) && !(isNullable && option.const === ''))
    if (values.every((value) => value.const !== undefined)) {
      const constants = values.map((value) => value.const)
      const type = typeof constants[0] === 'number' ? 'integer' : 'string'
      return isNullable
        ? { type: [type, 'null'], enum: [...constants, null], ...told }
        : { type, enum: constants, ...told }
    }
    const published = values.map((value) => (takesEmpty ? withEmpty(this.use(value)) : this.use(value)))
    const [first = {}] = published
    const reference = takesEmpty ? this.componentOf(first) : undefined
    if (reference?.type === 'string' && refusesEmpty(reference)) {
      // The schema's own keywords, without its reference.
      const { $ref: _, ...own } = first
      return this.writeNullable({ ...withEmpty(reference), ...own }, told)
    }
    if (published.length > 1) {
      return { anyOf: isNullable ? [...published, { type: 'null' }] : published, ...told }
    }
    if (!isNullable) return { ...first, ...told }
    return this.writeNullable(first, told)
  }

  private writeNullable(first: Json, told: { description?: string }): Json {
    const { description } = told
    if (first.type === undefined) {
      const { description: inner, ...value } = first
      const outer = description ?? inner
      return { anyOf: [value, { type: 'null' }], ...(outer === undefined ? {} : { description: outer }) }
    }
    const members = first.enum === undefined ? {} : { enum: [...(first.enum as unknown[]), null] }
    return { ...first, type: [first.type, 'null'], ...members, ...told }
  }
}

const refusesEmpty = ({ pattern, minLength }: Json) =>
  Number(minLength ?? 0) > 0 || (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(''))

function withEmpty(published: Json): Json {
  if (published.type !== 'string' || !refusesEmpty(published)) return published
  const { minLength: _, pattern, ...others } = published
  // The service refuses white space alone.
  return { ...others, ...(typeof pattern === 'string' && { pattern: `^$|${pattern}` }) }
}

const isUnbounded = ({ type, maximum }: Shape) => type === 'integer' && maximum === undefined
const isNull = (shape: Shape) => shape.type === 'null'
const isAnyText = (shape: Shape) => shape.type === 'string' && Object.keys(shape).length === 1

/** In `allOf` the first part, a named schema, already says "object". */
const withoutType = ({ type: _, ...part }: Json) => part

function ownDescription(shape: Shape): string | undefined {
  if (shape.anyOf !== undefined && shape.description === undefined) {
    const values = shape.anyOf.filter((option) => option.const === undefined && !isNull(option))
    return values.length === 1 && values[0] !== undefined ? ownDescription(values[0]) : undefined
  }
  const name = shape[nameKey]
  const declared = name === undefined ? undefined : (namedSchemas.get(name) as Shape)
  return declared?.description === shape.description && declared !== undefined ? undefined : shape.description
}

function withoutNull(schema: Json): Json {
  const { type, anyOf, enum: values, ...rest } = schema
  if (Array.isArray(type)) {
    const named = type.filter((name) => name !== 'null')
    const listed = Array.isArray(values) ? { enum: values.filter((value) => value !== null) } : {}
    return { type: named.length === 1 ? named[0] : named, ...listed, ...rest }
  }
  if (!Array.isArray(anyOf)) return schema
  const options = anyOf.filter((option) => option.type !== 'null')
  return options.length === 1 ? { ...options[0], ...rest } : { anyOf: options, ...rest }
}
