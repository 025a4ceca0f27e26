import { describe, expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { createApplication, pageApplications } from '../../src/applications/contract.ts'
import { pageBillingRules, saveBillingRule } from '../../src/billing-rules/contract.ts'
import { pageActs } from '../../src/bulk/acts/contract.ts'
import { createImport, pageImports } from '../../src/bulk/contract.ts'
import { pageDeliveries } from '../../src/deliveries/contract.ts'
import { createDevice, pageDevices } from '../../src/devices/contract.ts'
import { pageDeviceModels, saveDeviceModel } from '../../src/devices/models/contract.ts'
import { pageEvents } from '../../src/events/contract.ts'
import { pageRefusals } from '../../src/events/refusal-log/contract.ts'
import { createOperator, pageOperators } from '../../src/people/operators/contract.ts'
import { pageRegions, saveRegion } from '../../src/regions/contract.ts'
import { getServiceDetail } from '../../src/service/detail/contract.ts'
import { getOverview } from '../../src/service/overview/contract.ts'
import { pageSites, saveSite } from '../../src/sites/contract.ts'
import type { Operation } from '../../src/vocabulary/operation.ts'
import { everyRole, type Role, rolesOf } from '../../src/vocabulary/roles.ts'
import { atScale } from '../faults/support.ts'
import { newApplication } from '../harness.ts'
import { browserTest, client, expectFramed, expectSoundInBothShades, leadTo, visit } from './support.ts'

// Opens every page as each role, for an application without any rows. The contracts define what a role may do.

interface PageOfConsole {
  title: string
  path: string
  reads: Operation
  /** The text that is shown for an application without rows. */
  empty?: string
  makes?: { button: string; by: Operation }
}

const pages: PageOfConsole[] = [
  { title: 'Overview', path: '', reads: getOverview },
  {
    title: 'Applications',
    path: 'applications',
    reads: pageApplications,
    makes: { button: 'New application', by: createApplication },
  },
  {
    title: 'Sites',
    path: 'sites',
    reads: pageSites,
    empty: 'No sites yet.',
    makes: { button: 'New site', by: saveSite },
  },
  {
    title: 'Devices',
    path: 'devices',
    reads: pageDevices,
    empty: 'No devices yet.',
    makes: { button: 'New device', by: createDevice },
  },
  {
    title: 'Billing rules',
    path: 'billing-rules',
    reads: pageBillingRules,
    empty: 'No billing rules yet.',
    makes: { button: 'New billing rule', by: saveBillingRule },
  },
  {
    title: 'Models and inventory',
    path: 'models',
    reads: pageDeviceModels,
    makes: { button: 'New model', by: saveDeviceModel },
  },
  {
    title: 'Regions',
    path: 'regions',
    reads: pageRegions,
    makes: { button: 'Add region', by: saveRegion },
  },
  {
    title: 'Imports',
    path: 'imports',
    reads: pageImports,
    empty: 'No imports in the last 7 days.',
    makes: { button: 'New import', by: createImport },
  },
  { title: 'Bulk actions', path: 'acts', reads: pageActs, empty: 'No bulk actions in the last 7 days.' },
  { title: 'Events', path: 'events', reads: pageEvents },
  {
    title: 'Deliveries',
    path: 'deliveries',
    reads: pageDeliveries,
    empty: 'No deliveries yet.',
  },
  { title: 'Refused requests', path: 'refusals', reads: pageRefusals, empty: 'No refused requests.' },
  {
    title: 'Accounts and keys',
    path: 'people',
    reads: pageOperators,
    makes: { button: 'New account', by: createOperator },
  },
  { title: 'Service', path: 'service', reads: getServiceDetail },
]

/** Forms open only for the roles that may submit them. */
const forms: PageOfConsole[] = [
  { path: 'sites/new', title: 'New site', reads: saveSite },
  { path: 'devices/new', title: 'New device', reads: createDevice },
  { path: 'billing-rules/new', title: 'New billing rule', reads: saveBillingRule },
  { path: 'imports/new', title: 'New import', reads: createImport },
]

/** The button or link that opens a form. */
function wayTo(page: Page, text: string) {
  const [main, name] = [page.getByRole('main'), new RegExp(`${text}$`)]
  return main.getByRole('button', { name }).or(main.getByRole('link', { name }))
}

/**
 * In the short run only the page's frame is checked here: each page's own tests check keyboard and screen reader with
 * more content.
 */
const isSound: typeof expectSoundInBothShades = atScale(expectFramed, expectSoundInBothShades)

/** The short run checks only the roles with the most and the fewest rights. */
describe.each(atScale<readonly Role[]>(['admin', 'developer'], everyRole))('the console of a role: %s', (role) => {
  browserTest('leads to every page that the role may see, with what it may do there, and to no other', async () => {
    const { appId } = await newApplication(client)
    const visited = await visit(`/console/sites?appId=${appId}`, { role, appIds: role === 'developer' ? [appId] : [] })
    const { page } = visited
    const menu = page.getByRole('navigation', { name: 'Menu' })
    await expectFramed(visited, 'Sites')
    const seen = pages.filter(({ reads }) => rolesOf(reads).includes(role))
    expect(await menu.getByRole('link').allInnerTexts()).toEqual([...seen.map(({ title }) => title), 'Docs'])
    for (const { title, empty, makes } of seen) {
      await menu.getByRole('link', { name: title }).click()
      // Accessibility does not depend on the role, so one role is enough.
      if (role === 'admin') await isSound(visited, title, `empty-${title}`)
      else await expectFramed(visited, title)
      // A role that may see all applications also sees the rows of other tests.
      if (empty !== undefined && role === 'developer') await page.getByText(empty).waitFor()
      if (makes === undefined) continue
      const mayMake = rolesOf(makes.by).includes(role)
      if (mayMake) await wayTo(page, makes.button).first().waitFor()
      else expect(await wayTo(page, makes.button).count()).toBe(0)
    }
    for (const { path, title } of [...pages, ...forms].filter(({ reads }) => !rolesOf(reads).includes(role))) {
      await leadTo(page, `/console/${path}`)
      // A role that may not see the overview is redirected to the applications.
      if (path === '') {
        await expectFramed(visited, 'Applications')
        continue
      }
      await page.getByText('Your role doesn’t have access to this.').waitFor()
      expect(await page.locator('nav.parts').count()).toBe(0)
      await expectFramed(visited, title)
    }
  })
})
