import { describe, expect, test } from 'bun:test'
import { readConfig } from '../../config.ts'
import { claimAt, namesOf, roleOf } from './rules.ts'

const rulesOf = (text: string) =>
  readConfig({
    FORECOURT_OIDC_ISSUER: 'https://login.example',
    FORECOURT_OIDC_CLIENT_ID: 'forecourt',
    FORECOURT_PUBLIC_URL: 'https://forecourt.example',
    FORECOURT_OIDC_ROLES: text,
  }).oidcRoles ?? []

describe('a role', () => {
  const rules = rulesOf('developer=makers;viewer=*;operator=ops,duty;admin=ops-admins')

  test('is the first that fits, from admin down, however the setting is ordered', () => {
    expect(roleOf(['makers', 'duty', 'ops-admins'], rules)).toBe('admin')
    expect(roleOf(['makers', 'duty'], rules)).toBe('operator')
    expect(roleOf(['makers'], rules)).toBe('viewer')
    expect(roleOf(['makers'], rulesOf('developer=makers'))).toBe('developer')
  })

  test('of a star is everyone’s, and without one nobody’s who has no value', () => {
    for (const claim of [undefined, null, '', [], ['others'], 7, { ops: true }]) {
      expect(roleOf(claim, rules)).toBe('viewer')
      expect(roleOf(claim, rulesOf('admin=ops-admins;operator=ops'))).toBeUndefined()
    }
  })

  test('comes of a text or of a list of texts, whole', () => {
    for (const claim of ['ops', ['x', 'ops'], ['ops', 7]]) expect(roleOf(claim, rules)).toBe('operator')
    for (const claim of ['ops,x', 'OPS', ['op'], [['ops']]]) expect(roleOf(claim, rules)).toBe('viewer')
  })
})

test('a claim is that with the name, else the one at the path with dots', () => {
  const claims = { groups: ['a'], realm_access: { roles: ['b'] }, 'realm_access.other': ['c'] }
  expect(claimAt(claims, 'groups')).toEqual(['a'])
  expect(claimAt(claims, 'realm_access.roles')).toEqual(['b'])
  expect(claimAt(claims, 'realm_access.other')).toEqual(['c'])
  expect(claimAt({ 'realm_access.roles': ['d'], realm_access: { roles: ['b'] } }, 'realm_access.roles')).toEqual(['d'])
  for (const none of ['roles', 'groups.roles', 'realm_access.none', 'constructor', '']) {
    expect([none, claimAt(claims, none)]).toEqual([none, undefined])
  }
})

test('a name is made to fit, of the name, else of the user name, else of the subject', () => {
  const isFaulty = (name: string) => name === 'operator'
  const of = (claims: object) => namesOf({ ...claims }, 'subject-1', isFaulty)[0]
  expect(of({ name: 'Wang Fang', preferred_username: 'wf' })).toBe('Wang Fang')
  expect(of({ name: ' ', preferred_username: 'wf' })).toBe('wf')
  expect(of({ name: 'operator' })).toBe('subject-1')
  expect(of({})).toBe('subject-1')
  expect(of({ name: ' Li\u200b  Lei#1:x\u202e ' })).toBe('Li Lei 1 x')
  expect([...(of({ name: '名'.repeat(80) }) ?? '')].length).toBeLessThanOrEqual(64)
  expect(namesOf({}, 'operator', isFaulty)).toEqual(['Person'])
})
