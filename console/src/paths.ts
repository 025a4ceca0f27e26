import { referenceParts } from '../docs-site/guide-names.ts'

/** The path of every page of the console. */
export const paths = {
  overview: () => '/console',
  signIn: () => '/console/sign-in',
  setUp: () => '/console/set-up',
  account: () => '/console/account',
  applications: () => '/console/applications',
  application: (appId: string, tab?: string) =>
    `/console/applications/${encodeURIComponent(appId)}${tab ? `/${tab}` : ''}`,
  sites: (query: Query = {}) => withQuery('/console/sites', query),
  newSite: (query: Query = {}) => withQuery('/console/sites/new', query),
  site: (appId: string, id: number) => `/console/sites/${encodeURIComponent(appId)}/${id}`,
  editSite: (appId: string, id: number) => `/console/sites/${encodeURIComponent(appId)}/${id}/edit`,
  devices: (query: Query = {}) => withQuery('/console/devices', query),
  newDevice: (query: Query = {}) => withQuery('/console/devices/new', query),
  device: (appId: string, deviceNo: string) =>
    `/console/devices/${encodeURIComponent(appId)}/${encodeURIComponent(deviceNo)}`,
  editDevice: (appId: string, deviceNo: string) =>
    `/console/devices/${encodeURIComponent(appId)}/${encodeURIComponent(deviceNo)}/edit`,
  billingRules: (query: Query = {}) => withQuery('/console/billing-rules', query),
  newBillingRule: (query: Query = {}) => withQuery('/console/billing-rules/new', query),
  billingRule: (appId: string, id: number) => `/console/billing-rules/${encodeURIComponent(appId)}/${id}`,
  editBillingRule: (appId: string, id: number) => `/console/billing-rules/${encodeURIComponent(appId)}/${id}/edit`,
  newPrices: (appId: string, id: number) => `/console/billing-rules/${encodeURIComponent(appId)}/${id}/prices`,
  priceChanges: (query: Query = {}) => withQuery('/console/price-changes', query),
  models: (query: Query = {}) => withQuery('/console/models', query),
  regions: (query: Query = {}) => withQuery('/console/regions', query),
  imports: (query: Query = {}) => withQuery('/console/imports', query),
  newImport: (query: Query = {}) => withQuery('/console/imports/new', query),
  import: (id: number, query: Query = {}) => withQuery(`/console/imports/${id}`, query),
  acts: (query: Query = {}) => withQuery('/console/acts', query),
  act: (id: number, query: Query = {}) => withQuery(`/console/acts/${id}`, query),
  events: (query: Query = {}) => withQuery('/console/events', query),
  deliveries: (query: Query = {}) => withQuery('/console/deliveries', query),
  refusals: (query: Query = {}) => withQuery('/console/refusals', query),
  people: (query: Query = {}) => withQuery('/console/people', query),
  service: () => '/console/service',
}

type Query = Record<string, string | number | undefined | null>

function withQuery(path: string, query: Query): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value != null && value !== '') given.append(name, String(value))
  return given.size === 0 ? path : `${path}?${given}`
}

/** The address of an operation in the API reference, which has one page for integrators and one for operators. */
export function referenceOf({ id, callers }: { id: string; callers: readonly string[] }): string {
  return `${referenceParts[callers.includes('application') ? 'integrators' : 'operators']}#${id}`
}
