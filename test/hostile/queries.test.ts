import { expect, test } from 'bun:test'
import type { TObject, TSchema } from 'typebox'
import { getDevice } from '../../src/devices/contract.ts'
import { operations } from '../../src/reference/operations.ts'
import { pageSites } from '../../src/sites/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { refusals } from '../../src/vocabulary/refusals.ts'
import { type Answer, target } from '../kit/client.ts'
import { deviceBody, newApplication, siteBody } from '../kit/records.ts'
import { isLong } from '../kit/scale.ts'

// Hostile text in every member of every query, generated from the list of operations.

const client = await target()
const owner = await newApplication(client)
const stranger = await newApplication(client)
const codes = new Set<number>(Object.values(refusals).map((kind) => kind.code))

const statements = [
  ...["'", "''", '"', '`', '\\', "\\'", ';', '--', '/*', '*/', '%', '_', '%%', '\\%', '$1', '$$', '$body$', ':1'],
  ...['?', "' or '1'='1", "' or 1=1 --", "') or ('1'='1", "'; drop table device; --", "'; select pg_sleep(30); --"],
  ...["' and pg_sleep(30) is null --", "' union select null, null, null --"],
  ...["' union all select callback_secret from third_party_config --", "'||(select version())||'"],
  ...["' and 1=cast((select current_user) as int) --", "' and (select count(*) from generate_series(1, 1e9)) > 0 --"],
  ...["1; copy event to program 'id'", '1 or 1=1', '1) or (1=1', '(select 1)', 'null', 'true', '0x41', 'E\\u0027'],
  ...["U&'\\0027'", '%27 or 1=1', '＇ or 1=1', 'ʼ; drop table site; --'],
]
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const cursors = [
  ...statements.slice(19, 28).map((text) => encode([text])),
  ...[encode(["' or 1=1 --", "' or 1=1 --"]), encode([['x'], ['x']]), encode([{ toString: 'x' }])],
  ...[encode([1e308, -1]), encode([Number.MAX_SAFE_INTEGER, '']), encode({ length: 2, 0: 'a', 1: 'b' })],
]

/** Expects the envelope of a success or of a known refusal, and nothing of the database in it. */
function expectHarmless(answer: Answer<unknown>, of: string): void {
  expect(answer.status, of).toBeLessThan(500)
  expect(answer.code === 0 || codes.has(answer.code), of).toBe(true)
  expect(answer.text, of).not.toMatch(/syntax error|PostgresError|pg_catalog|relation "|whsec_[A-Za-z0-9+/]{20}/)
}

// A stream takes the filters of `pageEvents` and reads by its statements, but its answer has no end.
const reads = operations.filter(
  ({ id, method, query }) => method === 'GET' && query !== undefined && id !== 'streamEvents',
)
const membersOf = ({ query }: Operation<TObject, TObject, TSchema>) => Object.keys(query?.properties ?? {})

/** A text for each member; the members of one kind are read by the same code, and one of them gets all texts. */
const mixed = ["'\"`\\; -- /* */ %_$1 :1 ? ') or ('1'='1'", "'; drop table device; --", encode(["' or 1=1 --"])]
const seenKinds = new Set<string>()

/** The texts for a member of an operation: in the gate, all for the first of its kind and for each cursor. */
function textsFor({ query }: Operation<TObject, TObject, TSchema>, member: string): string[] {
  const { description, examples, default: _, ...kind } = { ...query?.properties[member] } as Record<string, unknown>
  const isFirst = !seenKinds.has(JSON.stringify(kind))
  seenKinds.add(JSON.stringify(kind))
  if (isLong || isFirst) return [...statements, ...cursors]
  return member === 'cursor' ? cursors : mixed
}

test.each(reads.map((operation) => [operation.id, operation] as const))(
  '%s takes SQL in any member as text, or refuses it',
  async (_, operation) => {
    const members = membersOf(operation)
    const asked = members.flatMap((member) => textsFor(operation, member).map((text) => ({ member, text })))
    for (const { member, text } of asked) {
      const appId = members.includes('appId') ? { appId: owner.appId } : {}
      const started = performance.now()
      const answer = await client.operate(operation, { ...appId, [member]: text })
      expectHarmless(answer, `${operation.id} ${member}=${text}`)
      // The `pg_sleep(30)` in the text was not executed.
      expect(performance.now() - started, `${operation.id} ${member}=${text}`).toBeLessThan(20_000)
    }
  },
)

test('percent, underscore and backslash are text in a search by a part of a name', async () => {
  const { token, appId } = await newApplication(client)
  const names = ['100% solar', '100 solar', 'a_b', 'axb', 'back\\slash', 'backslash']
  for (const siteName of names) {
    expect((await client.call('saveSite', siteBody(appId, { siteName }), { token })).code).toBe(0)
  }
  for (const [part, found] of [
    ['%', ['100% solar']],
    ['_', ['a_b']],
    ['\\', ['back\\slash']],
    ['0% s', ['100% solar']],
    ['k\\s', ['back\\slash']],
    ['%%', []],
  ] as const) {
    const { data } = await client.call('pageSites', { siteName: part }, { token })
    expect(data.list.map(({ siteName }) => siteName)).toEqual([...found])
  }
})

/** Ways to spell another application's id, or to send it twice. */
const spellings = (appId: string, own: string) => [
  ...[appId, appId.toUpperCase(), ` ${appId}`, `${appId} `, `${appId}%00`, `${appId}%0a`],
  ...[`%${appId.charCodeAt(0).toString(16)}${appId.slice(1)}`, `${own},${appId}`, `${own}&appId=${appId}`],
  ...[`${appId}&appId=${own}`, `${own}&appid=${appId}`, `${own}&appId[]=${appId}`, `${own};appId=${appId}`],
  `&appId=${appId}`,
]

test.each(
  reads
    .filter((operation) => membersOf(operation).includes('appId'))
    .map((operation) => [operation.id, operation] as const),
)('%s answers a stranger nothing of another application, however its appId is spelled', async (_, operation) => {
  const headers = { authorization: `Bearer ${stranger.token}` }
  const { deviceNo } = deviceBody(owner.appId)
  const others =
    membersOf(operation).includes('deviceNo') && operation.id === getDevice.id ? `&deviceNo=${deviceNo}` : ''
  for (const spelled of spellings(owner.appId, stranger.appId)) {
    const answer = await client.send<unknown>(`${operation.path}?appId=${spelled}${others}`, { headers })
    expectHarmless(answer, `${operation.id} ${spelled}`)
    expect(answer.text, spelled).not.toContain(`"appId":"${owner.appId}"`)
  }
})

test.each(['%ff', '%ed%a0%80', '%', '%zz', 'a%e4%b8'])('%j is no text, and is refused by its name', async (text) => {
  const path = `${pageSites.path}?siteName=${text}&pageSize=1`
  const answer = await client.send(path, { headers: { authorization: `Bearer ${owner.token}` } })
  expect(answer.data).toEqual({ errors: [{ field: 'siteName', reason: 'must be percent-encoded UTF-8' }] })
})
