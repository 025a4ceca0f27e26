import { describe, expect, test } from 'bun:test'
import { limits } from '../../src/vocabulary/limits.ts'
import { cookieOf, newPerson, signIn } from '../kit/people.ts'
import { shownSecret } from '../kit/records.ts'
import { client, expectFaults, expectRefusal, expectSuccess, succeed } from './support.ts'

type As = { headers: { cookie: string } }

const newOwner = async (role = 'viewer'): Promise<As> => ({
  headers: await signIn(client, await newPerson(client, role)),
})

const view = {
  page: 'devices',
  name: 'Faulty in Nanchang',
  query: 'status=2&cityCode=360100',
  columns: 'tag,version',
} as const

const viewsOf = async (as: As, query: object = {}) => (await succeed('pageViews', query, as)).list

describe('views', () => {
  test('are saved by name in one’s own account, changed, renamed and deleted', async () => {
    const as = await newOwner()
    const saved = await succeed('saveView', view, as)
    expect(saved).toEqual({ ...view, id: expect.any(Number), createTime: expect.any(String) })
    const bare = await succeed('saveView', { page: 'sites', name: view.name, query: '' }, as)
    expect(bare).toMatchObject({ page: 'sites', query: null, columns: null })
    expect(await viewsOf(as)).toEqual([bare, saved])
    expect(await viewsOf(as, { page: 'devices' })).toEqual([saved])
    expect(await viewsOf(as, { page: 'events' })).toEqual([])
    // Saving under the same name again replaces the view.
    const again = await succeed('saveView', { ...view, query: 'status=1', columns: null }, as)
    expect(again).toEqual({ ...saved, query: 'status=1', columns: null })
    const renamed = await succeed('saveView', { ...again, name: 'Faulty' }, as)
    expect(renamed).toEqual({ ...again, name: 'Faulty' })
    const other = await succeed('saveView', { ...view, name: 'faulty' }, as)
    expectRefusal(await client.call('saveView', { ...other, name: 'Faulty' }, as), 'viewNameTaken')
    expect(await viewsOf(as, { page: 'devices' })).toEqual([other, renamed])
    expect(await succeed('deleteView', { id: other.id }, as)).toEqual(other)
    expectRefusal(await client.call('deleteView', { id: other.id }, as), 'viewNotFound')
    expectRefusal(await client.call('saveView', { ...view, id: other.id }, as), 'viewNotFound')
    expect(await viewsOf(as, { page: 'devices' })).toEqual([renamed])
  })

  test('are nobody else’s, and keys have none', async () => {
    const [one, other] = [await newOwner('admin'), await newOwner('developer')]
    const saved = await succeed('saveView', view, one)
    expect(await viewsOf(other)).toEqual([])
    expectRefusal(await client.call('deleteView', { id: saved.id }, other), 'viewNotFound')
    expectRefusal(await client.call('saveView', { ...view, id: saved.id }, other), 'viewNotFound')
    await succeed('saveView', view, other)
    expect(await viewsOf(one)).toEqual([saved])
    const { operatorKey } = await succeed('createOperatorKey', { name: `views ${saved.id}`, role: 'viewer' }, one)
    const token = shownSecret(operatorKey)
    const session = { headers: { cookie: cookieOf(await client.call('createSession', { operatorKey: token })) } }
    for (const as of [{ token: client.operatorKey }, { token }, session]) {
      expectRefusal(await client.call('saveView', view, as), 'notPermitted')
      expectRefusal(await client.call('pageViews', {}, as), 'notPermitted')
      expectRefusal(await client.call('deleteView', { id: saved.id }, as), 'notPermitted')
    }
  })

  test('are bounded, and refused with every faulty member', async () => {
    const as = await newOwner()
    expectFaults(await client.call('saveView', {} as never, as), ['name', 'page'])
    const faulty = { page: 'people', name: 'x'.repeat(65), query: 'x'.repeat(2049), columns: 'x'.repeat(1025), id: 0 }
    expectFaults(await client.call('saveView', faulty as never, as), ['page', 'name', 'query', 'columns', 'id'])
    expectFaults(await client.call('pageViews', { page: 'people' } as never, as), ['page'])
    expectFaults(await client.call('deleteView', {} as never, as), ['id'])
    const names = Array.from({ length: limits.viewsOfOne }, (_, place) => `View ${place}`)
    for (const name of names) await succeed('saveView', { page: 'events', name }, as)
    expectFaults(await client.call('saveView', { page: 'events', name: 'One more' }, as), ['name'])
    // At the limit, an existing view can still be changed.
    await succeed('saveView', { page: 'events', name: 'View 7', query: 'type=site.created' }, as)
    expect((await viewsOf(as, { pageSize: 100 })).map(({ name }) => name).toSorted()).toEqual(names.toSorted())
    const [first] = await viewsOf(as)
    await succeed('deleteView', { id: first?.id ?? 0 }, as)
    await succeed('saveView', { page: 'events', name: 'One more' }, as)
  })

  test('that are saved side by side are one of a name, and no more than the limit', async () => {
    const as = await newOwner()
    const same = await Promise.all(Array.from({ length: 8 }, () => client.call('saveView', view, as)))
    expect(new Set(same.map((answer) => expectSuccess(answer).id)).size).toBe(1)
    const many = Array.from({ length: limits.viewsOfOne + 10 }, (_, place) => ({ ...view, name: `View ${place}` }))
    const answers = await Promise.all(many.map((each) => client.call('saveView', each, as)))
    expect(answers.filter(({ code }) => code === 0)).toHaveLength(limits.viewsOfOne - 1)
    expect(await viewsOf(as, { pageSize: 100 })).toHaveLength(limits.viewsOfOne)
  })
})
