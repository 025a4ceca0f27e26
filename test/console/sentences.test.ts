import { expect, test } from 'bun:test'
import { actOf, changeInShort, sentencesOf } from '../../console/src/words/sentences.ts'
import { eventWords } from '../../src/vocabulary/event-types.ts'

const told = (type: string, before: unknown, after: unknown, language: 'en' | 'zh' = 'en') =>
  sentencesOf(type, before, after, language).map(({ what, before, after }) =>
    before === undefined ? `${what}: ${after}` : `${what} ${before} → ${after}`,
  )

test('a changed price is told with its time of day', () => {
  const period = { startTime: '00:00:00', electricityPrice: '0.3800', servicePrice: '0.5' }
  const [before, after] = [{ periods: [period] }, { periods: [{ ...period, electricityPrice: '0.9999' }] }]
  expect(told('billingRule.updated', before, after)).toEqual(['00:00 electricity price 0.3800 → 0.9999'])
  expect(told('billingRule.updated', before, after, 'zh')).toEqual(['00:00 电费 0.3800 → 0.9999'])
})

test('a period that is added or taken away is told by its prices', () => {
  const night = { startTime: '00:00:00', electricityPrice: '0.3', servicePrice: '0.1' }
  const day = { startTime: '08:30:15', electricityPrice: '0.9', servicePrice: '0.1' }
  expect(told('billingRule.updated', { periods: [night] }, { periods: [night, day] })).toEqual([
    '08:30:15 electricity price none → 0.9',
    '08:30:15 service price none → 0.1',
  ])
})

test('codes are words, of the noun that the event is about', () => {
  expect(told('device.stateChanged', { status: 2, runStatus: 0 }, { status: 1, runStatus: 1 })).toEqual([
    'status faulty → normal',
    'position closed → open',
  ])
  expect(told('application.frozen', { status: 1, frozenReason: null }, { status: 2, frozenReason: 'unpaid' })).toEqual([
    'status normal → frozen',
    'freeze reason none → unpaid',
  ])
  expect(told('operator.updated', { role: 'admin', appIds: [] }, { role: 'viewer', appIds: ['a', 'b'] }, 'zh')).toEqual(
    ['角色 管理员 → 只读', '所属应用 无 → a、b'],
  )
})

test('a change of an account is told in one line by its own data', () => {
  const account = { id: 5, name: 'Li Lei', role: 'viewer', status: 2, appIds: [], signInTime: '2026-01-01 00:00:00' }
  const short = (type: string, before: object, language: 'en' | 'zh' = 'en') =>
    changeInShort({ type, data: { ...account, before } }, language)
  expect(short('operator.updated', { status: 1 })).toBe('account active → disabled')
  expect(short('operator.updated', { status: 1 }, 'zh')).toBe('账号 启用 → 停用')
  expect(short('operator.updated', { role: 'admin', name: 'Li' })).toBe('name Li → Li Lei; role admin → viewer')
  expect(short('operator.updated', {})).toBe('')
  expect(told('operator.passwordChanged', account, account, 'zh')).toEqual(['密码: 已由本人更换，其他会话已结束'])
  expect(changeInShort({ type: 'site.updated', data: { siteName: 'North' } }, 'en')).toBe('')
})

test('an act that its record does not show is told by the sentence of its type', () => {
  expect(actOf('site.deleted', 'en')).toBe('A site was deleted; the data is its last state.')
  expect(actOf('priceChange.cancelled', 'zh')).toBe(`${eventWords['priceChange.cancelled'].happens.zh}。`)
  expect(actOf('site.updated', 'en')).toBeUndefined()
  expect(actOf('thirdPartyConfig.saved', 'en')).toBeUndefined()
  expect(actOf('operator.reset', 'en')).toBeUndefined()
  expect(actOf('toString', 'en')).toBeUndefined()
})

test('an event without a record before tells what it holds, and nothing that is empty', () => {
  const data = { deviceNo: 'D1', siteName: 'North', laneType: 4, laneName: null, createTime: '2026-01-01 00:00:00' }
  expect(told('device.placed', undefined, data)).toEqual(['serial number: D1', 'site name: North', 'lane type: door'])
})

test('what does not differ, and what only keeps the record, is not told', () => {
  const site = { siteName: 'North', provinceCode: '36', provinceName: 'Jiangxi', updateTime: '1' }
  expect(told('site.updated', site, { ...site, provinceCode: '35', provinceName: 'Fujian', updateTime: '2' })).toEqual([
    'province Jiangxi → Fujian',
  ])
})
