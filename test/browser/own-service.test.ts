import { afterAll, describe, expect } from 'bun:test'
import { getDevice } from '../../src/devices/contract.ts'
import { Client, newApplication, type Service, startService } from '../harness.ts'
import { newPassword } from '../people.ts'
import { browserTest, newSerial, visit } from './support.ts'

// What the service that the tests share cannot show: another policy, and an only admin.

const services: Service[] = []
afterAll(() => Promise.all(services.map((service) => service.stop())))

async function startOwn(env: Record<string, string>): Promise<Service> {
  const service = await startService({ env })
  services.push(service)
  return service
}

describe('a service of its own', () => {
  browserTest('that wants serials in its inventory says so, and explains the refusal of one that is not', async () => {
    const through = new Client(await startOwn({ FORECOURT_INVENTORY_POLICY: 'required' }))
    const { appId } = await newApplication(through)
    const { page, faults } = await visit(`/console/devices/new?appId=${appId}`, { role: 'operator', through })
    const deviceNo = newSerial()
    await page.getByLabel('Serial number').fill(deviceNo)
    await page.getByLabel('Name', { exact: true }).fill('South gate')
    await page.getByLabel('Coordinates').fill('115.899918,28.676493')
    await page.getByLabel('District code').fill('360102')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('alert').getByText('Code 20014').waitFor()
    expect(await page.getByLabel('Serial number').inputValue()).toBe(deviceNo)
    expect((await through.operate(getDevice, { appId, deviceNo })).code).toBe(20002)
    await page.goto(`${through.url}/console/models?tab=inventory`)
    await page.getByText('any other is refused with code 20014').waitFor()
    expect(faults).toEqual([])
  })

  browserTest('keeps its only admin, who set the account up by the link of the first start', async () => {
    const service = await startOwn({ FORECOURT_OPERATOR_KEY: '' })
    const link = /(\/console\/set-up#\S+)/.exec(service.stdout())?.[1] ?? ''
    const { page, faults } = await visit(link, { through: new Client(service) })
    const [name, password] = [newSerial('only'), newPassword()]
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('New password').fill(password)
    await page.getByLabel('The same again').fill(password)
    await page.getByRole('button', { name: 'Set up and sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.goto(`${service.url}/console/people`)
    await page.getByRole('button', { name: `Edit ${name}` }).click()
    const form = page.getByRole('dialog')
    await form.getByText('Disabled', { exact: true }).click()
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Code 10054').waitFor()
    await form.getByText('Make another admin who can sign in, then try again.').waitFor()
    // Still an admin, and still signed in.
    await page.goto(`${service.url}/console/people`)
    await page.getByRole('row').filter({ hasText: name }).getByText('Active').waitFor()
    expect(faults).toEqual([])
  })
})
