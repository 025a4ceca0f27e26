import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Exchange, PublishedApi } from './kit/published.ts'

// The tests' client compares every exchange with openapi.json; these tests show that it notices differences.

const published = new PublishedApi(readFileSync(join(import.meta.dirname, '..', 'openapi.json'), 'utf8'))

const data = { id: 1, appId: 'a', ruleName: 'Day', ruleType: 3, periods: null, freeMinutes: 15, unitMinutes: 30 }
const record = { ...data, unitPrice: '2.00', dailyCap: null, createTime: '2026-11-22 08:00:00' }
const json = { 'content-type': 'application/json; charset=utf-8' }

function saved({ answer = {}, body = {}, ...rest }: { answer?: object; body?: object } & Partial<Exchange>): Exchange {
  return {
    method: 'POST',
    path: '/api/charging/v1/billingRule/save',
    requestHeaders: new Headers(json),
    requestBody: JSON.stringify({ ruleName: 'Day', ruleType: 3, freeMinutes: 15, dailyCap: '', ...body }),
    status: 200,
    headers: new Headers({ ...json, etag: '"1"' }),
    text: JSON.stringify({ code: 0, msg: 'success', data: { ...record, ...answer } }),
    ...rest,
  }
}

const refused = JSON.stringify({ code: 20002, msg: 'no', data: null })

test.each<[string, Exchange, RegExp | undefined]>([
  ['what is as it should be', saved({}), undefined],
  ['a member of another type', saved({ answer: { unitPrice: 2 } }), /unitPrice must be string/],
  ['a member that is missing', saved({ answer: { createTime: undefined } }), /required property 'createTime'/],
  ['a value outside of its set', saved({ answer: { ruleType: 4 } }), /ruleType must be equal to one of/],
  ['a header that is missing', saved({ headers: new Headers(json) }), /the header ETag is missing/],
  ['another media type', saved({ headers: new Headers({ 'content-type': 'text/html', etag: '"1"' }) }), /text\/html/],
  ['a status of its own', saved({ status: 302 }), /302: the status is not told/],
  ['a code that is not the operation’s', saved({ status: 404, text: refused }), /code must be equal to one of/],
  ['a body that should not be accepted', saved({ body: { freeMinutes: 'few' } }), /freeMinutes must be integer,null/],
  ['a query that should not be accepted', saved({ path: '/api/charging/v1/billingRule/save?x=1' }), /query member x/],
  [
    'a key that should not be accepted',
    saved({ requestHeaders: new Headers({ ...json, 'idempotency-key': 'ü' }) }),
    /Key/,
  ],
])('it is told: %s', (_, exchange, violation) => {
  expect(published.violations(exchange)).toEqual(violation === undefined ? [] : [expect.stringMatching(violation)])
})
