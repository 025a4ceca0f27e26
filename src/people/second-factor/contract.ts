import Type, { type Static } from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { everyRole } from '../../vocabulary/roles.ts'
import { integer, moment, name, named, nullable, onceKey, reasonText } from '../../vocabulary/values.ts'
import { OperatorRecord } from '../operators/contract.ts'
import { begunPasskey, factorCode, passkeyMembers } from '../sessions/contract.ts'

const folder = '/api/platform/v1/secondFactor'
const ownFactors = { callers: ['operator'], roles: everyRole } as const
const changesFactors = { ...ownFactors, asksProof: true, openWithoutFactor: 'toSetUp' } as const

const Passkey = named(
  'Passkey',
  Type.Object({
    id: Type.Integer(),
    name: Type.String({ description: 'The name that its owner gave the passkey.' }),
    createTime: moment,
    lastUseTime: nullable(moment),
    isSynced: Type.Boolean({ description: 'whether the passkey is kept on several devices of its owner' }),
  }),
)

export const SecondFactors = named(
  'SecondFactors',
  Type.Object({
    isRequired: Type.Boolean({ description: 'whether the role asks for a second factor' }),
    totp: nullable(
      Type.Object(
        { createTime: moment, lastUseTime: nullable(moment) },
        { description: 'The authenticator app; null if there is none.' },
      ),
    ),
    passkeys: Type.Array(Passkey, { description: 'The passkeys, oldest first.' }),
    recoveryCodesLeft: Type.Integer({ description: 'number of unused recovery codes' }),
  }),
)
export type SecondFactors = Static<typeof SecondFactors>

const recoveryCodes = nullable(
  Type.Array(Type.String({ examples: ['mfzw-ezdc-onqt-2ylb'] }), {
    description: 'Ten recovery codes. Each works once. Shown only once, with the first factor; null otherwise.',
    [onceKey]: true,
  }),
)
const FactorsWithCodes = named('SecondFactorsWithCodes', Type.Object({ ...SecondFactors.properties, recoveryCodes }))

export const getSecondFactors = operation({
  id: 'getSecondFactors',
  group: 'secondFactors',
  summary: 'Returns your own second factors.',
  method: 'GET',
  path: `${folder}/detail`,
  ...ownFactors,
  openWithoutFactor: 'always',
  query: Type.Object({}),
  data: SecondFactors,
  refusals: [],
})

export const startTotp = operation({
  id: 'startTotp',
  group: 'secondFactors',
  summary:
    'Starts authenticator app setup: creates a secret (RFC 6238: SHA-1, 6 digits, 30 s). To finish, save one of its codes within 10 minutes.',
  words: { en: 'Start authenticator app setup', zh: '开始设置验证器' },
  method: 'POST',
  path: `${folder}/startTotp`,
  ...changesFactors,
  body: Type.Object({}),
  data: Type.Object({
    secret: Type.String({
      description: 'The secret in base32; shown once.',
      examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
    }),
    otpauthUrl: Type.String({
      description: 'The secret as a URL for a QR code.',
      examples: ['otpauth://totp/Forecourt:Wang%20Fang?issuer=Forecourt&secret=JBSWY3DPEHPK3PXP'],
    }),
  }),
  refusals: [],
})

export const saveTotp = operation({
  id: 'saveTotp',
  group: 'secondFactors',
  summary: 'Finishes authenticator app setup with one of its codes. Replaces an earlier app.',
  words: { en: 'Set up authenticator app', zh: '设置验证器' },
  method: 'POST',
  path: `${folder}/saveTotp`,
  ...changesFactors,
  example: { code: '492039' },
  body: Type.Object({ code: factorCode }),
  data: FactorsWithCodes,
  refusals: ['codeInvalid', 'tooManyRequests'],
})

export const deleteTotp = operation({
  id: 'deleteTotp',
  group: 'secondFactors',
  summary: 'Removes your authenticator app. Removing the last factor also deletes the recovery codes.',
  words: { en: 'Remove authenticator app', zh: '移除验证器' },
  method: 'POST',
  path: `${folder}/deleteTotp`,
  ...changesFactors,
  body: Type.Object({}),
  data: SecondFactors,
  refusals: ['secondFactorNotFound', 'lastSecondFactor'],
})

export const startPasskey = operation({
  id: 'startPasskey',
  group: 'secondFactors',
  summary: 'Starts adding a passkey (WebAuthn): returns the options for the browser. An account can have up to 20.',
  words: { en: 'Start adding a passkey', zh: '开始添加通行密钥' },
  method: 'POST',
  path: `${folder}/startPasskey`,
  ...changesFactors,
  body: Type.Object({}),
  data: begunPasskey('navigator.credentials.create'),
  refusals: [],
})

export const savePasskey = operation({
  id: 'savePasskey',
  group: 'secondFactors',
  summary: 'Adds the passkey that the browser created.',
  words: { en: 'Add a passkey', zh: '添加通行密钥' },
  method: 'POST',
  path: `${folder}/savePasskey`,
  ...changesFactors,
  body: Type.Object({ ...passkeyMembers, name }),
  data: FactorsWithCodes,
  refusals: ['codeInvalid'],
})

export const deletePasskey = operation({
  id: 'deletePasskey',
  group: 'secondFactors',
  summary: 'Removes one of your passkeys. Removing the last factor also deletes the recovery codes.',
  words: { en: 'Remove a passkey', zh: '移除通行密钥' },
  method: 'POST',
  path: `${folder}/deletePasskey`,
  ...changesFactors,
  body: Type.Object({ id: integer() }),
  data: SecondFactors,
  refusals: ['secondFactorNotFound', 'lastSecondFactor'],
})

export const renewRecoveryCodes = operation({
  id: 'renewRecoveryCodes',
  group: 'secondFactors',
  summary: 'Generates ten new recovery codes, which replace all earlier ones, and returns them once.',
  words: { en: 'Generate new recovery codes', zh: '重新生成恢复码' },
  method: 'POST',
  path: `${folder}/renewRecoveryCodes`,
  ...changesFactors,
  body: Type.Object({}),
  data: Type.Object({ recoveryCodes }),
  refusals: ['secondFactorNotFound'],
})

export const resetSecondFactors = operation({
  id: 'resetSecondFactors',
  group: 'secondFactors',
  summary:
    'Resets the second factor of another account: deletes all its factors, ends its sessions and clears its known browsers.',
  words: { en: 'Reset second factors', zh: '重置第二验证因素' },
  method: 'POST',
  path: `${folder}/reset`,
  callers: ['operator'],
  roles: ['admin'],
  asksProof: true,
  body: Type.Object({ id: integer(), reason: reasonText }),
  data: OperatorRecord,
  refusals: ['operatorNotFound', 'secondFactorNotFound'],
  idempotent: true,
})
