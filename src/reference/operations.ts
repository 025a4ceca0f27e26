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
import type { Operation } from '../vocabulary/operation.ts'

/** Every operation, in the order of the API reference. The service refuses to start when one has no handler. */
export const operations = [
  tokens.issueToken,
  tokens.revokeToken,
  tokens.getAuthorizationServer,
  sites.saveSite,
  sites.saveSites,
  sites.updateSite,
  sites.updateSites,
  sites.deleteSite,
  sites.getSite,
  sites.pageSites,
  sitePrices.getSitePrices,
  billingRules.saveBillingRule,
  billingRules.updateBillingRule,
  billingRules.deleteBillingRule,
  billingRules.getBillingRule,
  billingRules.pageBillingRules,
  priceChanges.schedulePriceChange,
  priceChanges.cancelPriceChange,
  priceChanges.undoPriceChange,
  priceChanges.getPriceChange,
  priceChanges.pagePriceChanges,
  thirdPartyConfig.saveThirdPartyConfig,
  thirdPartyConfig.getThirdPartyConfig,
  thirdPartyConfig.rotateCallbackSecret,
  devices.createDevice,
  devices.createDevices,
  devices.updateDevice,
  devices.updateDevices,
  devices.getDevice,
  devices.pageDevices,
  deviceState.reportDeviceState,
  deviceState.reportDeviceStates,
  deviceState.getDeviceState,
  deviceOwnership.unbindDevice,
  deviceOwnership.unbindDevices,
  deviceOwnership.getDeviceHistory,
  deviceOwnership.forceUnbindDevice,
  deviceOwnership.transferDevice,
  deviceOwnership.transferDevices,
  placements.savePlacement,
  placements.savePlacements,
  placements.removePlacement,
  placements.removePlacements,
  placements.getPlacement,
  placements.pagePlacements,
  placements.pagePlacementHistory,
  placements.summarizePlacements,
  placements.suggestPlacements,
  events.pageEvents,
  events.getEvent,
  deliveries.pageDeliveries,
  deliveries.getDelivery,
  deliveries.replayDeliveries,
  deliveries.testDelivery,
  health.getCallbackHealth,
  refusalLog.pageRefusals,
  bulk.createImport,
  bulk.getImport,
  bulk.pageImports,
  bulk.cancelImport,
  bulk.getImportResult,
  acts.createAct,
  acts.getAct,
  acts.pageActs,
  acts.cancelAct,
  acts.getActResult,
  bulk.createExport,
  bulk.getTemplate,
  regions.getRegionTree,
  regions.getRegion,
  applications.createApplication,
  applications.updateApplication,
  applications.takeApplicationOnline,
  applications.takeApplicationOffline,
  applications.freezeApplication,
  applications.unfreezeApplication,
  applications.rotateApplicationSecret,
  applications.endPreviousApplicationSecret,
  applications.getApplication,
  applications.pageApplications,
  deviceModels.saveDeviceModel,
  deviceModels.deleteDeviceModel,
  deviceModels.pageDeviceModels,
  deviceInventory.importDeviceInventory,
  deviceInventory.pageDeviceInventory,
  deviceInventory.deleteDeviceInventory,
  sessions.createSession,
  sessions.startPasskeySession,
  sessions.getSession,
  sessions.confirmSession,
  sessions.getSettings,
  sessions.pageSessions,
  sessions.deleteSession,
  signOn.getSignOn,
  signOn.startSignOn,
  signOn.finishSignOn,
  signOn.logOutByProvider,
  signOn.unlinkSignOn,
  secondFactor.getSecondFactors,
  secondFactor.startTotp,
  secondFactor.saveTotp,
  secondFactor.deleteTotp,
  secondFactor.startPasskey,
  secondFactor.savePasskey,
  secondFactor.deletePasskey,
  secondFactor.renewRecoveryCodes,
  secondFactor.resetSecondFactors,
  operators.createOperator,
  operators.updateOperator,
  operators.deleteOperator,
  operators.resetOperator,
  operators.setUpOperator,
  operators.changePassword,
  operators.getOperator,
  operators.pageOperators,
  operators.createOperatorKey,
  operators.deleteOperatorKey,
  operators.handOverOperatorKey,
  operators.pageOperatorKeys,
  operators.pageOwnOperatorKeys,
  views.saveView,
  views.pageViews,
  views.deleteView,
  overview.getOverview,
  search.search,
  events.pageAudit,
  service.getHealth,
  service.getReadiness,
  service.getMetrics,
  service.getOpenApi,
  serviceDetail.getServiceDetail,
] as unknown as readonly Operation[]
