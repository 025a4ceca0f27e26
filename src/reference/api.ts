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

/** The groups of the reference, in its order. */
const tags = {
  tokens: tag('Tokens', 'Access tokens by OAuth 2.0 client credentials.', integrators),
  sites: tag(
    'Sites',
    'Charging sites. A site names the billing rules of fast charging, slow charging (“rushing” in its members) and occupancy (“placeholder”).',
    integrators,
  ),
  billingRules: tag(
    'Billing rules',
    'The prices of charging and occupancy: by the time of day, or by minutes.',
    integrators,
  ),
  priceChanges: tag(
    'Price changes',
    'Prices that change at a scheduled moment: new terms of a billing rule, or other rules at sites.',
    integrators,
  ),
  thirdPartyConfig: tag(
    'Third-party configuration',
    'An application’s configuration: its operating company and its callback. Without one it can create no sites.',
    integrators,
  ),
  devices: tag(
    'Devices',
    'Smart entrance devices: barriers and gates (“guard” in the paths). A serial number has one owner, from its creation until it is unbound.',
    integrators,
  ),
  placements: tag(
    'Placements',
    'Which device stands at which site, in which lane and since when. A device stands at one site at most.',
    integrators,
  ),
  events: tag('Events', 'The feed of an application’s events: everything that changed, in order.', integrators),
  deliveries: tag('Deliveries', 'The outcome of each callback, and operations that send callbacks again.', integrators),
  refusals: tag('Refusals', 'Why writes were refused in the last days.', integrators),
  bulk: tag(
    'Bulk',
    'Imports and exports of files of rows, and acts on all rows that match a filter. Imports and acts run in the background.',
    integrators,
  ),
  regions: tag('Regions', 'The national administrative divisions (GB/T 2260).', integrators),
  callbacks: tag(
    'Callbacks',
    'What the service sends to the `callbackUrl` of the third-party configuration, signed by Standard Webhooks 1.0. A 2xx within 15 s is success. Anything else but 410 is tried again: 10 attempts over about 3 days.',
    integrators,
  ),
  applications: tag('Applications', 'The applications of third-party integrators, and their secrets.', platform),
  deviceModels: tag(
    'Device models',
    'Device models, and the beginnings of the serial numbers that belong to them.',
    platform,
  ),
  deviceInventory: tag(
    'Device inventory',
    'Serial numbers that are known before their devices are registered, each with its model.',
    platform,
  ),
  savedRegions: tag(
    'Saved regions',
    'Regions that are newer than the built-in table, have another name there, or have ended.',
    platform,
  ),
  deviceOwnership: tag(
    'Device ownership',
    'For operators: free any serial number, or move a device to another application.',
    platform,
  ),
  sessions: tag('Sessions', 'Who is signed in to the console.', platform),
  signOn: tag('Single sign-on', 'Signing in at an OpenID provider, and the links of accounts to it.', platform),
  secondFactors: tag(
    'Second factors',
    'Code generators (authenticator apps), passkeys and recovery codes of the people who run the platform.',
    platform,
  ),
  operators: tag('Operators', 'The people who run the platform, and their roles.', platform),
  operatorKeys: tag('Operator keys', 'Keys for the programs of people who run the platform.', platform),
  views: tag('Views', 'Views of the console’s lists that people saved for themselves.', platform),
  overview: tag('Overview', 'The platform at a glance.', platform),
  audit: tag('Audit', 'Who did what, and when.', platform),
  service: tag('Service', 'Probes, metrics and this description.', platform),
}

/** What `openapi.json` describes. */
export const api: Api = { description, operations, tokenPath: issueToken.path, webhooks, tags, glossary }
