import { describe, expect } from 'bun:test'
import { codeOf, cookieOf, earlyInStep, newPassword, startedSecret } from '../kit/people.ts'
import { newSerial } from '../kit/records.ts'
import { browserTest, client, expectSoundInBothShades, visit } from './support.ts'

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
const types = ['created', 'setUp', 'passwordChanged', 'updated']
  .map((verb) => `operator.${verb}`)
  .join(',')
  .concat(',secondFactor.added')

describe('the audit trail', () => {
  browserTest('says what was changed of an account, and nothing that its owner did', async () => {
    const { id } = await changedAccount()
    const visited = await visit(`/console/events?tab=audit&subject=${id}&type=${types}`, { role: 'admin' })
    const { page } = visited
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
    await expectSoundInBothShades(visited, 'Events', 'audit-account')
    const drawer = page.getByRole('dialog')
    await page
      .getByRole('button', { name: /^Account updated, / })
      .first()
      .click()
    await drawer.getByRole('listitem').first().waitFor()
    expect(await drawer.getByRole('listitem').allInnerTexts()).toEqual(['account active → disabled'])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Password changed, / }).click()
    await drawer.getByText('changed by its owner; other sessions ended').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Second factor set up, / }).click()
    await drawer.getByRole('listitem').filter({ hasText: 'second factor' }).getByText('authenticator app').waitFor()
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Export' }).click()
    const file = await page.getByRole('link', { name: /^CSV/ }).getAttribute('href')
    const { searchParams } = new URL(String(file), client.url)
    expect([searchParams.get('kind'), searchParams.get('subject')]).toEqual(['audit', String(id)])
    const answer = await fetch(`${client.url}${file}`, { headers: visited.headers })
    expect((await answer.text()).split('\r\n')).toHaveLength(8)
  })
})
