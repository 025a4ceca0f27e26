import { expect } from 'bun:test'
import { browserTest, client, expectSound, visit } from './support.ts'

browserTest('regions are added, ended and deleted', async () => {
  const code = '360189'
  const { page } = await visit(`/console/regions?code=${code}`, { role: 'operator' })
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'Add region' }).click()
  await dialog.getByLabel('Code', { exact: true }).fill('36018')
  await dialog.getByLabel('Name').fill('新城区')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Must be six digits, not beginning with 0.').waitFor()
  await dialog.getByLabel('Code', { exact: true }).fill(code)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /新城区.*Current/ }).waitFor()
  await expectSound(page, 'Regions')
  await page.getByRole('button', { name: `Edit ${code}` }).click()
  await dialog.getByLabel('This region has ended').check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('row', { name: /新城区.*Ended/ }).waitFor()
  expect((await client.operate('getRegion', { code })).data.name).toBe('新城区')
  await page.getByRole('button', { name: `Delete ${code}` }).click()
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('row', { name: /新城区/ }).waitFor({ state: 'detached' })
  expect((await client.operate('pageRegions', { code })).data.list).toEqual([])
})
