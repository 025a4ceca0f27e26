import { expect } from 'bun:test'
import { newSerial } from '../kit/records.ts'
import { row } from './hand.ts'
import { browserTest, client, expectSound, longBrowserTest, visit } from './support.ts'

const title = 'Models and inventory'

/** Creates a device model for one test, through the API. */
async function newModel(members: Record<string, unknown> = {}) {
  const model = { serialPrefix: newSerial('PRE'), modelName: newSerial('Gate'), ...members }
  expect((await client.operate('saveDeviceModel', model)).code).toBe(0)
  return model
}

const modelsOf = async (serialPrefix: string) =>
  (await client.operate('pageDeviceModels', { serialPrefix })).data.list.map(({ modelName }) => modelName)
const inventoryOf = async (deviceNo: string) => (await client.operate('pageDeviceInventory', { deviceNo })).data.list

const dot =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

longBrowserTest('models are created, replaced only when that was said, changed and deleted', async () => {
  const taken = await newModel({ modelName: 'Taken gate' })
  const { page } = await visit(`/console/models?serialPrefix=${taken.serialPrefix}`, { role: 'operator' })
  const dialog = page.getByRole('dialog')
  await page.getByRole('row', { name: /Taken gate/ }).waitFor()
  await page.getByRole('button', { name: 'New model' }).click()
  await dialog.getByLabel('Serial prefix').fill('has space')
  await dialog.getByLabel('Model', { exact: true }).fill('Longer gate')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('1 to 64 characters, no spaces.').waitFor()
  await dialog.getByLabel('Serial prefix').fill(taken.serialPrefix)
  await page.keyboard.press('Enter')
  await dialog.getByRole('alert').getByText('This prefix already has a model: Taken gate.').waitFor()
  expect(await modelsOf(taken.serialPrefix)).toEqual(['Taken gate'])
  const longer = `${taken.serialPrefix}-9`
  await dialog.getByLabel('Serial prefix').fill(longer)
  await dialog.getByLabel('Picture URL').fill(dot)
  await expectSound(page, title)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /Longer gate/ }).waitFor()
  await page.getByRole('img', { name: 'Picture of Longer gate' }).waitFor()
  expect(await modelsOf(taken.serialPrefix)).toEqual(['Taken gate', 'Longer gate'])
  await page.getByRole('button', { name: `Edit ${longer}` }).click()
  await dialog.getByLabel('Model', { exact: true }).fill('Longest gate')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /Longest gate/ }).waitFor()
  await page.getByRole('button', { name: `Delete ${taken.serialPrefix}`, exact: true }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('row', { name: /Taken gate/ }).waitFor({ state: 'detached' })
  expect(await modelsOf(taken.serialPrefix)).toEqual(['Longest gate'])
})

browserTest('the inventory takes what is pasted once its faults are put right, and loses an entry again', async () => {
  const { modelName } = await newModel()
  const prefix = newSerial('INV')
  const { page } = await visit(`/console/models?tab=inventory&deviceNo=${prefix}`, { role: 'operator' })
  const dialog = page.getByRole('dialog')
  await page.getByText('The inventory policy is “open”').waitFor()
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const text = dialog.getByLabel('Serial numbers and models')
  await text.fill(`deviceNo,modelName\n${prefix}-1,${modelName}\n${prefix}-1,No such model\n${prefix} 2,`)
  await dialog.getByText('Invalid rows: 2.').waitFor()
  expect(await dialog.getByRole('button', { name: 'Add (3)' }).isDisabled()).toBe(true)
  await text.fill(`deviceNo,modelName\n${prefix}-1,${modelName}\n${prefix}-2,No such model\n${prefix}-3,`)
  await dialog.getByLabel('Model for rows without one').fill(modelName)
  await dialog.getByRole('button', { name: 'Add (3)' }).click()
  await dialog.getByRole('alert').getByText('Error 10001').waitFor()
  await row(dialog, /is not the name of a device model/)
    .getByText(`${prefix}-2`)
    .waitFor()
  await expectSound(page, title)
  expect(await inventoryOf(prefix)).toEqual([])
  await text.fill(`序列号\n${prefix}-1\n${prefix}-2`)
  await dialog.getByRole('button', { name: 'Add (2)' }).click()
  await page.getByText('2 added, 0 updated.').waitFor()
  await page.getByRole('row', { name: new RegExp(`${prefix}-2`) }).waitFor()
  expect(await inventoryOf(prefix)).toHaveLength(2)
  await page.getByRole('button', { name: `Delete ${prefix}-1` }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('row', { name: new RegExp(`${prefix}-1`) }).waitFor({ state: 'detached' })
  expect((await inventoryOf(prefix)).map(({ deviceNo }) => deviceNo)).toEqual([`${prefix}-2`])
  await page.getByRole('link', { name: 'Models', exact: true }).click()
  await page.waitForURL('**/console/models')
})
