import * as applications from './applications/contract.ts'
import * as billingRules from './billing-rules/contract.ts'
import * as deliveries from './deliveries/contract.ts'
import { webhooks } from './deliveries/webhook.ts'
import * as deviceInventory from './device-inventory/contract.ts'
import * as deviceModels from './device-models/contract.ts'
import * as deviceOwnership from './device-ownership/contract.ts'
import * as deviceState from './device-state/contract.ts'
import * as devices from './devices/contract.ts'
import * as events from './events/contract.ts'
import { glossary } from './glossary.ts'
import type { Api } from './http/openapi.ts'
import type { Operation } from './http/operation.ts'
import * as operators from './operators/contract.ts'
import * as overview from './overview/contract.ts'
import * as refusalLog from './refusal-log/contract.ts'
import * as regions from './regions/contract.ts'
import * as service from './service/contract.ts'
import * as sessions from './sessions/contract.ts'
import * as sites from './sites/contract.ts'
import { tagNames } from './tag-names.ts'
import * as thirdPartyConfig from './third-party-config/contract.ts'
import * as tokens from './tokens/contract.ts'

/** Every operation, in the order of the API reference. The service refuses to start when one has no handler. */
export const operations = [
  tokens.issueToken,
  tokens.revokeToken,
  tokens.getAuthorizationServer,
  sites.saveSite,
  sites.saveSites,
  sites.updateSite,
  sites.deleteSite,
  sites.getSite,
  sites.pageSites,
  billingRules.saveBillingRule,
  billingRules.updateBillingRule,
  billingRules.deleteBillingRule,
  billingRules.getBillingRule,
  billingRules.pageBillingRules,
  thirdPartyConfig.saveThirdPartyConfig,
  thirdPartyConfig.getThirdPartyConfig,
  thirdPartyConfig.rotateCallbackSecret,
  devices.createDevice,
  devices.createDevices,
  devices.updateDevice,
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
  events.pageEvents,
  events.getEvent,
  deliveries.pageDeliveries,
  deliveries.getDelivery,
  deliveries.replayDeliveries,
  deliveries.testDelivery,
  refusalLog.pageRefusals,
  regions.getRegionTree,
  regions.getRegion,
  applications.createApplication,
  applications.updateApplication,
  applications.takeApplicationOnline,
  applications.takeApplicationOffline,
  applications.freezeApplication,
  applications.unfreezeApplication,
  applications.rotateApplicationSecret,
  applications.getApplication,
  applications.pageApplications,
  deviceModels.saveDeviceModel,
  deviceModels.deleteDeviceModel,
  deviceModels.pageDeviceModels,
  deviceInventory.importDeviceInventory,
  deviceInventory.pageDeviceInventory,
  deviceInventory.deleteDeviceInventory,
  sessions.createSession,
  sessions.getSession,
  sessions.getSettings,
  sessions.pageSessions,
  sessions.deleteSession,
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
  operators.pageOperatorKeys,
  overview.getOverview,
  events.pageAudit,
  service.getHealth,
  service.getReadiness,
  service.getMetrics,
  service.getOpenApi,
] as unknown as readonly Operation[]

const description = `Charging sites and smart entrance devices of a cloud open platform.

Every answer is \`{"code":0,"msg":"success","data":…}\`; a refusal has its HTTP status, another \`code\` and no record in \`data\`. \`code\` is the contract; \`msg\` is for people, in Chinese when \`Accept-Language\` prefers it. Look at the status or the code before you read \`data\`: 10001 has \`{"errors":[…]}\` there, with every faulty member.

In bodies, an optional member that is left out, null or \`""\` is not given, and unknown members are ignored. A query member that the operation does not know is refused. In answers every member is present, and null means unknown or not given. Texts are kept as they were sent, and hold no control characters.

Applications call with an access token (\`issueToken\`), operators with an operator key. An application may leave out its own \`appId\` wherever it is not required.`

const integrators = 'For integrators'
const platform = 'For operators'
const tag = (description: string, group: string) => ({ description, group })
const devicesTag = tag(
  'Smart entrance devices: barriers and gates (“guard” in the paths). A serial number has one owner, from its creation until it is unbound.',
  integrators,
)

/** The groups of the reference, by the last folder of the operations’ paths. */
const tagTexts = {
  oauth: tag('Access tokens by OAuth 2.0 client credentials.', integrators),
  siteManageThird: tag(
    'Charging sites. A site names the billing rules of fast charging, slow charging (“rushing” in its members) and occupancy (“placeholder”).',
    integrators,
  ),
  billingRule: tag('What charging and occupancy cost: prices by the time of day, or by minutes.', integrators),
  thirdPartyConfig: tag(
    'What an application tells of its company and its callback. Without one it can create no sites.',
    integrators,
  ),
  guard: devicesTag,
  event: tag('The feed of everything that changed, in order.', integrators),
  delivery: tag('What became of each callback, and how to have it again.', integrators),
  refusal: tag('Why writes were refused in the last days.', integrators),
  region: tag('The national administrative divisions (GB/T 2260).', integrators),
  callbacks: tag(
    'What the service sends to the `callbackUrl` of the third-party configuration, signed by Standard Webhooks 1.0. A 2xx within 15 s is success. Anything else but 410 is tried again: 10 attempts over about 3 days.',
    integrators,
  ),
  application: tag('Third-party integrators and their secrets.', platform),
  deviceModel: tag('Which model a serial number belongs to, by how it begins.', platform),
  deviceInventory: tag('Serial numbers that are known beforehand, each with its model.', platform),
  device: tag('To free a serial number whoever holds it, and to move a device.', platform),
  session: tag('Who is signed in to the console.', platform),
  operator: tag('The people who run the platform, and their roles.', platform),
  operatorKey: tag('Keys for the programs of people who run the platform.', platform),
  overview: tag('The platform at a glance.', platform),
  audit: tag('Who did what, and when.', platform),
  service: tag('Probes, metrics and this description.', platform),
}

const tags = Object.fromEntries(
  Object.entries(tagTexts).map(([folder, text]) => [
    folder,
    { name: tagNames[folder as keyof typeof tagNames], ...text },
  ]),
)

/** What `openapi.json` describes. */
export const api: Api = { description, operations, tokenPath: tokens.issueToken.path, webhooks, tags, glossary }
