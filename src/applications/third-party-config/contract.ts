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
      'https; http only where the setting allows it. A query is kept sealed: the application and admins read it whole; others and events see `?…`, which keeps the stored query when it is sent back.',
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
    callbackUrl: nullable(Type.String({ description: 'its query whole or as `?…`' })),
    callbackEvents: Type.Array(Type.String({ [shownKey]: EventTypeName })),
    callbackSecret: shownOnce('shown when it is made or rotated; null from then on'),
    callbackStopTime: nullable(
      Type.String({ description: 'when the callback said that it is gone; saving the configuration lifts it' }),
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

export const rotateCallbackSecret = operation({
  id: 'rotateCallbackSecret',
  group: 'thirdPartyConfig',
  summary: 'Replaces the callback secret and shows the new one once; callbacks are signed with both for 24 hours.',
  method: 'POST',
  path: `${folder}/rotateSecret`,
  callers: ['application', 'operator'],
  body: Type.Object({ appId: ownAppId }),
  data: ThirdPartyConfigRecord,
  refusals: ['applicationNotFound', 'thirdPartyConfigMissing'],
  idempotent: true,
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
