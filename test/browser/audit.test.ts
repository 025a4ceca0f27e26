import { expect } from 'bun:test'
import { codeOf, cookieOf, earlyInStep, newPassword, startedSecret } from '../kit/people.ts'
import { newSerial } from '../kit/records.ts'
import { press } from './hand.ts'
import { browserTest, client, expectSound, visit } from './support.ts'

/** An account that its owner set up, with a second factor and another password, before an admin changed it. */
async function changedAccount() {
  const name = newSerial('person')
  const made = await client.operate('createOperator', { name, role: 'viewer' })
  const [password, newer] = [newPassword(), newPassword()]
  const setUpToken = String(made.data.setUpPath).split('#')[1] ?? ''
  const headers = { cookie: cookieOf(await client.call('setUpOperator', { setUpToken, password })) }
  const secret = await startedSecret(client, headers)
  await earlyInStep()
  await client.call('saveTotp', { code: codeOf(secret) }, { headers })
  await client.call('changePassword', { password, newPassword: newer }, { headers })
  const { id } = made.data
  await client.operate('updateOperator', { id, role: 'operator' })
  await client.operate('updateOperator', { id, status: 2 })
  return { id, name }
}

/** Other records have the same id. */
const types = 'operator.created,operator.setUp,operator.passwordChanged,operator.updated,secondFactor.added'

browserTest('the audit trail says what was changed of an account, and nothing that its owner did', async () => {
  const { id } = await changedAccount()
  const { page, headers } = await visit(`/console/events?tab=audit&subject=${id}&type=${types}`, { role: 'admin' })
  const cells = page.locator('tbody tr td:nth-child(2)')
  await page.getByText('account active → disabled').waitFor()
  expect((await cells.allInnerTexts()).map((text) => text.trim().replace(/\s+/g, ' '))).toEqual([
    'Account updated account active → disabled',
    'Account updated role viewer → operator',
    'Password changed',
    'Second factor set up',
    'Account set up set up no → yes',
    'Account created',
  ])
  await expectSound(page, 'Events', 'audit-account')
  const drawer = page.getByRole('dialog')
  await cells.first().getByRole('button').click()
  await drawer.getByRole('listitem').first().waitFor()
  expect(await drawer.getByRole('listitem').allInnerTexts()).toEqual(['account active → disabled'])
  await page.keyboard.press('Escape')
  await press(page, /^Password changed, /)
  await drawer.getByText('changed by its owner; other sessions ended').waitFor()
  await page.keyboard.press('Escape')
  await press(page, /^Second factor set up, /)
  await drawer.getByRole('listitem').filter({ hasText: 'second factor' }).getByText('authenticator app').waitFor()
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Export' }).click()
  const file = await page.getByRole('link', { name: /^CSV/ }).getAttribute('href')
  const { searchParams } = new URL(String(file), client.url)
  expect([searchParams.get('kind'), searchParams.get('subject')]).toEqual(['audit', String(id)])
  const answer = await fetch(`${client.url}${file}`, { headers })
  expect((await answer.text()).split('\r\n')).toHaveLength(8)
})
