import { newApplication } from '../harness.ts'
import { browserTest, client, expectFramed, expectSound, narrow, picture, visit } from './support.ts'

browserTest('the API reference lists the operations, and tries one with a token, and fits a phone', async () => {
  const app = await newApplication(client)
  // Whoever makes a link decides nothing of what the page reads.
  const elsewhere = encodeURIComponent('http://127.0.0.1:1/openapi.json')
  const visited = await visit(`/docs?url=${elsewhere}&configUrl=${elsewhere}#/siteManageThird/pageSites`)
  const { page } = visited
  await page.getByRole('heading', { level: 1, name: 'API reference' }).waitFor()
  const operation = page.locator('#operations-siteManageThird-pageSites')
  await operation.waitFor()
  await picture(page, 'reference')
  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.locator('#auth-bearer-value').fill(app.token)
  await page.getByRole('button', { name: 'Apply credentials' }).first().click()
  await page.getByRole('button', { name: 'Close' }).first().click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.getByRole('button', { name: 'Execute' }).click()
  await operation.getByText('"totalIsExact": true').first().waitFor()
  await expectSound(visited, 'API reference')
  await page.setViewportSize(narrow)
  await expectFramed(visited, 'API reference')
  await picture(page, 'reference-phone')
})
