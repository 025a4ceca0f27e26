import { curl } from './curl.ts'
import type { ReferencePart } from './guide-names.ts'

// The API reference as HTML, made of openapi.json: what one reads needs no script. reference.ts tries operations.

interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  format?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  examples?: unknown[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}
interface Content {
  schema?: Schema
  example?: unknown
}
interface Parameter {
  $ref?: string
  name: string
  in: string
  required?: boolean
  description?: string
  schema?: Schema
  example?: unknown
}
interface Answer {
  $ref?: string
  description?: string
  content?: Record<string, Content>
}
interface Operation {
  operationId: string
  summary?: string
  description?: string
  tags?: string[]
  security?: Record<string, unknown>[]
  parameters?: Parameter[]
  requestBody?: { $ref?: string; content?: Record<string, Content> }
  responses?: Record<string, Answer>
}
type PathItem = Record<string, Operation>
export interface Description {
  info: { description?: string }
  tags?: { name: string; description?: string }[]
  /** The security of operations that name none. */
  security?: Record<string, unknown>[]
  paths: Record<string, PathItem>
  webhooks?: Record<string, PathItem>
}
type Markdown = (text: string) => string

export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character)
}

/** Deeper than any record but the tree of regions. */
const deepestSample = 6

function sampleOfType(types: (string | undefined)[]): unknown {
  if (types.includes('integer') || types.includes('number')) return 1
  if (types.includes('boolean')) return true
  if (types.includes('string')) return '…'
  return types.includes('object') ? {} : null
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const words = [least === undefined ? 'up to' : least, most === undefined ? 'and more' : most]
  if (least === undefined && most === undefined) return ''
  if (most === undefined) return least === 0 ? '' : `${words[0]} ${words[1]} ${unit}`.trim()
  return (least === undefined ? `up to ${most} ${unit}` : `${least} to ${most} ${unit}`).trim()
}

// What scrolls must be reached by the keyboard.
const code = (text: string) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`

/** The field of a body: its example as JSON, else a file. */
function bodyField(content: Record<string, Content>): string {
  const example = content['application/json']?.example
  if (example !== undefined) {
    const json = escapeHtml(JSON.stringify(example, null, 2))
    return `<label>Body (JSON) <textarea rows="12" spellcheck="false" data-place="body" data-types="application/json">${json}</textarea></label>`
  }
  const types = Object.keys(content).join(' ')
  return types === '' ? '' : `<label>File <input type="file" required data-place="body" data-types="${types}"></label>`
}

/** Whether applications call it: with a token, or to get one. */
const isIntegrators = (path: string, security: Record<string, unknown>[]) =>
  path.includes('/oauth') || security.some((scheme) => 'accessToken' in scheme)

class Reference {
  private readonly description: Description
  private readonly markdown: Markdown

  constructor(description: Description, markdown: Markdown) {
    this.description = description
    this.markdown = markdown
  }

  /** What a reference stands for, under what stands beside it. */
  private resolve<Value extends { $ref?: string }>(value: Value): Value {
    if (value.$ref === undefined) return value
    const { $ref, ...beside } = value
    const steps = $ref
      .slice(2)
      .split('/')
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    const found = steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], this.description)
    return { ...this.resolve(found as Value), ...beside }
  }

  /** The choices of a schema: itself, or what is joined in it. */
  private choices(schema: Schema): Schema[] {
    const { anyOf, oneOf, allOf, ...rest } = this.resolve(schema)
    if (allOf !== undefined) {
      const parts = allOf.flatMap((part) => this.choices(part))
      const joined: Schema = Object.assign({}, ...parts, rest)
      const properties = Object.assign({}, ...parts.map((part) => part.properties), rest.properties)
      const required = [...parts, rest].flatMap((part) => part.required ?? [])
      return [{ ...joined, ...(Object.keys(properties).length > 0 && { properties, required }) }]
    }
    const several = anyOf ?? oneOf
    return several === undefined ? [rest] : several.flatMap((choice) => this.choices(choice))
  }

  private typeOf(schema: Schema): string {
    const names = this.choices(schema).map(({ type, const: value, enum: values, items, format }) => {
      if (value !== undefined) return JSON.stringify(value)
      if (values !== undefined) return values.map((one) => JSON.stringify(one)).join(' | ')
      if (items !== undefined) return `list of ${this.typeOf(items)}`
      return `${[type].flat().join(' | ')}${format === undefined ? '' : ` (${format})`}`
    })
    return [...new Set(names)].join(' | ')
  }

  /** The lengths, ranges and forms that a value keeps to, in words. */
  private rulesOf(schema: Schema): string {
    const rules = this.choices(schema).flatMap((choice) => {
      const { minLength, maxLength, minimum, maximum, minItems, maxItems, pattern, items } = choice
      const own = [
        range(minLength, maxLength, 'characters'),
        range(minimum, maximum, ''),
        range(minItems, maxItems, 'rows'),
        // A pattern that only excludes white space is not shown.
        pattern === undefined || pattern.endsWith(String.raw`\S`) ? '' : `<code>${escapeHtml(pattern)}</code>`,
      ]
      return [...own, items?.properties === undefined && items ? this.rulesOf(items) : '']
    })
    const said = [...new Set(rules)].filter((rule) => rule !== '')
    return said.length === 0 ? '' : `<small>${said.join('; ')}</small>`
  }

  private meaningOf(schema: Schema): string {
    return (
      this.resolve(schema).description ?? this.choices(schema).find((choice) => choice.description)?.description ?? ''
    )
  }

  private inline(text: string): string {
    return this.markdown(text).replace(/^<p>|<\/p>\n?$/g, '')
  }

  private row(name: string, schema: Schema, isRequired: boolean, meaning: string): string {
    const required = isRequired ? ' <b>required</b>' : ''
    const type = escapeHtml(this.typeOf(schema))
    return `<tr><td><code>${escapeHtml(name)}</code>${required}</td><td>${type}${this.rulesOf(schema)}</td><td>${this.inline(meaning)}</td></tr>`
  }

  /** A row for each member, those of members under their names. */
  private members(schema: Schema, prefix = '', marksRequired = true): string {
    return this.choices(schema)
      .flatMap(({ properties = {}, required = [] }) =>
        Object.entries(properties).map(([name, member]) => {
          const of = this.choices(member).find(({ properties, items }) => properties ?? items)
          const inner = of?.items ?? of
          const under = inner && this.members(inner, `${prefix}${name}${of?.items ? '[].' : '.'}`, marksRequired)
          const isRequired = marksRequired && required.includes(name)
          return this.row(prefix + name, member, isRequired, this.meaningOf(member)) + (under ?? '')
        }),
      )
      .join('')
  }

  private table(title: string, rows: string): string {
    if (rows === '') return ''
    return `<h4>${title}</h4><div class="wide" tabindex="0"><table><tr><th>name</th><th>type</th><th>meaning</th></tr>${rows}</table></div>`
  }

  /** A value of a schema, made of its examples. */
  private sample(schema: Schema, depth = 0): unknown {
    const [choice = {}] = this.choices(schema).filter(({ type }) => type !== 'null')
    const { examples, const: value, enum: values, properties, items } = choice
    if (examples !== undefined) return examples[0]
    if (value !== undefined) return value
    if (values !== undefined) return values[0]
    if (properties !== undefined && depth < deepestSample) {
      const members = Object.entries(properties).map(([name, member]) => [name, this.sample(member, depth + 1)])
      return Object.fromEntries(members)
    }
    if (items !== undefined) return depth < deepestSample ? [this.sample(items, depth + 1)] : []
    return sampleOfType([choice.type].flat())
  }

  private sampleAnswer(json: Content | undefined): string {
    const sample = json?.schema && this.sample(json.schema)
    return typeof sample === 'object' ? code(JSON.stringify(sample, null, 2)) : ''
  }

  private command(method: string, path: string, operation: Operation): string {
    const { parameters = [], requestBody, security = this.description.security ?? [] } = operation
    const [[mediaType, body] = []] = Object.entries((requestBody && this.resolve(requestBody).content) ?? {})
    const query = parameters
      .map((parameter) => this.resolve(parameter))
      .filter(({ in: place, required }) => place === 'query' && required === true)
      .map(({ name, schema = {}, example }) => `${name}=${example ?? this.sample(schema)}`)
    const schemes = security.flatMap((scheme) => Object.keys(scheme))
    return code(curl({ isGet: method === 'get', path, schemes, query, mediaType, example: body?.example }))
  }

  /** The form by which reference.ts sends a request. It is a template, so that the page is read without its cost. */
  private form(method: string, path: string, operation: Operation): string {
    const { parameters = [], requestBody, security = this.description.security ?? [] } = operation
    const takesToken = security.some((scheme) => 'operatorKey' in scheme || 'accessToken' in scheme)
    const plain = 'autocomplete="off" spellcheck="false"'
    const token = `<label>Access token or operator key <input ${plain} data-place="token"><small>Without one, the request uses your console session.</small></label>`
    const fields = parameters
      .map((parameter) => this.resolve(parameter))
      .map(({ name, in: place, required, schema = {}, example }) => {
        const given = required ? ` required value="${escapeHtml(String(example ?? this.sample(schema)))}"` : ''
        const notes = `${place === 'query' ? '' : ` (${place})`}${required ? ' (required)' : ''}`
        return `<label>${name}${notes} <input ${plain} name="${name}" data-place="${place}"${given}></label>`
      })
    const body = bodyField((requestBody && this.resolve(requestBody).content) ?? {})
    return `<template><form class="try" data-method="${method}" data-path="${path}"><code>${method.toUpperCase()} ${path}</code>${takesToken ? token : ''}${fields.join('')}${body}<button>Send</button><p role="status"></p><pre tabindex="0" role="region" aria-label="Response" hidden></pre></form></template>`
  }

  private answers(responses: Record<string, Answer>): string {
    const [success, ...refused] = Object.entries(responses).map(([status, answer]) => ({
      status,
      ...this.resolve(answer),
    }))
    const json = success?.content?.['application/json']
    const data = json?.schema && this.choices(json.schema).find(({ properties }) => properties?.data)?.properties?.data
    const rows = refused.map(({ status, description = '' }) => `<li><b>${status}</b> ${this.inline(description)}</li>`)
    return `${data === undefined ? '' : this.table('Answer: data', this.members(data, '', false))}${this.sampleAnswer(json)}
${rows.length === 0 ? '' : `<h4>Refusals</h4><ul class="refusals">${rows.join('')}</ul>`}`
  }

  operation(method: string, path: string, operation: Operation, canTry: boolean): string {
    const { operationId, summary = '', description = '', parameters = [], requestBody, responses = {} } = operation
    const body = requestBody && Object.values(this.resolve(requestBody).content ?? {})[0]
    const given = parameters.map((parameter) => this.resolve(parameter))
    const rows = given.map(({ name, in: place, required, schema = {}, description }) =>
      this.row(
        place === 'query' ? name : `${name} (${place})`,
        schema,
        required === true,
        description ?? this.meaningOf(schema),
      ),
    )
    return `<details class="operation"><summary><b class="${method}">${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code> <span>${this.inline(summary)}</span></summary>
<div id="${operationId}"><p class="faint"><a href="#${operationId}">${operationId}</a></p>${this.markdown(description)}
${canTry ? `<h4>Request</h4>${this.command(method, path, operation)}` : ''}${this.table('Parameters', rows.join(''))}${body?.schema === undefined ? '' : this.table('Body', this.members(body.schema))}${canTry || body?.schema === undefined ? '' : code(JSON.stringify(this.sample(body.schema), null, 2))}
${this.answers(responses)}${canTry ? `<div><button type="button">Try it</button>${this.form(method, path, operation)}</div>` : ''}</div></details>`
  }

  part(part: ReferencePart): string {
    const { paths, webhooks = {}, tags = [], info, security = [] } = this.description
    const groups = new Map<string, string[]>()
    const add = (path: string, item: PathItem, isWebhook: boolean) => {
      for (const [method, operation] of Object.entries(item)) {
        if ((part === 'integrators') !== (isWebhook || isIntegrators(path, operation.security ?? security))) continue
        const tag = isWebhook ? 'Callbacks' : (operation.tags?.[0] ?? '')
        const named = { ...operation, operationId: operation.operationId ?? path }
        groups.set(tag, [...(groups.get(tag) ?? []), this.operation(method, path, named, !isWebhook)])
      }
    }
    for (const [path, item] of Object.entries(paths)) add(path, item, false)
    for (const [name, item] of Object.entries(webhooks)) add(name, item, true)
    const sections = [...groups].map(([tag, operations]) => {
      const said = tags.find(({ name }) => name === tag)?.description ?? ''
      return `<section><h2>${escapeHtml(tag)}</h2>${this.markdown(said)}${operations.join('')}</section>`
    })
    return this.markdown(info.description ?? '') + sections.join('')
  }
}

/** The operations of a part, each with what it takes and answers. */
export function referenceOfPart(description: Description, part: ReferencePart, markdown: Markdown): string {
  return new Reference(description, markdown).part(part)
}
