import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { newPerson, type Person, signIn } from '../kit/people.ts'
import { newApplication, newSerial } from '../kit/records.ts'
import { becomesTrue } from '../kit/waits.ts'
import { Hand, press, row, shows } from './hand.ts'
import { browserTest, client, expectFramed, expectSound, longBrowserTest, visit } from './support.ts'

/** Filters the table to one account, because other tests have accounts in it too. */
async function find(page: Page, name: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Name', exact: true }).first().fill(name)
  await page.getByRole('cell', { name, exact: true }).waitFor()
  // A menu that is opened before the filter has its answer is closed by it.
  await page.getByText('1 total').waitFor()
}

async function chooseHeir(page: Page, { name }: Person): Promise<void> {
  await page.getByRole('combobox', { name: 'New owner' }).fill(name)
  await page.locator('.ant-select-item-option').getByText(name).click()
}

/** Opens the menu of an account's row, and chooses an act. */
async function chooseAct(page: Page, name: string, act: string): Promise<void> {
  await page.getByRole('button', { name: `More actions for ${name}` }).click()
  await page.getByRole('menuitem', { name: act, exact: true }).click()
}

browserTest('people are edited, reset and deleted, each seen to have happened', async () => {
  const person = await newPerson(client, 'operator')
  const session = await signIn(client, person)
  const { page } = await visit('/console/people', { role: 'admin' })
  await find(page, person.name)
  await expectFramed(page, 'Accounts and keys')
  await page.getByRole('button', { name: `Edit ${person.name}` }).click()
  const form = page.getByRole('dialog')
  const name = `${person.name}-x`
  await form.getByLabel('Name').fill(name)
  await form.getByRole('radio', { name: /^Viewer/ }).check()
  await expectFramed(page, 'Accounts and keys')
  await press(form, 'Save')
  await form.waitFor({ state: 'detached' })
  expect((await client.operate('getOperator', { id: person.id })).data).toMatchObject({ name, role: 'viewer' })

  await chooseAct(page, name, 'Reset')
  await press(page.getByRole('dialog', { name: `Reset the password of ${name}?` }), 'Reset')
  const secret = page.getByRole('dialog', { name: `Setup link for ${name}` })
  await secret.getByText(`${client.url}/console/set-up#`).waitFor()
  await press(secret, 'I’ve saved it')
  expect((await client.call('getSession', {}, { headers: session })).code).toBe(10002)

  await chooseAct(page, name, 'Delete')
  const deletion = page.getByRole('dialog', { name: `Delete ${name}?` })
  const verb = deletion.getByRole('button', { name: 'Delete' })
  expect(await verb.isDisabled()).toBe(true)
  await deletion.getByRole('textbox').fill(name)
  await verb.click()
  await deletion.waitFor({ state: 'detached' })
  await page.getByText('No results match these filters.').waitFor()
  expect((await client.operate('getOperator', { id: person.id })).code).toBe(10050)
})

longBrowserTest('people leave their keys to a colleague, so that programs go on', async () => {
  const [leaver, heir] = [await newPerson(client, 'admin'), await newPerson(client, 'admin')]
  const name = newSerial('key')
  const headers = await signIn(client, leaver)
  const made = await client.call('createOperatorKey', { name, role: 'viewer' }, { headers })
  const token = String(made.data.operatorKey)
  const { page } = await visit('/console/people', { role: 'admin' })
  await find(page, leaver.name)
  await chooseAct(page, leaver.name, 'Delete')
  const dialog = page.getByRole('dialog', { name: `Delete ${leaver.name}?` })
  await dialog.getByText('Keys that you don’t reassign').waitFor()
  await dialog.getByRole('listitem').getByText(name).waitFor()
  await expectSound(page, 'Accounts and keys')
  await chooseHeir(page, heir)
  await dialog.getByText('Keys that you don’t reassign').waitFor({ state: 'detached' })
  await dialog.getByRole('textbox').last().fill(leaver.name)
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await client.operate('getOperator', { id: leaver.id })).code).toBe(10050)
  const { list } = (await client.operate('pageOperatorKeys', { operatorId: heir.id })).data
  expect(list.map((key) => key.name)).toEqual([name])
  expect((await client.call('pageApplications', {}, { token })).code).toBe(0)
})

longBrowserTest('people hand over keys when they are disabled, or afterwards, and their views too', async () => {
  const [leaver, heir] = [await newPerson(client, 'admin'), await newPerson(client, 'admin')]
  const headers = await signIn(client, leaver)
  const view = { page: 'devices', name: 'Of the leaver', query: 'status=2' } as const
  await client.call('saveView', view, { headers })
  await client.call('saveView', view, { headers: await signIn(client, heir) })
  const [given, left] = [newSerial('given'), newSerial('left')]
  const newKey = async (name: string) =>
    String((await client.call('createOperatorKey', { name, role: 'viewer' }, { headers })).data.operatorKey)
  const tokens = [await newKey(given)]
  const works = async () =>
    Promise.all(tokens.map(async (token) => (await client.call('pageApplications', {}, { token })).code === 0))
  const { page } = await visit('/console/people', { role: 'admin' })
  const form = page.getByRole('dialog')
  const disable = async () => {
    await page.getByRole('button', { name: `Edit ${leaver.name}` }).click()
    await form.getByText('Disabled', { exact: true }).click()
    await shows(form, 'This account owns 1 key.', 'Keys that you don’t reassign stop working')
  }
  await find(page, leaver.name)
  await disable()
  await form.getByRole('listitem').getByText(given).waitFor()
  await shows(form, 'This account owns 1 saved view.', 'Views that you don’t reassign stay with the account.')
  await form.getByRole('listitem').filter({ hasText: view.name }).getByText('Devices').waitFor()
  await expectSound(page, 'Accounts and keys', 'people-disabling')
  await chooseHeir(page, heir)
  await form.getByText('Keys that you don’t reassign').waitFor({ state: 'detached' })
  await form.getByRole('button', { name: 'Save' }).click()
  const own = page.getByRole('row').filter({ hasText: leaver.name })
  await own.getByText('Disabled').waitFor()
  expect((await client.call('getSession', {}, { headers })).code).toBe(10002)
  expect(await works()).toEqual([true])
  const ofHeir = await client.operate('pageOperatorKeys', { operatorId: heir.id })
  expect(ofHeir.data.list).toMatchObject([{ name: given }])

  const viewsOf = async ({ id }: { id: number }) =>
    (await client.operate('pageViews', { operatorId: id })).data.list.map(({ name }) => name).toSorted()
  expect(await viewsOf(heir)).toEqual([view.name, `${view.name} (2)`])
  // The audit trail tells of both.
  await page.goto(`${client.url}/console/events?tab=audit&subject=${leaver.id}`)
  await page.getByText('Saved views reassigned').first().click()
  await page.getByRole('dialog').getByText(`${view.name} (2)`).first().waitFor()
  await page.goto(`${client.url}/console/people?name=${leaver.name}`)

  // The account works again, and what it gets then rests with it until somebody takes it.
  await client.operate('updateOperator', { id: leaver.id, status: 1 })
  Object.assign(headers, await signIn(client, leaver))
  await client.call('saveView', view, { headers })
  tokens.push(await newKey(left))
  // The filter stands in the address.
  await page.reload()
  await own.getByText('Active').waitFor()
  await disable()
  await form.getByRole('button', { name: 'Save' }).click()
  await own.getByText('Disabled').waitFor()
  expect(await becomesTrue(async () => !(await works())[1])).toBe(true)
  expect(await viewsOf(leaver)).toEqual([view.name])
  await own.getByRole('link', { name: `Keys of ${leaver.name}` }).click()
  await page.getByText(`Showing only the keys of ${leaver.name}.`).waitFor()
  await page.getByRole('row').filter({ hasText: left }).getByText('Inactive').waitFor()
  expect(await page.getByRole('row').filter({ hasText: given }).count()).toBe(0)
  await expectFramed(page, 'Accounts and keys')
  await page.getByRole('button', { name: `Reassign ${left}` }).click()
  await chooseHeir(page, heir)
  await page.getByRole('dialog').getByRole('button', { name: 'Reassign' }).click()
  await page.getByText('No results match these filters.').waitFor()
  expect(await works()).toEqual([true, true])
})

browserTest('keys are shown once, work, and are revoked', async () => {
  const { page } = await visit('/console/people?tab=keys', { role: 'admin' })
  const name = newSerial('deploy')
  const expires = `${new Date(Date.now() + 200 * 86_400_000).toISOString().slice(0, 10)} 03:04:05`
  await page.getByRole('button', { name: 'New key' }).click()
  const form = page.getByRole('dialog')
  await form.getByLabel('Name').fill(name)
  await form.getByRole('radio', { name: /^Viewer/ }).check()
  await form.getByLabel('Expires').fill(expires)
  await page.keyboard.press('Enter')
  await expectFramed(page, 'Accounts and keys')
  await form.getByRole('button', { name: 'Create' }).click()
  const secret = page.getByRole('dialog', { name: `Key ${name}` })
  await secret.waitFor()
  const key = await secret.locator('.mono').innerText()
  await secret.getByRole('button', { name: 'I’ve saved it' }).click()
  await row(page, new RegExp(name)).getByText(expires).waitFor()
  const asKey = () => client.call('getSession', {}, { token: key.trim() })
  expect((await asKey()).data).toMatchObject({ name, role: 'viewer' })
  await expectSound(page, 'Accounts and keys')
  await page.getByRole('button', { name: `Revoke ${name}` }).click()
  const revoking = page.getByRole('dialog', { name: `Revoke key ${name}?` })
  await revoking.getByRole('textbox').fill(name)
  await press(revoking, 'Revoke')
  await page.getByRole('cell', { name, exact: true }).waitFor({ state: 'detached' })
  expect((await asKey()).code).toBe(10002)
})

browserTest('a new account gets the applications that were chosen, also if Tab leaves their list', async () => {
  const name = newSerial('Tabbed')
  const { appId } = await newApplication(client, { appName: name })
  const { page } = await visit('/console/people', { role: 'admin' })
  await press(page, 'New account')
  const form = page.getByRole('dialog')
  await form.getByLabel('Name').fill(name)
  await form.getByRole('radio', { name: /^Developer/ }).check()
  const applications = form.getByRole('combobox', { name: 'Applications' })
  await new Hand(page).find(applications, name)
  await applications.press('Tab')
  await press(form, 'Create')
  await page.getByRole('dialog', { name: `Setup link for ${name}` }).waitFor()
  expect((await client.operate('pageOperators', { name })).data.list).toMatchObject([{ name, appIds: [appId] }])
})
