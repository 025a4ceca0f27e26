import { describe, expect } from 'bun:test'
import { newPassword, newPerson, signIn } from '../kit/people.ts'
import { newSerial } from '../kit/records.ts'
import {
  browserTest,
  client,
  expectFramed,
  expectSoundInBothShades,
  leadTo,
  longBrowserTest,
  visit,
} from './support.ts'

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

describe('one’s account', () => {
  browserTest('changes the password, and shows and ends sessions', async () => {
    const visited = await visit('/console/sign-in')
    const { page } = visited
    const person = await newPerson(client, 'viewer')
    const elsewhere = await signIn(client, person)
    await page.getByLabel('Name').fill(person.name)
    await page.getByLabel('Password').fill(person.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await leadTo(page, '/console/account')
    await page.getByText('This session', { exact: true }).waitFor()
    await expectSoundInBothShades(visited, 'Your account', 'account')

    await page.getByLabel('Current password').fill('not the password')
    const newer = newPassword()
    await page.getByLabel('New password').fill(newer)
    await page.getByRole('button', { name: 'Change password' }).click()
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
    expect(visited.faults).toEqual([])
  })

  longBrowserTest('shows an admin their own sessions only', async () => {
    const person = await newPerson(client, 'admin')
    await signIn(client, person)
    await signIn(client, await newPerson(client, 'viewer'))
    const { page, faults } = await visit('/console/sign-in')
    await page.getByLabel('Name').fill(person.name)
    await page.getByLabel('Password').fill(person.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await leadTo(page, '/console/account')
    await page.getByText('This session', { exact: true }).waitFor()
    await page.getByText('2 total').waitFor()
    const ends = page.getByRole('button', { name: /^End session of/ })
    expect(await ends.count()).toBe(1)
    expect(await ends.getAttribute('aria-label')).toContain(person.name)
    expect(faults).toEqual([])
  })

  longBrowserTest('shows a key the session that it is in', async () => {
    const person = await newPerson(client, 'viewer')
    await signIn(client, person)
    const visited = await visit('/console/sign-in')
    const { page } = visited
    await page.getByText('Operator key').click()
    await page.getByRole('textbox', { name: 'Operator key' }).fill(client.operatorKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await leadTo(page, '/console/account')
    await page.getByText('You signed in with an operator key').waitFor()
    await page.getByText('Last used').waitFor()
    expect(await page.getByRole('button', { name: /^End session of/ }).count()).toBe(0)
    await expectFramed(visited, 'Your account')
  })

  longBrowserTest('shows the keys that were handed over to it, though its role lists no keys', async () => {
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
})
