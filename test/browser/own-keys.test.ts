import { describe, expect } from 'bun:test'
import { createOperatorKey, updateOperator } from '../../src/people/operators/contract.ts'
import { getSession } from '../../src/people/sessions/contract.ts'
import { newSerial } from '../harness.ts'
import { newPerson, signIn } from '../people.ts'
import {
  browserTest,
  client,
  expectFramed,
  expectSoundInBothShades,
  longBrowserTest,
  narrow,
  picture,
  visit,
} from './support.ts'

/** Hands a key over to the account of a session, as an account that ends does. */
async function giveKey(headers: { cookie: string }): Promise<string> {
  const name = newSerial('key')
  // The last admin who can sign in cannot be disabled.
  const [leaver] = [await newPerson(client, 'admin'), await newPerson(client, 'admin')]
  await client.call(createOperatorKey, { name, role: 'admin' }, { headers: await signIn(client, leaver) })
  const handOverTo = (await client.call(getSession, {}, { headers })).data.operatorId
  const { code, text } = await client.operate(updateOperator, { id: leaver.id, status: 2, handOverTo })
  expect(code, text).toBe(0)
  return name
}

describe('one’s own account', () => {
  browserTest('shows the keys that were handed over to it, though its role lists no keys', async () => {
    const visited = await visit('/console/account', { role: 'viewer' })
    const { page } = visited
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    expect(await page.getByRole('heading', { name: 'Your operator keys' }).count()).toBe(0)
    const name = await giveKey(visited.headers)
    await page.reload()
    const row = page.getByRole('row').filter({ has: page.getByRole('cell', { name }) })
    await row.getByText('Active').waitFor()
    // A key may do no more than its owner.
    await row.getByText('Viewer').waitFor()
    await expectSoundInBothShades(visited, 'Your account', 'account-keys')
  })

  longBrowserTest('shows them on a phone, in Chinese', async () => {
    const visited = await visit('/console/account', { role: 'operator', language: 'zh', viewport: narrow })
    const name = await giveKey(visited.headers)
    await visited.page.reload()
    await visited.page.getByText(name).scrollIntoViewIfNeeded()
    await expectFramed(visited, '我的账号')
    await picture(visited.page, 'account-keys-phone')
  })
})
