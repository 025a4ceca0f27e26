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
      'The address of the callback: https; http only if the settings allow it. The query is stored encrypted: the application and admins read it in full; other callers and events get `?…` in its place. Sent back with `?…`, the address keeps the stored query.',
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
        description:
          'the address of the callback; its query is shown in full, or as `?…` to callers that may not read it',
      }),
    ),
    callbackEvents: Type.Array(Type.String({ [shownKey]: EventTypeName })),
    callbackSecret: shownOnce('shown once, when the secret is created or rotated; null from then on'),
    callbackStopTime: nullable(
      Type.String({
        description: 'when the receiver answered 410 and callbacks stopped; saving the configuration starts them again',
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
  summary: 'Answers the third-party configuration of an application.',
  method: 'GET',
  path: `${folder}/detail`,
  callers: ['application', 'operator'],
  query: Type.Object({ appId: ownAppId }),
  data: ThirdPartyConfigRecord,
  refusals: ['applicationNotFound', 'thirdPartyConfigMissing'],
  tagged: true,
})

export const rotateCallbackSecret = operation({
  id: 'rotateCallbackSecret',
  group: 'thirdPartyConfig',
  summary:
    'Replaces the callback secret and shows the new secret once; for 24 hours callbacks are signed with both secrets.',
  method: 'POST',
  path: `${folder}/rotateSecret`,
  asksProof: true,
  callers: ['application', 'operator'],
  body: Type.Object({ appId: ownAppId }),
  data: ThirdPartyConfigRecord,
  refusals: ['applicationNotFound', 'thirdPartyConfigMissing'],
  idempotent: true,
})
