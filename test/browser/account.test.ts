import { expect } from 'bun:test'
import { newPassword, newPerson, signIn } from '../kit/people.ts'
import { newSerial } from '../kit/records.ts'
import { enterByPassword, fillIn, press, shows } from './hand.ts'
import { browserTest, client, expectFramed, expectSound, leadTo, longBrowserTest, visit } from './support.ts'

/** Hands a key over to the account of a session, as an account that ends does. */
async function giveKey(headers: { cookie: string }): Promise<string> {
  const name = newSerial('key')
  // The last admin who can sign in cannot be disabled.
  const [leaver] = [await newPerson(client, 'admin'), await newPerson(client, 'admin')]
  await client.call('createOperatorKey', { name, role: 'admin' }, { headers: await signIn(client, leaver) })
  const handOverTo = (await client.call('getSession', {}, { headers })).data.operatorId
  const { code, text } = await client.operate('updateOperator', { id: leaver.id, status: 2, handOverTo })
  expect(code, text).toBe(0)
  return name
}

browserTest('one’s account changes the password, and shows and ends sessions', async () => {
  const { page } = await visit('/console/sign-in')
  const person = await newPerson(client, 'admin')
  await signIn(client, await newPerson(client, 'viewer'))
  const elsewhere = await signIn(client, person)
  await enterByPassword(page, person)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await leadTo(page, '/console/account')
  await page.getByText('This session', { exact: true }).waitFor()
  await expectSound(page, 'Your account', 'account')
  // An admin, too, sees here only their own.
  await page.getByText('2 total').waitFor()
  expect(await page.getByRole('button', { name: /^End session of/ }).getAttribute('aria-label')).toContain(person.name)

  const newer = newPassword()
  await fillIn(page, { 'Current password': 'not the password', 'New password': newer })
  await press(page, 'Change password')
  await page.getByRole('alert').getByText('Error 10031').waitFor()
  expect(await page.getByLabel('New password').inputValue()).toBe(newer)

  await page.getByRole('button', { name: /^End session of/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End session', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  expect((await client.call('getSession', {}, { headers: elsewhere })).code).toBe(10002)

  await page.getByLabel('Current password').fill(person.password)
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Password changed. Your other sessions were signed out.').waitFor()
  expect((await client.call('createSession', { name: person.name, password: newer })).code).toBe(0)
})

longBrowserTest('one’s account shows a key the session that it is in', async () => {
  const { page } = await visit('/console/sign-in')
  await page.getByText('Operator key').click()
  await page.getByRole('textbox', { name: 'Operator key' }).fill(client.operatorKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await leadTo(page, '/console/account')
  await shows(page, 'You signed in with an operator key', 'Last used')
  expect(await page.getByRole('button', { name: /^End session of/ }).count()).toBe(0)
  await expectFramed(page, 'Your account')
})

longBrowserTest('one’s account shows the keys that were handed over to it, though its role lists no keys', async () => {
  const { page, headers } = await visit('/console/account', { role: 'viewer' })
  await page.getByRole('heading', { name: 'Sessions' }).waitFor()
  expect(await page.getByRole('heading', { name: 'Your operator keys' }).count()).toBe(0)
  const name = await giveKey(headers)
  await page.reload()
  const row = page.getByRole('row').filter({ has: page.getByRole('cell', { name }) })
  await row.getByText('Active').waitFor()
  // A key may do no more than its owner.
  await row.getByText('Viewer').waitFor()
  await expectSound(page, 'Your account', 'account-keys')
})
