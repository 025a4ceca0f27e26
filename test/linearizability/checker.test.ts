import { describe, expect, test } from 'bun:test'
import {
  type Asked,
  contradiction,
  describeExchanges,
  type Exchange,
  judge as judgeBy,
  type Model,
  type Told,
} from './checker.ts'
import { type DeviceAnswer as Answer, devices, type DeviceRequest as Request } from './devices.ts'
import { type PriceAnswer, type PriceRequest, prices } from './prices.ts'

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

const place = (app: string, site: string, lane = 1): Request => ({ action: 'place', app, site, lane })
const remove = (app: string): Request => ({ action: 'remove', app })
const where = (app: string): Request => ({ action: 'where', app })
const deleteSite = (app: string, site: string): Request => ({ action: 'deleteSite', app, site })
const at = (app: string, site: string, lane = 1): Answer => ({ code: 0, app, site, lane })

type Line<R = Request, A = Answer> = [calledAt: number, answeredAt: number, request: R, answer?: A]
const told = <R extends Asked = Request, A extends Told = Answer>(...lines: Line<R, A>[]): Exchange<R, A>[] =>
  lines.map(([calledAt, answeredAt, request, answer], client) => ({ client, request, calledAt, answer, answeredAt }))
const never = Number.POSITIVE_INFINITY

const judge = (history: readonly Exchange<Request, Answer>[], budget?: number) => judgeBy(devices, history, budget)

const right: Record<string, Exchange<Request, Answer>[]> = {
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
  'what a site, an unbinding and a transfer do to a placement': told(
    [1, 2, create('a', 't1'), of('a', 't1')],
    [3, 4, place('b', 'b/0'), code(20002)],
    [5, 6, place('a', 'a/0'), at('a', 'a/0')],
    [7, 8, place('a', 'a/0', 2), at('a', 'a/0', 2)],
    [9, 10, deleteSite('a', 'a/0'), { code: 0, app: 'a' }],
    [11, 12, where('a'), code(20030)],
    [13, 14, place('a', 'a/0'), code(30002)],
    [15, 16, place('a', 'a/1'), at('a', 'a/1')],
    [17, 18, transfer('b'), of('b', 't1')],
    [19, 20, where('b'), code(20030)],
    [21, 22, remove('a'), code(20002)],
  ),
}

const wrong: Record<string, Exchange<Request, Answer>[]> = {
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
  'a placement that outlasts its binding': told(
    [1, 2, create('a', 't1'), of('a', 't1')],
    [3, 4, place('a', 'a/0'), at('a', 'a/0')],
    [5, 6, unbind('a'), of('a', 't1')],
    [7, 8, create('a', 't2'), of('a', 't2')],
    [9, 10, where('a'), at('a', 'a/0')],
  ),
  'a placement at a site that is gone': told(
    [1, 2, create('a', 't1'), of('a', 't1')],
    [3, 4, deleteSite('a', 'a/0'), { code: 0, app: 'a' }],
    [5, 6, place('a', 'a/0'), at('a', 'a/0')],
  ),
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
  const core = contradiction(devices, faulty)
  expect(core.length).toBeLessThanOrEqual(3)
  expect(judge(core)).toBe('has no order')
  expect(describeExchanges(core)).toContain('detail → 0 a t38')
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

describe('of prices', () => {
  type Priced = Line<PriceRequest, PriceAnswer>
  const read = (rule: number, tag: string): [PriceRequest, PriceAnswer] => [{ action: 'read' }, { code: 0, rule, tag }]
  const change = { rule: 0, tag: 'x', at: 10 }
  const scheduled: Priced = [1, 2, { action: 'scheduleTerms', ...change }, { code: 0, tag: 'x' }]
  const due: Priced = [10, 10.1, { action: 'due', ...change }, { code: 0 }]
  const cancel = { action: 'cancel', tag: 'x' } as const
  const rows: [string, boolean, Priced[]][] = [
    [
      'a change is in force from its moment on',
      true,
      [scheduled, due, [3, 4, ...read(0, '0')], [11, 12, ...read(0, 'x')]],
    ],
    ['a read is early', false, [scheduled, due, [8, 9, ...read(0, 'x')]]],
    ['a read is late', false, [scheduled, due, [11, 12, ...read(0, '0')]]],
    [
      'a cancel across the moment wins',
      true,
      [scheduled, due, [9, 12, cancel, { code: 0, tag: 'x' }], [13, 14, ...read(0, '0')]],
    ],
    [
      'what was cancelled takes effect',
      false,
      [scheduled, due, [3, 4, cancel, { code: 0, tag: 'x' }], [13, 14, ...read(0, 'x')]],
    ],
    ['a cancel comes too late', false, [scheduled, due, [11, 12, cancel, { code: 0, tag: 'x' }]]],
    [
      'an undo brings back the former price',
      true,
      [scheduled, due, [11, 12, { action: 'undo', tag: 'x' }, { code: 0 }], [13, 14, ...read(0, '0')]],
    ],
    [
      'an update that gives the site the rule that it has comes behind one that overlaps it',
      true,
      [
        [1, 6, { action: 'updateSite', rule: 0 }, { code: 0, rule: 0 }],
        [2, 5, { action: 'updateSite', rule: 1 }, { code: 0, rule: 1 }],
        [7, 8, ...read(0, '0')],
      ],
    ],
  ]
  test.each(rows)('%s: %p', (_, isRight, lines) => {
    const model: Model<never, PriceRequest, PriceAnswer> = prices as never
    expect(judgeBy(model, told(...lines))).toBe(isRight ? 'has an order' : 'has no order')
  })
})
