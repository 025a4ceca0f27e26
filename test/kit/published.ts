import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

// Compares requests and responses with the published OpenAPI document, as a validating proxy would: every response, and
// every request that was accepted. A schema is compiled when an exchange first needs it.

interface Schema {
  format?: string
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  allOf?: Schema[]
  anyOf?: Schema[]
  items?: Schema
}
interface Parameter {
  name: string
  in: 'query' | 'header'
  required?: boolean
  schema: Schema
}
interface Answer {
  headers?: Record<string, { required?: boolean; schema: Schema }>
  content?: Record<string, { schema: Schema }>
}
interface Described {
  operationId: string
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, Answer>
}

export interface Exchange {
  method: string
  path: string
  requestHeaders: Headers
  requestBody: unknown
  status: number
  headers: Headers
  text: string
}

const documentId = 'openapi.json'
/** The statuses that the document's `default` response may have. */
const ofDefault = new Set([405, 408, 413, 415])

/** Checks exchanges against one OpenAPI document. */
export class PublishedApi {
  private readonly document: { paths: Record<string, Record<string, Described>> }
  private readonly ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    meta: false,
    // Faster to compile: each component once, and only the first error is reported.
    inlineRefs: false,
    code: { optimize: false },
    // Patterns must also match without the flag `u`, because some tools do not set it.
    unicodeRegExp: false,
    formats: { int64: true, 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i },
  })
  private readonly checks = new Map<string, ValidateFunction>()
  /** The names of members that are never a text, in whichever request's body they occur. */
  private readonly notTexts: ReadonlySet<string>

  constructor(text: string) {
    this.document = JSON.parse(text)
    this.notTexts = this.findNotTexts()
    this.ajv.addSchema(this.document, documentId)
  }

  /**
   * The differences between an exchange and the document, each with its place. Empty for a path that belongs to no
   * operation.
   */
  violations(exchange: Exchange): string[] {
    const ofRequest = exchange.status === 200 ? this.ofRequest(exchange) : []
    return [...this.ofAnswer(exchange), ...ofRequest]
  }

  /** As `violations`, but checks only the response. */
  ofAnswer(exchange: Exchange): string[] {
    return this.told(exchange, (operation, pointer) => this.inAnswer(operation, pointer, exchange))
  }

  private ofRequest(exchange: Exchange): string[] {
    return this.told(exchange, (operation, pointer) => [
      ...this.inParameters(operation, pointer, exchange),
      ...this.inBody(operation, pointer, exchange),
    ])
  }

  private told(
    { method, path, status }: Exchange,
    find: (operation: Described, pointer: string) => string[],
  ): string[] {
    const [pathname = ''] = path.split('?', 1)
    const key = method.toLowerCase()
    const operation = this.document.paths[pathname]?.[key]
    if (operation === undefined) return []
    const found = find(operation, pointerTo('paths', pathname, key))
    return found.map((violation) => `${operation.operationId} ${status}: ${violation}`)
  }

  private inAnswer({ responses }: Described, pointer: string, { status, headers, text }: Exchange): string[] {
    const told = ofDefault.has(status) ? 'default' : String(status)
    if (responses[told] === undefined) return ['the status is not told']
    const [answer, at] = this.resolve(responses[told], `${pointer}${pointerTo('responses', told)}`)
    const found: string[] = []
    for (const [name, declared] of Object.entries(answer.headers ?? {})) {
      const [header, place] = this.resolve(declared, `${at}${pointerTo('headers', name)}`)
      const value = headers.get(name)
      if (value === null && header.required) found.push(`the header ${name} is missing`)
      if (value !== null) found.push(...this.check(`${place}/schema`, this.typed(header.schema, value), name))
    }
    if (answer.content === undefined) return found
    const mediaType = headers.get('content-type')?.split(';')[0] ?? ''
    if (answer.content[mediaType] === undefined) return [...found, `the media type ${mediaType} is not told`]
    const body = /[/+]json$/.test(mediaType) ? JSON.parse(text) : text
    return [...found, ...this.check(`${at}${pointerTo('content', mediaType, 'schema')}`, body, 'the answer')]
  }

  private inParameters(operation: Described, pointer: string, { path, requestHeaders }: Exchange): string[] {
    const parameters = (operation.parameters ?? []).map((parameter, index) =>
      this.resolve(parameter, `${pointer}/parameters/${index}`),
    )
    const query = new URLSearchParams(path.split('?')[1])
    const known = new Set(parameters.map(([{ name }]) => name))
    // Outside /api/ the service ignores unknown query members.
    const found = [...(path.startsWith('/api/') ? query.keys() : [])]
      .filter((name) => !known.has(name))
      .map((name) => `the query member ${name} is not told`)
    for (const [{ name, in: place, required, schema }, at] of parameters) {
      const value = place === 'query' ? query.get(name) : requestHeaders.get(name)
      // An empty value counts as absent.
      if (value) found.push(...this.check(`${at}/schema`, this.typed(schema, value), name))
      else if (required) found.push(`${name} is accepted without a value`)
    }
    return found
  }

  private inBody({ requestBody }: Described, pointer: string, exchange: Exchange): string[] {
    const { requestHeaders, requestBody: sent, text } = exchange
    if (requestBody === undefined || typeof sent !== 'string') return []
    const mediaType = requestHeaders.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? ''
    if (requestBody.content[mediaType] === undefined) return [`the media type ${mediaType} is accepted`]
    const at = `${pointer}${pointerTo('requestBody', 'content', mediaType, 'schema')}`
    if (isFile(mediaType)) return this.check(at, sent, 'the accepted file')
    // A byte-order mark is no part of the text.
    const body =
      mediaType === 'application/json'
        ? JSON.parse(sent.replace(/^\ufeff/, ''))
        : Object.fromEntries(new URLSearchParams(sent))
    const given = acceptedRows(withNulls(body, this.notTexts), JSON.parse(text).data?.results)
    return given === undefined ? [] : this.check(at, given, 'the accepted body')
  }

  private findNotTexts(): ReadonlySet<string> {
    const [texts, others] = [new Set<string>(), new Set<string>()]
    const isText = (schema: Schema): boolean => {
      const [{ type, format, anyOf = [] }] = this.resolve(schema, '')
      return (format === undefined && [type].flat().includes('string')) || anyOf.some(isText)
    }
    const seen = new Set<unknown>()
    const walk = (given: unknown): void => {
      if (typeof given !== 'object' || given === null) return
      const [part] = this.resolve(given as object, '')
      if (seen.has(part)) return
      seen.add(part)
      const { properties } = part as { properties?: Record<string, Schema> }
      for (const [name, member] of Object.entries(properties ?? {})) (isText(member) ? texts : others).add(name)
      for (const inner of Object.values(part)) walk(inner)
    }
    for (const path of Object.values(this.document.paths)) {
      for (const { requestBody } of Object.values(path)) walk(requestBody)
    }
    return new Set([...others].filter((name) => !texts.has(name)))
  }

  /** A text from the query or a header, converted to the type in its schema. */
  private typed(schema: Schema, value: string): unknown {
    const [{ type }] = this.resolve(schema, '')
    return [type].flat().some((name) => name === 'integer' || name === 'number') ? Number(value) : value
  }

  private check(pointer: string, value: unknown, what: string): string[] {
    let check = this.checks.get(pointer)
    if (check === undefined) {
      check = this.ajv.compile({ $ref: `${documentId}#${pointer}` })
      this.checks.set(pointer, check)
    }
    if (check(value)) return []
    const errors = check.errors?.slice(0, 5).map(({ instancePath, message }) => `${instancePath} ${message}`)
    return [`${what}: ${errors?.join('; ')}`]
  }

  /** The value that a reference points to, and its place in the document. */
  private resolve<Value>(value: Value, at: string): [Value, string] {
    const { $ref } = value as { $ref?: string }
    if ($ref === undefined) return [value, at]
    const steps = $ref.slice(2).split('/')
    const found = steps.reduce<unknown>((part, step) => (part as Record<string, unknown>)[step], this.document)
    return this.resolve(found as Value, $ref.slice(1))
  }
}

/** Whether this media type is an uploaded file, which is neither JSON nor a form. */
const isFile = (mediaType: string) => mediaType === 'text/csv' || mediaType === 'application/x-ndjson'

/** A JSON pointer, escaped for the fragment of a URL. */
function pointerTo(...steps: string[]): string {
  return steps.map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')
}

/**
 * Replaces `""` by null in members that are not texts. The document says once, in words, that `""` means null wherever
 * null is allowed. The schemas of texts also allow `""`; other schemas do not, because they would then have two types.
 */
function withNulls(value: unknown, others: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withNulls(item, others))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [
    name,
    member === '' && others.has(name) ? null : withNulls(member, others),
  ])
  return Object.fromEntries(members)
}

/** The body of a batch without its refused rows; undefined when every row was refused. */
function acceptedRows(body: unknown, results: { code: number }[] | undefined): unknown {
  const rows = Object.entries(body as object).find(([, member]) => Array.isArray(member))
  if (results === undefined || rows === undefined) return body
  const accepted = (rows[1] as unknown[]).filter((_, index) => results[index]?.code === 0)
  return accepted.length === 0 ? undefined : { ...(body as object), [rows[0]]: accepted }
}

let published: PublishedApi | undefined

/** Throws when the published document describes an exchange differently. */
export function expectPublished(exchange: Exchange): void {
  published ??= new PublishedApi(readFileSync(join(import.meta.dirname, '..', '..', 'openapi.json'), 'utf8'))
  const violations = published.violations(exchange)
  if (violations.length > 0)
    throw new Error(`not as openapi.json says\n${violations.join('\n')}\n${exchange.text.slice(0, 1000)}`)
}
