import { expect } from 'bun:test'
import { newPerson, signIn } from '../kit/people.ts'
import { deviceBody, newApplication, newSerial, type TestApplication, takeOffline } from '../kit/records.ts'
import { Hand, shows } from './hand.ts'
import { newDevice, newRule } from './records.ts'
import { browserTest, client, expectFramed, expectSound, leadTo, longBrowserTest, visit } from './support.ts'

/** The limits for common tasks, starting from any page: the number of clicks, and of fields that are typed into. */
const tasks = {
  'find a device by a part of its serial number, its application unknown': { clicks: 1, fields: 1 },
  'see every faulty device': { clicks: 2, fields: 0 },
  'read why a device was refused': { clicks: 1, fields: 1 },
  'freeze an application': { clicks: 4, fields: 2 },
  'undo that': { clicks: 2, fields: 0 },
  'move 50 devices of two applications': { clicks: 6, fields: 3 },
  'give a colleague an account, with an application': { clicks: 6, fields: 2 },
  'see who changed the prices of a billing rule, from what to what': { clicks: 4, fields: 1 },
}

/** Counts the clicks and fields of each task. */
class TaskHand extends Hand {
  /** Compares the clicks and fields since the last task with the limits of this task. */
  done(task: keyof typeof tasks): void {
    const { clicks, fields } = this
    expect({ task, clicks, fields }).toEqual({ task, ...tasks[task] })
    Object.assign(this, { clicks: 0, fields: 0 })
  }
}

/** Opens the page that loads fastest, because a task may begin on any page. */
async function begin(role: 'admin' | 'operator' | 'viewer') {
  const { page } = await visit('/console/account', { role })
  return { page, hand: new TaskHand(page) }
}

async function newPair(name: string): Promise<[TestApplication, TestApplication]> {
  const make = (part: string) => newApplication(client, { appName: `${name} ${part}` })
  return [await make('one'), await make('two')]
}

longBrowserTest('devices are found by a part of their serial, and the faulty ones from the overview', async () => {
  const name = newSerial('Across')
  const [one, two] = await newPair(name)
  for (const app of [one, two]) await newDevice(app, { deviceNo: `${name}-${app.appId}` })
  await client.call('reportDeviceState', { deviceNo: `${name}-${two.appId}`, status: 2 }, { token: two.token })
  const { page, hand } = await begin('viewer')
  await hand.go('Devices')
  await hand.type(page.getByLabel('Serial number'), name.slice(2).toLowerCase())
  await page.getByText('2 total').waitFor()
  await page.getByRole('link', { name: `${name} one` }).waitFor()
  hand.done('find a device by a part of its serial number, its application unknown')
  await expectSound(page, 'Devices')

  await hand.go('Overview')
  await hand.click(page.getByRole('link', { name: 'Faulty' }))
  await page.waitForURL('**/console/devices?status=2')
  hand.done('see every faulty device')
  await page.getByLabel('Serial number').fill(name)
  await page.getByText('1 total').waitFor()
  await page.getByRole('cell', { name: `${name}-${two.appId}` }).waitFor()
  // The application is one filter among others. With this filter, the column of applications would repeat one name,
  // so it is hidden.
  await leadTo(page, `/console/devices?deviceNo=${name}&appId=${one.appId}`)
  await page.getByRole('cell', { name: `${name}-${one.appId}` }).waitFor()
  expect(await page.getByRole('columnheader', { name: 'Application' }).count()).toBe(0)
})

browserTest('why a device was refused is found by its serial, the application unknown', async () => {
  const app = await newApplication(client, { appName: newSerial('Refused') })
  await takeOffline(client, app.appId)
  const deviceNo = newSerial('REFUSED')
  for (const members of [{}, { deviceName: '', coordinates: '28.6,115.8' }]) {
    expect((await client.call('createDevice', deviceBody(app.appId, { deviceNo, ...members }), app)).code).not.toBe(0)
  }
  const { page, hand } = await begin('viewer')
  await hand.go('Refused requests')
  await hand.type(page.getByLabel('Serial number'), deviceNo.slice(3).toLowerCase())
  // The page may show two refusals before it is filtered, too.
  await page.waitForFunction((serial) => {
    const rows = [...document.querySelectorAll('tbody tr')]
    return rows.length === 2 && rows.every((row) => row.textContent?.includes(serial))
  }, deviceNo)
  await page.getByText('2 total').waitFor()
  await shows(page, 'The application is offline, so it cannot create devices.', 'it looks like latitude,longitude')
  hand.done('read why a device was refused')
  await expectSound(page, 'Refused requests')
  await page.getByRole('button', { name: 'Export' }).click()
  const file = await page.getByRole('link', { name: /^CSV/ }).getAttribute('href')
  expect(file).toContain(`kind=refusals&format=csv&deviceNo=${deviceNo.slice(3).toLowerCase()}`)
})

longBrowserTest('an application is frozen, with its reason, and unfrozen', async () => {
  const name = newSerial('Frozen')
  const { appId } = await newApplication(client, { appName: name })
  const { page, hand } = await begin('operator')
  const [main, dialog] = [page.getByRole('main'), page.getByRole('dialog')]
  const state = async () => (await client.operate('getApplication', { appId })).data
  await hand.go('Applications')
  await hand.type(page.getByLabel('Name', { exact: true }), name)
  await page.getByText('1 total').waitFor()
  await hand.click(page.getByRole('link', { name }))
  await hand.press('Freeze', main)
  expect(await dialog.getByRole('button', { name: 'Freeze' }).isDisabled()).toBe(true)
  await hand.type(dialog.getByLabel('Reason'), 'The contract has ended')
  await hand.press('Freeze', dialog)
  await main.getByText('The contract has ended').waitFor()
  hand.done('freeze an application')
  expect(await state()).toMatchObject({ status: 2, frozenReason: 'The contract has ended' })
  await expectFramed(page, name)
  await hand.press('Unfreeze', main)
  await hand.press('Unfreeze', dialog)
  await main.getByRole('button', { name: 'Freeze', exact: true }).waitFor()
  hand.done('undo that')
  expect((await state()).status).toBe(1)
})

longBrowserTest('devices are moved and unbound, fifty at once, with one reason and an outcome each', async () => {
  const name = newSerial('Several')
  const [one, two] = await newPair(name)
  const goal = await newApplication(client, { appName: `${name} target` })
  for (const { appId, token } of [one, two]) {
    const { appId: _, ...row } = deviceBody(appId)
    const devices = Array.from({ length: 25 }, (_, index) => ({ ...row, deviceNo: `${name}-${appId}-${index}` }))
    await client.call('createDevices', { appId, devices }, { token })
  }
  const [taken, moved] = [one, two].map(({ appId }) => `${name}-${appId}-7`)
  const { page, hand } = await begin('operator')
  await hand.go('Devices')
  await hand.type(page.getByLabel('Serial number'), name)
  await page.getByText('50 total').waitFor()
  await hand.choose(page.getByRole('combobox', { name: 'Rows per page' }), '50 per page')
  await page.getByRole('row').nth(50).waitFor()
  await hand.click(page.getByRole('checkbox', { name: 'Select all' }))
  await hand.press('Transfer 50')
  const transfer = page.getByRole('dialog', { name: /^Transfer/ })
  await hand.find(transfer.getByRole('combobox', { name: 'Application' }), `${name} target`)
  const verb = transfer.getByRole('button', { name: 'Transfer' })
  expect(await verb.isDisabled()).toBe(true)
  await hand.type(transfer.getByLabel('Reason'), 'One landlord')
  // Another person has transferred one of the devices meanwhile.
  await client.operate('transferDevice', { deviceNo: taken, targetAppId: goal.appId, reason: 'earlier' })
  await hand.click(verb)
  await transfer.getByText('49 of 50 done.').waitFor()
  hand.done('move 50 devices of two applications')
  await transfer.getByText('20017').waitFor()
  await expectFramed(page, 'Devices')
  await transfer.getByRole('button', { name: 'Close' }).last().click()
  await transfer.waitFor({ state: 'detached' })
  const history = await client.operate('getDeviceHistory', { deviceNo: moved })
  expect(history.data.list.map(({ appId, reason }) => [appId, reason])).toEqual([
    [goal.appId, null],
    [two.appId, 'One landlord'],
  ])

  await page.getByRole('checkbox', { name: 'Select all' }).check()
  await page.getByRole('button', { name: 'Unbind 50' }).click()
  const unbind = page.getByRole('dialog', { name: /^Unbind/ })
  await unbind.getByRole('button', { name: 'Unbind' }).click()
  await unbind.getByText('50 of 50 done.').waitFor()
  await unbind.getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('No results match these filters.').waitFor()
})

longBrowserTest('a colleague gets an account by a one-time link, with the applications of a developer', async () => {
  const appName = newSerial('parking')
  const { appId } = await newApplication(client, { appName })
  const { page, hand } = await begin('admin')
  const name = newSerial('dev')
  await hand.go('Accounts and keys')
  await hand.press('New account')
  const form = page.getByRole('dialog')
  await form.getByText('Sees everything on the platform and in all applications, and changes nothing.').waitFor()
  await form.getByRole('button', { name: 'Create' }).click()
  await form.getByText('Required.').waitFor()
  await hand.type(form.getByLabel('Name'), name)
  await hand.click(form.getByRole('radio', { name: /^Developer/ }))
  await hand.find(form.getByRole('combobox', { name: 'Applications' }), appName)
  // The open list would cover the controls below it.
  await hand.click(form.locator('.dialog-title'))
  await expectSound(page, 'Accounts and keys')
  await hand.press('Create', form)
  const secret = page.getByRole('dialog', { name: `Setup link for ${name}` })
  await secret.waitFor()
  await secret.getByText(`${client.url}/console/set-up#`).waitFor()
  await hand.press('I’ve saved it', secret)
  await secret.waitFor({ state: 'detached' })
  hand.done('give a colleague an account, with an application')
  const [account] = (await client.operate('pageOperators', { name })).data.list
  expect(account).toMatchObject({ role: 'developer', isSetUp: false, appIds: [appId] })
  await page.getByRole('textbox', { name: 'Name', exact: true }).first().fill(name)
  await page.getByRole('row').filter({ hasText: name }).getByText('Not set up').waitFor()
  await page.getByRole('link', { name: appName }).waitFor()
})

longBrowserTest('who changed the prices of a billing rule is told, price by price', async () => {
  const name = newSerial('Prices')
  const [one, two] = await newPair(name)
  await newRule(two, 1, name)
  const id = await newRule(one, 1, name)
  const person = await newPerson(client, 'operator')
  const periods = [{ startTime: '00:00:00', electricityPrice: '0.7', servicePrice: '0.4' }]
  await client.call('updateBillingRule', { appId: one.appId, id, periods }, { headers: await signIn(client, person) })
  const { page, hand } = await begin('viewer')
  await hand.go('Billing rules')
  await hand.type(page.getByLabel('Name', { exact: true }), name)
  await page.getByText('2 total').waitFor()
  await page.getByRole('link', { name: `${name} two` }).waitFor()
  await hand.click(page.getByRole('row', { name: `${name} one` }).getByRole('link', { name, exact: true }))
  await hand.click(page.getByRole('link', { name: 'History' }))
  await hand.click(page.getByRole('button', { name: /^Billing rule updated, / }))
  const drawer = page.getByRole('dialog')
  await drawer.getByText(`operator:${person.name}`).waitFor()
  await drawer.getByText('00:00 electricity price 0.6 → 0.7').waitFor()
  hand.done('see who changed the prices of a billing rule, from what to what')
})
