import { describe, expect, test } from 'bun:test'
import {
  attemptKeys,
  changedMembers,
  conflictsOf,
  fieldOf,
  fieldsOf,
  merged,
  pick,
} from '../../console/src/ui/form/record-rules.ts'

const before = { name: 'A', phone: '1', rule: null as number | null, periods: [{ key: 1, price: '1' }] }

describe('what was changed', () => {
  test('is told by members, however nothing is said, and without the keys of rows', () => {
    expect(changedMembers(before, { ...before, periods: [{ key: 9, price: '1' }] })).toEqual([])
    expect(changedMembers({ note: '' }, { note: undefined as unknown as string })).toEqual([])
    const mine = { ...before, name: '', rule: 7, periods: [{ key: 1, price: '2' }] }
    expect(changedMembers(before, mine)).toEqual(['name', 'rule', 'periods'])
    expect(pick(mine, changedMembers(before, mine))).toEqual({ name: '', rule: 7, periods: [{ key: 1, price: '2' }] })
  })

  test('is no member that the form does not have', () => {
    expect(changedMembers({ name: 'A' }, { name: 'A', division: 'x' } as { name: string })).toEqual([])
  })
})

describe('what two changed at once', () => {
  const mine = { ...before, name: 'Mine', rule: 7 }
  const theirs = { ...before, name: 'Theirs', rule: 7, phone: '2' }

  test('is a conflict where both changed a member, and not to the same', () => {
    expect(conflictsOf(before, mine, theirs)).toEqual(['name'])
    expect(conflictsOf(before, before, theirs)).toEqual([])
    expect(conflictsOf(before, mine, before)).toEqual([])
  })

  test('is as who is chosen has it; what only one changed stays', () => {
    expect(merged(before, mine, theirs, 'mine')).toEqual({ ...theirs, name: 'Mine' })
    expect(merged(before, { ...mine, phone: '1', rule: 8 }, theirs, 'theirs')).toEqual(theirs)
    expect(merged(before, { ...before, rule: 8 }, { ...before, phone: '2' }, 'theirs')).toMatchObject({
      rule: 8,
      phone: '2',
    })
  })
})

describe('a fault', () => {
  test('is shown at the field that its path leads to, that of a list’s member at the list', () => {
    expect(fieldOf('siteName')).toEqual(['siteName'])
    expect(fieldOf('thirdPartyConfig.callbackUrl')).toEqual(['thirdPartyConfig', 'callbackUrl'])
    expect(fieldOf('thirdPartyConfig.callbackEvents[3]')).toEqual(['thirdPartyConfig', 'callbackEvents'])
    expect(fieldOf('periods[2].startTime')).toEqual(['periods'])
    expect(fieldOf('appIds.0')).toEqual(['appIds'])
  })

  test('is gone with a change of its own field only', () => {
    expect(fieldsOf({ thirdPartyConfig: { callbackUrl: 'x' } })).toEqual([['thirdPartyConfig', 'callbackUrl']])
    expect(fieldsOf({ periods: [{ price: '1' }], expireTime: new Date(0) })).toEqual([['periods'], ['expireTime']])
  })
})

test('a key is one for all attempts at the same record, and another from then on', () => {
  let made = 0
  const keys = attemptKeys(() => ({ 'idempotency-key': String(++made) }))
  const used = () => keys.current()['idempotency-key']
  expect(used()).toBe('1')
  // The key stays the same without a response (0), and after a refusal that the user can correct (10001).
  keys.ended(0)
  expect(used()).toBe('1')
  keys.ended(10001)
  expect(used()).toBe('1')
  // 10008: the key was used for another body, so a new key is needed.
  keys.ended(10008)
  expect(used()).toBe('2')
  keys.ended()
  expect(used()).toBe('3')
})
