import { expect, test } from 'bun:test'
import { codeOf, cookieOf, earlyInStep, newPassword, startedSecret } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { client, expectSuccess, succeed } from './support.ts'

// What the audit trail says of changes of accounts: the former values are those that the act changed, and no others.

test('an event of an account has what the act changed, and nothing that the account’s owner did before', async () => {
  const [name, renamed] = [newSerial('person'), newSerial('person')]
  const made = await succeed('createOperator', { name, role: 'viewer' })
  const { id } = made
  const [password, newer] = [newPassword(), newPassword()]
  const setUpToken = String(made.setUpPath).split('#')[1] ?? ''
  const begun = await client.call('setUpOperator', { setUpToken, password, name: renamed })
  expectSuccess(begun)
  const headers = { cookie: cookieOf(begun) }
  const secret = await startedSecret(client, headers)
  await earlyInStep()
  await succeed('saveTotp', { code: codeOf(secret) }, { headers })
  await succeed('changePassword', { password, newPassword: newer }, { headers })

  const { appId } = await newApplication(client)
  for (const members of [
    { status: 2 as const },
    { status: 1 as const, role: 'developer' as const, appIds: [appId] },
    { name },
    { role: 'viewer' as const },
    {},
  ]) {
    await succeed('updateOperator', { id, ...members })
  }
  await succeed('resetOperator', { id })

  const { list } = await succeed('pageAudit', { subject: String(id), type: 'operator.*' })
  expect(list.map(({ type, data }) => [type, (data as { before?: unknown }).before]).toReversed()).toEqual([
    ['operator.created', undefined],
    ['operator.setUp', { name, isSetUp: false }],
    ['operator.passwordChanged', {}],
    ['operator.updated', { status: 1 }],
    ['operator.updated', { role: 'viewer', status: 2, appIds: [] }],
    ['operator.updated', { name: renamed }],
    ['operator.updated', { role: 'developer', appIds: [appId] }],
    ['operator.updated', {}],
    ['operator.reset', { isSetUp: true }],
  ])
  expect(list[0]?.data).toMatchObject({ id, name, role: 'viewer', isSetUp: false, hasSecondFactor: true })
})
