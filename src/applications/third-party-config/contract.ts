import Type, { type Static } from 'typebox'
import { EventTypeName } from '../../events/contract.ts'
import { eventTypes } from '../../vocabulary/event-types.ts'
import { operation } from '../../vocabulary/operation.ts'
import {
  lengths,
  moment,
  name,
  named,
  nullable,
  optional,
  ownAppId,
  reasonKey,
  shownKey,
  shownOnce,
  text,
} from '../../vocabulary/values.ts'

const folder = '/api/charging/v1/thirdPartyConfig'

export const operatorIdPattern = '^[A-Za-z0-9]{9}$'

export const thirdPartyConfigMembers = {
  operatorName: name,
  operatorId: optional(
    Type.String({
      pattern: operatorIdPattern,
      [reasonKey]: { en: 'must be 9 letters or digits', zh: '必须是 9 位字母或数字' },
    }),
  ),
  callbackUrl: optional(
    text(
      lengths.url,
      'The callback URL: https, or http if the settings allow it. The query is stored encrypted. The application and admins see it in full; other callers and events see `?…` instead. To keep the stored query, send `?…` back.',
    ),
  ),
  callbackEvents: optional(Type.Array(EventTypeName, { minItems: 1, maxItems: eventTypes.length })),
}

export const ThirdPartyConfigRecord = named(
  'ThirdPartyConfig',
  Type.Object({
    appId: Type.String(),
    operatorName: Type.String(),
    operatorId: nullable(Type.String()),
    callbackUrl: nullable(
      Type.String({
        description: 'the callback URL; callers that may not read its query see `?…` instead',
      }),
    ),
    callbackEvents: Type.Array(Type.String({ [shownKey]: EventTypeName })),
    callbackSecret: shownOnce('shown only once, when the secret is created or rotated; null afterwards'),
    callbackStopTime: nullable(
      Type.String({
        description: 'when the endpoint responded with 410 and was disabled; saving the configuration enables it again',
      }),
    ),
    callbackStopReason: nullable(Type.String()),
    updateTime: moment,
  }),
)
export type ThirdPartyConfigRecord = Static<typeof ThirdPartyConfigRecord>

export const saveThirdPartyConfig = operation({
  id: 'saveThirdPartyConfig',
  group: 'thirdPartyConfig',
  summary: 'Creates or replaces the third-party configuration of an application.',
  words: { en: 'Save the third-party configuration', zh: '保存第三方配置' },
  method: 'POST',
  path: `${folder}/save`,
  callers: ['application', 'operator'],
  body: Type.Object({ appId: ownAppId, ...thirdPartyConfigMembers }),
  data: ThirdPartyConfigRecord,
  refusals: ['applicationNotFound'],
  idempotent: true,
  tagged: true,
  conditional: true,
})

export const getThirdPartyConfig = operation({
  id: 'getThirdPartyConfig',
  group: 'thirdPartyConfig',
  summary: 'Returns the third-party configuration of an application.',
  method: 'GET',
  path: `${folder}/detail`,
  callers: ['application', 'operator'],
  dependsOnRole: true,
  query: Type.Object({ appId: ownAppId }),
  data: ThirdPartyConfigRecord,
  refusals: ['applicationNotFound', 'thirdPartyConfigMissing'],
  tagged: true,
})

export const rotateCallbackSecret = operation({
  id: 'rotateCallbackSecret',
  group: 'thirdPartyConfig',
  summary:
    'Rotates the callback secret and returns the new one once. For 24 hours, callbacks are signed with both secrets.',
  words: { en: 'Rotate the callback secret', zh: '轮换回调密钥' },
  method: 'POST',
  path: `${folder}/rotateSecret`,
  asksProof: true,
  callers: ['application', 'operator'],
  body: Type.Object({ appId: ownAppId }),
  data: ThirdPartyConfigRecord,
  refusals: ['applicationNotFound', 'thirdPartyConfigMissing'],
  idempotent: true,
})
