import * as applications from '../applications/contract.ts'
import * as thirdPartyConfig from '../applications/third-party-config/contract.ts'
import * as tokens from '../applications/tokens/contract.ts'
import * as billingRules from '../billing-rules/contract.ts'
import * as acts from '../bulk/acts/contract.ts'
import * as bulk from '../bulk/contract.ts'
import * as deliveries from '../deliveries/contract.ts'
import * as health from '../deliveries/health/contract.ts'
import * as devices from '../devices/contract.ts'
import * as deviceInventory from '../devices/inventory/contract.ts'
import * as deviceModels from '../devices/models/contract.ts'
import * as deviceOwnership from '../devices/ownership/contract.ts'
import * as placements from '../devices/placement/contract.ts'
import * as deviceState from '../devices/state/contract.ts'
import * as events from '../events/contract.ts'
import * as refusalLog from '../events/refusal-log/contract.ts'
import * as operators from '../people/operators/contract.ts'
import * as secondFactor from '../people/second-factor/contract.ts'
import * as sessions from '../people/sessions/contract.ts'
import * as signOn from '../people/sign-on/contract.ts'
import * as views from '../people/views/contract.ts'
import * as regions from '../regions/contract.ts'
import * as service from '../service/contract.ts'
import * as serviceDetail from '../service/detail/contract.ts'
import * as overview from '../service/overview/contract.ts'
import * as search from '../service/search/contract.ts'
import * as sites from '../sites/contract.ts'
import * as priceChanges from '../sites/price-changes/contract.ts'
import * as sitePrices from '../sites/prices/contract.ts'
import { declaredOperations } from '../vocabulary/operation.ts'

export const contracts = [
  tokens,
  sites,
  sitePrices,
  billingRules,
  priceChanges,
  thirdPartyConfig,
  devices,
  deviceState,
  deviceOwnership,
  placements,
  events,
  deliveries,
  health,
  refusalLog,
  bulk,
  acts,
  regions,
  applications,
  deviceModels,
  deviceInventory,
  sessions,
  signOn,
  secondFactor,
  operators,
  views,
  overview,
  search,
  service,
  serviceDetail,
]

/** In the order of their declarations. The service refuses to start if one has no handler. */
export const operations = contracts.flatMap((contract) => {
  const exported = new Set<unknown>(Object.values(contract))
  return declaredOperations.filter((one) => exported.has(one))
})
