import type { Json } from './published-schema.ts'

export const envelopeSchemas = {
  Success: {
    type: 'object',
    required: ['code', 'msg'],
    properties: {
      code: { type: 'integer', enum: [0], description: '0: the operation was carried out.' },
      msg: { type: 'string', enum: ['success'], description: 'Always success.' },
    },
  },
  Callback: {
    type: 'object',
    required: ['type', 'timestamp', 'appId'],
    properties: {
      type: { type: 'string' },
      timestamp: { type: 'string', format: 'date-time', description: 'When the event happened.' },
      appId: { type: 'string', description: 'The application of the event.' },
    },
  },
  Refusal: {
    type: 'object',
    required: ['code', 'msg', 'data'],
    properties: {
      code: { type: 'integer', description: 'Error code, for programs.' },
      msg: { type: 'string', description: 'Error message, in English or Chinese.' },
      data: { type: ['object', 'null'], description: 'Null, unless the error lists invalid fields.' },
    },
  },
}

export const fixedResponses = {
  NotModified: { description: 'The content still has the `ETag` that `If-None-Match` names.' },
  Received: {
    description: 'Callback received. Respond within 15 s. Status 410 disables the endpoint.',
  },
}

const ascii = { type: 'string' }
const always = { required: true }

export const headers = {
  'X-Request-Id': {
    description: 'The request ID: from the request if valid, otherwise generated. Include it when you ask for help.',
    ...always,
    schema: ascii,
  },
  'RateLimit-Policy': {
    description:
      'The application’s limit, for example `"default";q=1000;w=1`: `q` requests in `w` seconds. Absent without a limit.',
    schema: ascii,
  },
  RateLimit: {
    description: 'The remaining requests, such as `"default";r=998;t=1`; an estimate with several workers.',
    schema: ascii,
  },
  ETag: { description: 'Identifies this state of the record, for `If-Match`.', ...always, schema: ascii },
  Replayed: {
    description:
      'True if this is the response of an earlier request with the same `Idempotency-Key`; otherwise absent.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', ...always, schema: { type: 'integer' } },
  'WWW-Authenticate': { description: 'How to authenticate (RFC 6750, RFC 7617).', ...always, schema: ascii },
  Allow: { description: 'The methods that the path supports.', schema: ascii },
}

/** Components whose name is shorter than their header's. */
const headerNames: Record<string, string> = { Replayed: 'Idempotency-Replayed' }

export const headerParameters = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes retries safe: a request with the same key and the same body (byte for byte) returns the first response again, with null for secrets that are shown only once. Keys are kept for 24 hours, per operation and application (or per operator, if no application is involved).',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` of an earlier response: if the record has changed since, the request is refused with 10009.',
    schema: { type: 'string' },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'The `id` of the last block that was received; it comes before `afterId`.',
    schema: { type: 'string' },
  },
  WebhookId: webhookHeader(
    'webhook-id',
    'The ID of the callback, the same for every attempt. Ignore callbacks with an ID that you have already processed.',
  ),
  WebhookTimestamp: webhookHeader('webhook-timestamp', 'The time of this attempt, in seconds since 1970.'),
  WebhookSignature: webhookHeader(
    'webhook-signature',
    '`v1,` and the HMAC-SHA256 in base64 of `webhook-id.webhook-timestamp.body`. The key is what follows `whsec_` in the callback secret, decoded from base64. During a rotation there are two signatures, with a space between them.',
  ),
}
export const webhookParameters = ['WebhookId', 'WebhookTimestamp', 'WebhookSignature']

function webhookHeader(name: string, description: string): Json {
  return { name, in: 'header', required: true, description, schema: { type: 'string' } }
}

export function headersOf(names: readonly string[]): { headers?: Json } {
  return names.length === 0
    ? {}
    : { headers: Object.fromEntries(names.map((name) => [headerNames[name] ?? name, refTo('headers', name)])) }
}

export function refTo(kind: string, name: string): Json {
  return { $ref: `#/components/${kind}/${name}` }
}

export function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

export function sorted<Value>(record: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))
}
