import Type, { type Static } from 'typebox'
import { findingWords, recordWords } from '../vocabulary/findings.ts'
import { operation } from '../vocabulary/operation.ts'
import { callbacksSwitch, named, shownKey, textOneOf } from '../vocabulary/values.ts'

const anyone = { method: 'GET', callers: [], refusals: [] } as const

export const getHealth = operation({
  id: 'getHealth',
  group: 'service',
  summary: 'Liveness check: responds while the process is alive.',
  path: '/healthz',
  ...anyone,
  data: Type.Object({ alive: Type.Boolean() }),
})

export const getReadiness = operation({
  id: 'getReadiness',
  group: 'service',
  summary:
    'Readiness check: returns whether the service can handle requests, with the result of each check. Status 503 while a check other than `nodes` fails.',
  path: '/readyz',
  ...anyone,
  data: Type.Object({
    ready: Type.Boolean(),
    checks: Type.Array(Type.Object({ name: Type.String({ examples: ['database'] }), ok: Type.Boolean() })),
    distributed: Type.Boolean({
      description: 'whether the service’s database is spread over the nodes of a Citus cluster',
    }),
    callbacks: callbacksSwitch,
    workers: Type.Object(
      { serving: Type.Integer(), wanted: Type.Integer() },
      { description: 'running and expected workers on this machine (FORECOURT_WORKERS)' },
    ),
  }),
  refusals: ['unavailable'],
})

export const getMetrics = operation({
  id: 'getMetrics',
  group: 'service',
  summary: 'Returns metrics in the Prometheus text format.',
  path: '/metrics',
  method: 'GET',
  callers: ['operator'],
  data: Type.Unknown(),
  refusals: [],
  answers: 'text/plain',
})

export const getOpenApi = operation({
  id: 'getOpenApi',
  group: 'service',
  summary: 'Returns the OpenAPI 3.1 document of this API.',
  path: '/openapi.json',
  ...anyone,
  data: Type.Unknown(),
  answers: 'application/json',
  cached: true,
})

const findingCodes = Object.keys(findingWords)
const recordCodes = Object.keys(recordWords)

/** In no language: the console makes a sentence of its code and its values. */
export const FindingRecord = named(
  'Finding',
  Type.Object({
    code: Type.String({ [shownKey]: textOneOf([...findingCodes, ...recordCodes]), description: 'what was found' }),
    status: textOneOf(['ok', 'warn', 'fail'], 'ok, warning or failure'),
    values: Type.Array(
      Type.Object({
        name: Type.String({ description: 'the value’s name', examples: ['days'] }),
        value: Type.String({ description: 'the value', examples: ['9'] }),
      }),
      {
        description: 'the values of the check result; numbers as text, sizes in bytes',
      },
    ),
  }),
)
export type FindingRecord = Static<typeof FindingRecord>
