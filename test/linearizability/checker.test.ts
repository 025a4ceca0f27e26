import { describe, expect, test } from 'bun:test'
import { contradiction, describeExchanges, type Exchange, judge } from './checker.ts'
import type { Answer, Request } from './model.ts'

const create = (app: string, tag: string, key?: string): Request => ({
  action: 'create',
  app,
  tag,
  ...(key !== undefined && { key }),
})
const unbind = (app: string, key?: string): Request => ({ action: 'unbind', app, ...(key !== undefined && { key }) })
const transfer = (app: string): Request => ({ action: 'transfer', app })
const detail = (app?: string): Request => ({ action: 'detail', app })
const of = (app: string, tag: string): Answer => ({ code: 0, app, tag })
const replayed = (app: string, tag: string): Answer => ({ ...of(app, tag), isReplayed: true })
const code = (number: number): Answer => ({ code: number })

type Line = [calledAt: number, answeredAt: number, request: Request, answer?: Answer]
const told = (...lines: Line[]): Exchange[] =>
  lines.map(([calledAt, answeredAt, request, answer], client) => ({ client, request, calledAt, answer, answeredAt }))
const never = Number.POSITIVE_INFINITY

const right: Record<string, Exchange[]> = {
  nothing: [],
  'one after the other': told(
    [1, 2, detail('a'), code(20002)],
    [3, 4, create('a', 't1'), of('a', 't1')],
    [5, 6, create('a', 't2'), code(20017)],
    [7, 8, create('b', 't3'), code(20013)],
    [9, 10, transfer('a'), code(20017)],
    [11, 12, transfer('b'), of('b', 't1')],
    [13, 14, detail('a'), code(20002)],
    [15, 16, detail(), of('b', 't1')],
    [17, 18, unbind('a'), code(20002)],
    [19, 20, unbind('b'), of('b', 't1')],
    [21, 22, transfer('a'), code(20002)],
  ),
  'a read that overlaps a create may come before it': told(
    [1, 4, create('a', 't1'), of('a', 't1')],
    [2, 3, detail('a'), code(20002)],
  ),
  'and one that began later may not see less, but more': told(
    [1, 6, create('a', 't1'), of('a', 't1')],
    [2, 3, detail('a'), of('a', 't1')],
    [4, 5, detail('a'), of('a', 't1')],
  ),
  'a create without an answer may take effect late': told(
    [1, never, create('a', 't1')],
    [2, 3, detail('a'), code(20002)],
    [4, 5, detail('a'), of('a', 't1')],
  ),
  'and may not': told([1, never, create('a', 't1')], [2, 3, create('b', 't2'), of('b', 't2')]),
  'what nobody saw may explain a refusal': told(
    [1, never, create('a', 't1')],
    [2, never, unbind('a')],
    [3, 4, create('b', 't2'), code(20013)],
    [5, 6, create('b', 't3'), of('b', 't3')],
  ),
  'a key is answered as the first time, whatever has happened since': told(
    [1, 2, create('a', 't1', 'k'), of('a', 't1')],
    [3, 4, unbind('a'), of('a', 't1')],
    [5, 6, create('a', 't1', 'k'), replayed('a', 't1')],
    [7, 8, detail('a'), code(20002)],
  ),
  'a refusal is not kept with its key': told(
    [1, 2, unbind('a', 'k'), code(20002)],
    [3, 4, create('a', 't1'), of('a', 't1')],
    [5, 6, unbind('a', 'k'), of('a', 't1')],
  ),
  'of two attempts with a key the lost one took effect': told(
    [1, never, create('a', 't1', 'k')],
    [2, never, create('a', 't1', 'k')],
    [3, 4, create('a', 't1', 'k'), replayed('a', 't1')],
  ),
}

const wrong: Record<string, Exchange[]> = {
  'two owners at once': told([1, 4, create('a', 't1'), of('a', 't1')], [2, 3, create('b', 't2'), of('b', 't2')]),
  'a stale read': told(
    [1, 2, create('a', 't1'), of('a', 't1')],
    [3, 4, unbind('a'), of('a', 't1')],
    [5, 6, detail('a'), of('a', 't1')],
  ),
  'a read that goes back': told(
    [1, 6, create('a', 't1'), of('a', 't1')],
    [2, 3, detail('a'), of('a', 't1')],
    [4, 5, detail('a'), code(20002)],
  ),
  'a lost create': told([1, 2, create('a', 't1'), of('a', 't1')], [3, 4, detail('a'), code(20002)]),
  'an effect that happened twice': told(
    [1, 2, create('a', 't1', 'k'), of('a', 't1')],
    [3, 4, unbind('a'), of('a', 't1')],
    [5, 6, create('a', 't1', 'k'), of('a', 't1')],
  ),
  'one that happened twice, of which the first was not answered': told(
    [1, never, create('a', 't1', 'k')],
    [2, 3, unbind('a'), of('a', 't1')],
    [4, 5, create('a', 't1', 'k'), of('a', 't1')],
  ),
  'a replay of what never was': told([1, 2, create('a', 't1', 'k'), replayed('a', 't1')]),
  'an effect before its call': told([1, 2, detail('a'), of('a', 't1')], [3, never, create('a', 't1')]),
  'another record than was made': told([1, 2, create('a', 't1'), of('a', 't1')], [3, 4, detail('a'), of('a', 't2')]),
  'a code that the contract does not know': told([1, 2, create('a', 't1'), code(10001)]),
  'a transfer of one that is nobody’s': told([1, 2, transfer('a'), of('a', 't1')]),
  'a refusal that names no one’s device another’s': told([1, 2, create('a', 't1'), code(20013)]),
}

describe('a history that a right service can give has an order', () => {
  test.each(Object.entries(right))('%s', (_, history) => expect(judge(history)).toBe('has an order'))
})

describe('a history that only a faulty service gives has none', () => {
  test.each(Object.entries(wrong))('%s', (_, history) => expect(judge(history)).toBe('has no order'))
})

test('a long history with many unknown ones is judged, and a fault at its end is told by the answers that contradict', () => {
  const lines: Line[] = []
  let clock = 0
  for (let round = 0; round < 40; round++) {
    const [app, tag] = [round % 2 === 0 ? 'a' : 'b', `t${round}`]
    lines.push([++clock, never, create('c', `lost${round}`)], [++clock, never, unbind('c', `gone${round}`)])
    lines.push([++clock, ++clock, create(app, tag), of(app, tag)], [++clock, ++clock, detail(), of(app, tag)])
    lines.push([++clock, ++clock, unbind(app), of(app, tag)])
  }
  expect(judge(told(...lines))).toBe('has an order')
  const faulty = told(...lines, [++clock, ++clock, detail(), of('a', 't38')], [++clock, ++clock, detail(), code(20002)])
  expect(judge(faulty)).toBe('has no order')
  const core = contradiction(faulty)
  expect(core.length).toBeLessThanOrEqual(3)
  expect(judge(core)).toBe('has no order')
  expect(describeExchanges(core)).toContain('detail any → 0 a t38')
})

test('a search that costs too much is told as undecided, not as right', () => {
  const lines = Array.from(
    { length: 12 },
    (_, index): Line => [index, 100 + index, create('a', `t${index}`), of('a', `t${index}`)],
  )
  const frees = Array.from({ length: 12 }, (_, index): Line => [20 + index, never, unbind('a')])
  const impossible: Line = [200, 201, detail('a'), of('a', 'none')]
  expect(judge(told(...lines, ...frees, impossible), 50)).toBe('undecided')
})
