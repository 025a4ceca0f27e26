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
import { newApplication } from '../kit/records.ts'
import { atScale } from '../kit/scale.ts'
import { browserTest, client, expectFramed, expectSound, leadTo, visit } from './support.ts'

// Opens every page as each role, for an application without any rows. The contracts define what a role may do.

interface PageOfConsole {
  title: string
  path: string
  reads: Operation
  /** The text that is shown for an application without rows. */
  empty?: string
  makes?: { button: string; by: Operation }
}

const entry = (title: string, path: string, reads: Operation, more: Partial<PageOfConsole> = {}): PageOfConsole => ({
  ...{ title, path, reads },
  ...more,
})
const offering = (button: string, by: Operation) => ({ makes: { button, by } })

const pages = [
  entry('Overview', '', getOverview),
  entry('Applications', 'applications', pageApplications, offering('New application', createApplication)),
  entry('Sites', 'sites', pageSites, { empty: 'No sites yet.', ...offering('New site', saveSite) }),
  entry('Devices', 'devices', pageDevices, { empty: 'No devices yet.', ...offering('New device', createDevice) }),
  entry('Billing rules', 'billing-rules', pageBillingRules, {
    empty: 'No billing rules yet.',
    ...offering('New billing rule', saveBillingRule),
  }),
  entry('Models and inventory', 'models', pageDeviceModels, offering('New model', saveDeviceModel)),
  entry('Regions', 'regions', pageRegions, offering('Add region', saveRegion)),
  entry('Imports', 'imports', pageImports, {
    empty: 'No imports in the last 7 days.',
    ...offering('New import', createImport),
  }),
  entry('Bulk actions', 'acts', pageActs, {
    empty: 'No bulk actions in the last 7 days. What is done to selected rows is in Events.',
  }),
  entry('Events', 'events', pageEvents),
  entry('Deliveries', 'deliveries', pageDeliveries, { empty: 'No deliveries yet.' }),
  entry('Refused requests', 'refusals', pageRefusals, { empty: 'No refused requests.' }),
  entry('Accounts and keys', 'people', pageOperators, offering('New account', createOperator)),
  entry('Service', 'service', getServiceDetail),
]

/** Forms open only for the roles that may submit them. */
const forms = [
  entry('New site', 'sites/new', saveSite),
  entry('New device', 'devices/new', createDevice),
  entry('New billing rule', 'billing-rules/new', saveBillingRule),
  entry('New import', 'imports/new', createImport),
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
const isSound: typeof expectSound = atScale(expectFramed, expectSound)

/** The short run checks only the roles with the most and the fewest rights. */
describe.each(atScale<readonly Role[]>(['admin', 'developer'], everyRole))('the console of a role: %s', (role) => {
  browserTest('leads to every page that the role may see, with what it may do there, and to no other', async () => {
    const { appId } = await newApplication(client)
    const { page } = await visit(`/console/sites?appId=${appId}`, { role, appIds: role === 'developer' ? [appId] : [] })
    const menu = page.getByRole('navigation', { name: 'Menu' })
    await expectFramed(page, 'Sites')
    const seen = pages.filter(({ reads }) => rolesOf(reads).includes(role))
    expect(await menu.getByRole('link').allInnerTexts()).toEqual([...seen.map(({ title }) => title), 'Docs'])
    for (const { title, empty, makes } of seen) {
      await menu.getByRole('link', { name: title }).click()
      // Accessibility does not depend on the role, so one role is enough.
      if (role === 'admin') await isSound(page, title, `empty-${title}`)
      else await expectFramed(page, title)
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
        await expectFramed(page, 'Applications')
        continue
      }
      await page.getByText('Your role doesn’t have access to this.').waitFor()
      expect(await page.locator('nav.parts').count()).toBe(0)
      await expectFramed(page, title)
    }
  })
})
