import { expect, test } from 'bun:test'
import Type from 'typebox'
import type { Refusal } from '../vocabulary/refusals.ts'
import { optional } from '../vocabulary/values.ts'
import { queryReader, validator } from './validate.ts'

const schema = Type.Object({
  name: Type.String(),
  config: optional(Type.Object({ url: Type.String() })),
  rows: Type.Optional(Type.Array(Type.Object({ no: Type.Integer(), periods: Type.Array(Type.Object({})) }))),
  free: Type.Optional(Type.Unknown()),
})

test('a body is answered with its declared members only, at any depth', () => {
  const read = validator(schema, 'body', undefined)
  const sent = JSON.parse(`{"name":"a","passwordHash":"x","__proto__":{"role":"admin"},"constructor":1,
    "config":{"url":"u","secret":"s"},"rows":[{"no":1,"id":2,"periods":[{"x":1}]}],"free":{"kept":1}}`)
  const body = read(sent)
  expect(JSON.stringify(body)).toBe(
    '{"name":"a","config":{"url":"u"},"rows":[{"no":1,"periods":[{}]}],"free":{"kept":1}}',
  )
  expect('role' in body).toBe(false)
})

test('the alternatives of an optional object and members that are absent stay what they are', () => {
  const read = validator(schema, 'body', undefined)
  for (const sent of [{ name: 'a' }, { name: 'a', config: null }, { name: 'a', config: '' as const }]) {
    expect(read({ ...sent, more: 1 })).toStrictEqual(sent)
  }
})

test('a query is answered as it is, or refused with every member that is undeclared, given twice or wrong', () => {
  const read = queryReader(Type.Object({ id: Type.Integer(), no: Type.Optional(Type.Integer()) }))
  expect<unknown>(read('id=7')).toStrictEqual({ id: 7 })
  const told = (query: string) => {
    try {
      return read(query)
    } catch (error) {
      return (error as Refusal).errors?.map(({ field, reason }) => `${field} ${reason.en}`)
    }
  }
  expect(told('id=7&role=admin&__proto__=x&role=again&no=1&no=2')).toEqual([
    'role is not known to this operation',
    '__proto__ is not known to this operation',
    'no appears twice',
  ])
  expect(told('no=x')).toEqual(['id is required', 'no has the wrong type'])
  expect(told(Array.from({ length: 2000 }, (_, index) => `m${index}`).join('&'))).toHaveLength(1000)
})

test('of the faults of a list the first thousand are told, and what the members are together is not asked then', () => {
  const check = () => [{ field: 'name', reason: { en: 'is asked', zh: '' } }]
  const read = validator(Type.Object({ name: Type.String(), rows: Type.Array(Type.String()) }), 'body', check)
  const told = (count: number) => {
    try {
      read({ name: 'a', rows: [...Array<string>(10_000).fill('fits'), ...Array<number>(count).fill(1)] })
    } catch (error) {
      return (error as Refusal).errors?.map(({ field }) => field) ?? []
    }
    return []
  }
  expect(told(999)).toHaveLength(1000)
  expect(told(999).slice(-2)).toEqual(['rows[10998]', 'name'])
  expect(told(5000)).toHaveLength(1000)
  expect(told(5000).at(-1)).toBe('rows[10999]')
})
