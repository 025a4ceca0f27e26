import { expect } from 'bun:test'
import { newPassword, newPerson } from '../kit/people.ts'
import { newSerial } from '../kit/records.ts'
import { enterByPassword, setUp } from './hand.ts'
import { browserTest, client, expectSound, visit } from './support.ts'

browserTest('sign-in leads a person to the page that they wanted, and out again', async () => {
  const person = await newPerson(client, 'admin')
  const { page } = await visit('/console/sites')
  // Requested before the page's script was loaded, and refused: nobody was signed in yet.
  const early = '/siteManageThird/page?pageSize=20'
  await expectSound(page, 'Sign in', 'sign-in')
  // This service has no provider and no public address: nothing else is offered.
  expect(await page.getByRole('button', { name: /passkey|sign-on/i }).count()).toBe(0)
  await enterByPassword(page, { ...person, password: 'not the password' })
  await page.getByRole('alert').getByText('Error 10031').waitFor()
  // The entered name is still in the form.
  expect(await page.getByLabel('Name').inputValue()).toBe(person.name)
  await page.getByLabel('Password').fill(person.password)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL('**/console/sites')
  // A menu that opens before the page is complete may be placed wrongly.
  await page.getByRole('heading', { level: 1, name: 'Sites' }).waitFor()
  await page.waitForLoadState('networkidle')
  const times = (end: string) => asked.filter((url) => url.endsWith(end)).length
  expect([times(early), times('/session/detail')]).toEqual([1, 1])
  await page.getByRole('button', { name: 'Your account' }).click()
  await page.getByText('Sign out').click()
  await page.waitForURL('**/console/sign-in')
  await page.goto(`${client.url}/console/sites`)
  await page.waitForURL('**/console/sign-in')
})

browserTest('sign-in sets up an account by its one-time link, once', async () => {
  const name = newSerial('person')
  const made = await client.operate('createOperator', { name, role: 'viewer' })
  const { page } = await visit(String(made.data.setUpPath))
  await expectSound(page, 'Set up your account')
  const password = newPassword()
  await setUp(page, password, `${password}x`)
  await page.getByText('The passwords don’t match.').waitFor()
  await setUp(page, password)
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  const again = await visit(String(made.data.setUpPath))
  await setUp(again.page, password)
  await again.page.getByRole('alert').getByText('Error 10052').waitFor()
})
