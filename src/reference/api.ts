import { issueToken } from '../applications/tokens/contract.ts'
import { glossary } from './glossary.ts'
import type { Api } from './openapi.ts'
import { operations } from './operations.ts'
import { webhooks } from './webhooks.ts'

const description = `Charging sites and smart entrance devices of a cloud open platform.

Every answer is \`{"code":0,"msg":"success","data":…}\`; a refusal has its HTTP status, another \`code\` and no record in \`data\`. \`code\` is the contract; \`msg\` is for people, in Chinese when \`Accept-Language\` prefers it. Check the status or the code before you read \`data\`: 10001 has \`{"errors":[…]}\` there, with every faulty member.

In bodies, an optional member that is left out, null or \`""\` is not given, and unknown members are ignored. A query member that the operation does not know is refused. In answers every member is present, and null means unknown or not given. Texts are kept as they were sent, and hold no control characters.

Applications call with an access token (\`issueToken\`), operators with an operator key. An application may leave out its own \`appId\` wherever it is not required.`

const integrators = 'For integrators'
const platform = 'For operators'
const tag = (name: string, description: string, group: string) => ({ name, description, group })

const tags = {
  tokens: tag('Tokens', 'Access tokens by OAuth 2.0 client credentials.', integrators),
  sites: tag(
    'Sites',
    'Charging sites. A site has billing rules for fast charging, slow charging (“rushing” in field names) and occupancy (“placeholder”).',
    integrators,
  ),
  billingRules: tag(
    'Billing rules',
    'The prices of charging and occupancy: by the time of day, or by minutes.',
    integrators,
  ),
  priceChanges: tag(
    'Price changes',
    'Price changes that take effect at a scheduled time: new pricing for a billing rule, or other rules for sites.',
    integrators,
  ),
  thirdPartyConfig: tag(
    'Third-party configuration',
    'An application’s configuration: its operating company and its callback. Without one it can create no sites.',
    integrators,
  ),
  devices: tag(
    'Devices',
    'Smart entrance devices: barriers and gates (“guard” in the paths). A serial number has one owner, from the creation of the device until it is unbound.',
    integrators,
  ),
  placements: tag(
    'Placements',
    'Which devices are at which site, in which lane and since when. A device can be at one site only.',
    integrators,
  ),
  events: tag('Events', 'The event feed of an application: all changes, in order.', integrators),
  deliveries: tag(
    'Deliveries',
    'The result of each callback delivery, and operations to replay deliveries.',
    integrators,
  ),
  refusals: tag('Refusals', 'Write requests that were refused in the last few days, with the reason.', integrators),
  bulk: tag('Bulk', 'Imports, exports and bulk actions. Imports and bulk actions run in the background.', integrators),
  regions: tag('Regions', 'National regions: provinces, cities and districts (GB/T 2260).', integrators),
  callbacks: tag(
    'Callbacks',
    'What the service sends to the `callbackUrl` of the third-party configuration, signed by Standard Webhooks 1.0. A 2xx response within 15 s is a success. Everything else except 410 is retried: up to 10 attempts over about 3 days.',
    integrators,
  ),
  applications: tag('Applications', 'The applications of third-party integrators, and their secrets.', platform),
  deviceModels: tag('Device models', 'Device models and their serial prefixes.', platform),
  deviceInventory: tag(
    'Device inventory',
    'Serial numbers that are known before their devices are created, with their models.',
    platform,
  ),
  savedRegions: tag(
    'Saved regions',
    'Regions that are newer than the built-in table, have another name there, or have ended.',
    platform,
  ),
  deviceOwnership: tag('Device ownership', 'For platform operators: force-unbind or transfer any device.', platform),
  sessions: tag('Sessions', 'Console sessions.', platform),
  signOn: tag('Single sign-on', 'Single sign-on with an OpenID Connect identity provider.', platform),
  secondFactors: tag('Second factors', 'Authenticator apps, passkeys and recovery codes.', platform),
  operators: tag('Operators', 'Accounts of people who run the platform, and their roles.', platform),
  operatorKeys: tag('Operator keys', 'Operator keys: API keys for the platform operator’s programs.', platform),
  views: tag('Views', 'Saved views of console lists.', platform),
  overview: tag('Overview', 'Key figures of the platform.', platform),
  audit: tag('Audit', 'The audit log: who did what, and when.', platform),
  service: tag('Service', 'Health probes, metrics and this OpenAPI document.', platform),
}

export const api: Api = { description, operations, tokenPath: issueToken.path, webhooks, tags, glossary }
