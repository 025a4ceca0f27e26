import { describe, expect } from 'bun:test'
import { createSession, getSession } from '../../src/people/sessions/contract.ts'
import { newPassword, newPerson, signIn } from '../people.ts'
import {
  browserTest,
  client,
  expectFramed,
  expectSoundInBothShades,
  leadTo,
  longBrowserTest,
  narrow,
  visit,
} from './support.ts'

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
    expect((await client.call(getSession, {}, { headers: elsewhere })).code).toBe(10002)

    await page.getByLabel('Current password').fill(person.password)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password changed. Your other sessions were signed out.').waitFor()
    expect((await client.call(createSession, { name: person.name, password: newer })).code).toBe(0)
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
    await page.getByText('You are signed in with an operator key').waitFor()
    await page.getByText('Last used').waitFor()
    expect(await page.getByRole('button', { name: /^End session of/ }).count()).toBe(0)
    await expectFramed(visited, 'Your account')
  })

  longBrowserTest('fits a phone, in Chinese, for a developer', async () => {
    const visited = await visit('/console/account', {
      role: 'developer',
      language: 'zh',
      viewport: narrow,
      isDark: true,
    })
    await visited.page.getByText('当前会话').waitFor()
    await expectFramed(visited, '我的账号')
  })
})
