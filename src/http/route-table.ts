import Type, { type TSchema } from 'typebox'
import type { RequestKey } from '../database/idempotency.ts'
import { pageCheck } from '../vocabulary/pages.ts'
import { invalidRequest, type Refusal } from '../vocabulary/refusals.ts'
import { onceKey, ownAppId } from '../vocabulary/values.ts'
import { renderRefusal } from './answer.ts'
import type { Handler } from './handler.ts'
import { preferredLanguage } from './language.ts'
import type { HttpAnswer, HttpRequest } from './message.ts'
import { type FurtherCheck, queryReader, type Validator, validator } from './validate.ts'

export interface Route {
  handler: Handler
  secrets: RequestKey['secrets']
  readBody: Validator<unknown> | undefined
  readQuery: ((query: string) => unknown) | undefined
  /** Where an operator must name an application. */
  appIdIn: 'body' | 'query' | undefined
}

export function routeTable(handlers: readonly Handler[]): Map<string, Map<string, Route>> {
  const routes = new Map<string, Map<string, Route>>()
  for (const handler of handlers) {
    const { method, path, id, body, query, data, takesAnyQuery } = handler.operation
    const methods = routes.get(path) ?? new Map<string, Route>()
    if (methods.has(method)) throw new Error(`${id}: ${method} ${path} is taken`)
    methods.set(method, {
      handler,
      secrets: secretsOf(data),
      readBody: body === undefined ? undefined : validator(body, 'body', handler.check),
      // Probes, and pages outside the API, accept any query.
      readQuery: takesAnyQuery
        ? (sent) => sent
        : query !== undefined || path.startsWith('/api/')
          ? queryReader(query ?? Type.Object({}), queryCheck(handler))
          : undefined,
      appIdIn: placeOfAppId(handler),
    })
    routes.set(path, methods)
  }
  return routes
}

function queryCheck({ operation: { query }, queryCheck: own }: Handler): FurtherCheck | undefined {
  const ofPage = query && pageCheck(query.properties)
  if (ofPage === undefined || own === undefined) return ofPage ?? own
  return (sent, faulty) => [...ofPage(sent, faulty), ...own(sent, faulty)]
}

function placeOfAppId({ operation: { body, query }, isPlatforms }: Handler): Route['appIdIn'] {
  if (body?.properties.appId === ownAppId) return 'body'
  return query?.properties.appId === ownAppId || isPlatforms !== undefined ? 'query' : undefined
}

/** Paths of fields that are shown once. */
function secretsOf(schema: TSchema): string[][] {
  const {
    properties,
    anyOf,
    [onceKey]: isSecret,
  } = schema as {
    properties?: Record<string, TSchema>
    anyOf?: TSchema[]
    [onceKey]?: true
  }
  if (isSecret) return [[]]
  const members = Object.entries(properties ?? {}).flatMap(([member, memberSchema]) =>
    secretsOf(memberSchema).map((path) => [member, ...path]),
  )
  return [...members, ...(anyOf ?? []).flatMap(secretsOf)]
}

export function readOnly(request: HttpRequest): HttpAnswer {
  return renderRefusal(wrongMethod('GET, HEAD'), preferredLanguage(request.header('accept-language')))
}

/** 404 for an unknown path, 405 for other methods of a known one. */
export function unknownTarget(methods: Map<string, Route> | undefined): Refusal {
  if (methods === undefined) {
    return invalidRequest([{ field: 'path', reason: { en: 'is not known', zh: '未知路径' } }], 404)
  }
  return wrongMethod([...methods.keys(), ...(methods.has('GET') ? ['HEAD'] : [])].join(', '))
}

function wrongMethod(allow: string): Refusal {
  const refusal = invalidRequest([{ field: 'method', reason: { en: `must be ${allow}`, zh: `必须是 ${allow}` } }], 405)
  refusal.headers.allow = allow
  return refusal
}
