import Type, { type Static } from 'typebox'
import { operation } from '../vocabulary/operation.ts'
import { pageOf, pageQuery, sortedBy } from '../vocabulary/pages.ts'
import { everyRole } from '../vocabulary/roles.ts'
import {
  appId,
  described,
  extended,
  integer,
  moment,
  name,
  named,
  nullable,
  oneOf,
  optional,
  ownAppId,
  reasonKey,
  reasonText,
  shownKey,
  shownOnce,
} from '../vocabulary/values.ts'
import { ThirdPartyConfigRecord, thirdPartyConfigMembers } from './third-party-config/contract.ts'

const folder = '/api/platform/v1/application'
export const defaultTokenLifetimeSeconds = 7200
export const defaultRateLimitPerSecond = 1000
export const mostTokenLifetimeSeconds = 604_800
export const mostRateLimitPerSecond = 1_000_000

const limitOrNone = nullable(integer(1, mostRateLimitPerSecond))
/** Null means no limit. An empty text is absent, as elsewhere. */
const rateLimitPerSecond = Type.Optional(
  Type.Union([...limitOrNone.anyOf, Type.Literal('')], {
    [shownKey]: limitOrNone,
    description: `maximum requests per second, across all processes of a machine; default ${defaultRateLimitPerSecond}, null for no limit`,
    [reasonKey]: {
      en: `must be an integer from 1 to ${mostRateLimitPerSecond}, or null`,
      zh: `必须是 1 至 ${mostRateLimitPerSecond} 的整数或 null`,
    },
  }),
)
const tokenLifetimeSeconds = optional(integer(1, mostTokenLifetimeSeconds))
const overlapSeconds = optional(integer(0, mostTokenLifetimeSeconds))

export const ApplicationRecord = named(
  'Application',
  Type.Object({
    appId: Type.String(),
    appName: Type.String(),
    onlineStatus: Type.Integer({ [shownKey]: oneOf(1, 2), description: '1 online, 2 offline.' }),
    status: Type.Integer({ [shownKey]: oneOf(1, 2), description: '1 normal, 2 frozen.' }),
    frozenReason: nullable(Type.String()),
    tokenLifetimeSeconds: Type.Integer(),
    rateLimitPerSecond: nullable(Type.Integer()),
    overlapUntil: nullable(
      described(
        moment,
        'Until when the previous secret and its tokens stay valid alongside the current one; null if no previous secret is valid.',
      ),
    ),
    createTime: moment,
  }),
)
export type ApplicationRecord = Static<typeof ApplicationRecord>

const ApplicationWithSecret = named(
  'ApplicationWithSecret',
  extended(ApplicationRecord, {
    appSecret: shownOnce('shown only once: the service stores only its SHA-256, so the response to a retry has null'),
  }),
)

export const createApplication = operation({
  id: 'createApplication',
  group: 'applications',
  summary: 'Creates an application (online and normal) and returns its secret once.',
  words: { en: 'Create an application', zh: '新建应用' },
  method: 'POST',
  path: `${folder}/create`,
  callers: ['operator'],
  body: Type.Object({
    appName: name,
    tokenLifetimeSeconds,
    rateLimitPerSecond,
    thirdPartyConfig: optional(Type.Object(thirdPartyConfigMembers)),
  }),
  data: extended(ApplicationWithSecret, {
    thirdPartyConfig: nullable(ThirdPartyConfigRecord),
  }),
  refusals: [],
  idempotent: true,
  tagged: true,
})

const ofOne = { callers: ['operator'], refusals: ['applicationNotFound'] } as const
/** Allows developers who are members of the application. */
const ofMembers = { roles: ['admin', 'operator', 'developer'] } as const
const readByMembers = { roles: everyRole } as const

export const updateApplication = operation({
  id: 'updateApplication',
  group: 'applications',
  summary: 'Updates the fields that you send of an application.',
  words: { en: 'Update an application', zh: '修改应用' },
  method: 'POST',
  path: `${folder}/update`,
  ...ofOne,
  example: { appName: 'Greenway charging' },
  body: Type.Object({ appId, appName: Type.Optional(name), tokenLifetimeSeconds, rateLimitPerSecond }),
  data: ApplicationRecord,
  tagged: true,
  conditional: true,
})

export const takeApplicationOnline = operation({
  id: 'takeApplicationOnline',
  group: 'applications',
  summary: 'Brings an application online.',
  words: { en: 'Bring an application online', zh: '应用上线' },
  method: 'POST',
  path: `${folder}/online`,
  ...ofOne,
  body: Type.Object({ appId }),
  data: ApplicationRecord,
})

export const takeApplicationOffline = operation({
  id: 'takeApplicationOffline',
  group: 'applications',
  summary: 'Takes an application offline. From the response on, the application can’t create devices.',
  words: { en: 'Take an application offline', zh: '应用下线' },
  method: 'POST',
  path: `${folder}/offline`,
  ...ofOne,
  body: Type.Object({ appId }),
  data: ApplicationRecord,
})

export const freezeApplication = operation({
  id: 'freezeApplication',
  group: 'applications',
  summary: 'Freezes an application: its tokens stop working within 1 second.',
  words: { en: 'Freeze an application', zh: '冻结应用' },
  method: 'POST',
  path: `${folder}/freeze`,
  asksProof: true,
  ...ofOne,
  body: Type.Object({ appId, reason: reasonText }),
  data: ApplicationRecord,
})

export const unfreezeApplication = operation({
  id: 'unfreezeApplication',
  group: 'applications',
  summary: 'Unfreezes an application.',
  words: { en: 'Unfreeze an application', zh: '解冻应用' },
  method: 'POST',
  path: `${folder}/unfreeze`,
  ...ofOne,
  body: Type.Object({ appId }),
  data: ApplicationRecord,
})

export const rotateApplicationSecret = operation({
  id: 'rotateApplicationSecret',
  group: 'applications',
  summary:
    'Rotates the application’s secret and returns the new one once. The old secret and its tokens stop working within 1 second, or after `overlapSeconds`. An even older secret stops working immediately. If an application rotates its own secret, send `overlapSeconds`: otherwise the token of this request stops working too, and a lost response can’t be retrieved.',
  words: { en: 'Rotate the application secret', zh: '轮换应用密钥' },
  method: 'POST',
  path: `${folder}/rotateSecret`,
  asksProof: true,
  ...ofOne,
  callers: ['application', 'operator'],
  ...ofMembers,
  example: { appId: 'eb5ffaabb88d8c09f000', overlapSeconds: 3600 },
  body: Type.Object({
    appId: ownAppId,
    overlapSeconds,
  }),
  data: ApplicationWithSecret,
  idempotent: true,
})

export const endPreviousApplicationSecret = operation({
  id: 'endPreviousApplicationSecret',
  group: 'applications',
  summary:
    'Ends the overlap of a rotation early: the previous secret and its tokens stop working within 1 second. If no previous secret is valid, nothing changes. With `If-Match`, this ends only the secret in the record that you read, not that of a later rotation.',
  words: { en: 'End the old application secret', zh: '停用应用旧密钥' },
  method: 'POST',
  path: `${folder}/endPreviousSecret`,
  asksProof: true,
  ...ofOne,
  callers: ['application', 'operator'],
  ...ofMembers,
  example: { appId: 'eb5ffaabb88d8c09f000' },
  body: Type.Object({ appId: ownAppId }),
  data: ApplicationRecord,
  tagged: true,
  conditional: true,
})

/** Integrators need these; operators get them from `getSettings`. */
const serviceMembers = {
  timeZone: Type.Optional(Type.String()),
  presenceSeconds: Type.Optional(Type.Integer()),
  inventoryPolicy: Type.Optional(Type.Union([Type.Literal('open'), Type.Literal('required')])),
  coordinateSystem: Type.Optional(Type.Union([Type.Literal('gcj02'), Type.Literal('wgs84'), Type.Literal('bd09')])),
}

export const getApplication = operation({
  id: 'getApplication',
  group: 'applications',
  summary: 'Returns one application. An application can read itself, including the service settings that affect it.',
  method: 'GET',
  path: `${folder}/detail`,
  ...ofOne,
  callers: ['application', 'operator'],
  ...readByMembers,
  query: Type.Object({ appId: ownAppId }),
  data: extended(ApplicationRecord, serviceMembers),
  tagged: true,
})

export const applicationSorts = ['createTime', 'appId', 'appName', 'onlineStatus', 'status'] as const

export const pageApplications = operation({
  id: 'pageApplications',
  group: 'applications',
  summary: 'Lists applications, newest first. Developers see only applications that they are a member of.',
  method: 'GET',
  path: `${folder}/page`,
  callers: ['operator'],
  ...readByMembers,
  query: Type.Object({
    ...pageQuery,
    ...sortedBy(applicationSorts),
    appName: optional(name),
    onlineStatus: optional(described(oneOf(1, 2), '1 online, 2 offline.')),
    status: optional(described(oneOf(1, 2), '1 normal, 2 frozen.')),
  }),
  data: pageOf(ApplicationRecord),
  refusals: [],
})
