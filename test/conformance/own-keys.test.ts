import { expect, test } from 'bun:test'
import { newPerson, signIn } from '../kit/people.ts'
import { newApplication, newSerial, shownSecret } from '../kit/records.ts'
import { client, expectFaults, expectRefusal, expectSuccess, succeed } from './support.ts'

// Keys belong to accounts of every role, because they are handed over; each account sees its own.

const newKey = (headers: { cookie: string }, role: 'admin' | 'operator' | 'viewer' = 'admin') =>
  client.call('createOperatorKey', { name: newSerial('key'), role }, { headers }).then(expectSuccess)

test.each(['admin', 'operator', 'viewer', 'developer'])(
  'an account of the role %s sees the keys that it owns, and no others',
  async (role) => {
    const [maker, heir] = [await newPerson(client, 'admin'), await newPerson(client, role)]
    const made = await newKey(await signIn(client, maker))
    const headers = await signIn(client, heir)
    const own = () => client.call('pageOwnOperatorKeys', {}, { headers }).then(expectSuccess)
    expect(await own()).toMatchObject({ list: [], total: 0 })
    const given = await succeed('handOverOperatorKey', { id: made.id, operatorId: heir.id })
    const { list } = await own()
    expect(list).toEqual([given])
    expect(list[0]).toMatchObject({ id: made.id, status: role === 'developer' ? 2 : 1, operatorName: heir.name })
    if (role !== 'admin') expectRefusal(await client.call('pageOperatorKeys', {}, { headers }), 'notPermitted')
  },
)

test('a key, which has no account, owns no keys', async () => {
  const made = await newKey(await signIn(client, await newPerson(client, 'admin')))
  for (const token of [shownSecret(made.operatorKey), client.operatorKey]) {
    expectRefusal(await client.call('pageOwnOperatorKeys', {}, { token }), 'notPermitted')
  }
  expectRefusal(
    await client.call('pageOwnOperatorKeys', {}, { token: (await newApplication(client)).token }),
    'notPermitted',
  )
})

test('keys of an account that ends are handed over to nobody with whom they would not work', async () => {
  const leaver = await newPerson(client, 'admin')
  const developer = await newPerson(client, 'developer')
  await newKey(await signIn(client, leaver))
  const handOverTo = developer.id
  expectFaults(await client.operate('updateOperator', { id: leaver.id, status: 2, handOverTo }), ['handOverTo'])
  expectFaults(await client.operate('deleteOperator', { id: leaver.id, handOverTo }), ['handOverTo'])
  expect((await succeed('pageOperatorKeys', { operatorId: leaver.id })).total).toBe(1)
  // Without keys a developer takes over: saved views.
  const [other] = [await newPerson(client, 'viewer')]
  await succeed('deleteOperator', { id: other.id, handOverTo })
})
