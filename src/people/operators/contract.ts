import Type, { type Static } from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { pageOf, pageQuery } from '../../vocabulary/pages.ts'
import { everyRole } from '../../vocabulary/roles.ts'
import {
  appId,
  described,
  extended,
  integer,
  lengths,
  moment,
  momentText,
  name,
  named,
  nullable,
  oneOf,
  optional,
  reasonKey,
  shownKey,
  shownOnce,
  text,
  textOneOf,
} from '../../vocabulary/values.ts'
import { factorCode, SessionRecord, triedPassword } from '../sessions/contract.ts'

const folder = '/api/platform/v1/operator'
const keyFolder = '/api/platform/v1/operatorKey'
const adminOnly = { callers: ['operator'], roles: ['admin'] } as const

const role = named(
  'Role',
  textOneOf(
    everyRole,
    'admin: everything; operator: everything except accounts and keys; viewer: read-only; developer: own applications only.',
  ),
)
/** Not developer: a key cannot be a member of an application. */
export const keyRoles = ['admin', 'operator', 'viewer'] as const

/** Names in the audit log must not look alike: no invisible characters, and only single spaces between words. */
const visibleName = Type.String({
  pattern: String.raw`^(?! )(?!.* $)(?!.* {2})(?!.*(?! )\p{Z})(?!.*[\p{Default_Ignorable_Code_Point}\u2800])\P{C}{1,${lengths.name}}$`,
  [shownKey]: { type: 'string', minLength: 1, maxLength: lengths.name, pattern: '^[^\\s]+( [^\\s]+)*$' },
  description: 'Display name: visible characters, with single spaces only.',
  [reasonKey]: {
    en: 'must be a string of 1 to 64 visible characters, with single spaces between them only',
    zh: '必须是 1 至 64 个可见字符的字符串，仅字符之间可有单个空格',
  },
})

const newName = named('OperatorName', visibleName)

export const passwordLengths = { min: 12, max: 256 } as const

const password = named(
  'NewPassword',
  Type.String({
    pattern: String.raw`^[^\p{Cs}]{${passwordLengths.min},${passwordLengths.max}}$`,
    [shownKey]: { type: 'string', minLength: passwordLengths.min, maxLength: passwordLengths.max },
    description: '12 to 256 characters, not a common password; only its argon2id hash is stored',
    [reasonKey]: { en: 'must be 12 to 256 characters', zh: '必须是 12 至 256 个字符' },
  }),
)
const appIds = optional(
  Type.Array(appId, {
    maxItems: 1000,
    description: 'the applications that a developer is a member of',
    [reasonKey]: { en: 'must be a list of at most 1000 application ids', zh: '必须是最多 1000 个应用标识的列表' },
  }),
)

export const OperatorRecord = named(
  'Operator',
  Type.Object({
    id: Type.Integer(),
    name: Type.String(),
    role: Type.String({ [shownKey]: role }),
    status: Type.Integer({ [shownKey]: oneOf(1, 2), description: '1 active, 2 disabled.' }),
    isSetUp: Type.Boolean({ description: 'whether the person can sign in: false until the setup link is used' }),
    appIds: Type.Array(Type.String({ [shownKey]: appId }), {
      description: 'the applications of a developer; empty for the other roles',
    }),
    createTime: moment,
    signInTime: nullable(moment),
    source: Type.Integer({ [shownKey]: oneOf(1, 2), description: '1 local, 2 created by single sign-on.' }),
    isLinked: Type.Boolean({ description: 'whether the person can sign in by single sign-on' }),
    hasSecondFactor: Type.Boolean({ description: 'whether the account has a passkey or an authenticator app' }),
  }),
)
export type OperatorRecord = Static<typeof OperatorRecord>

const setUpMembers = {
  setUpPath: shownOnce('the path below the service’s address at which the person sets a password; shown once'),
  setUpExpireTime: nullable(moment),
}
const OperatorWithSetUp = named('OperatorWithSetUp', extended(OperatorRecord, setUpMembers))

const handOverTo = optional(
  described(
    integer(1),
    'The account that gets the keys and saved views: another active account, which can’t be a developer if there are keys.',
  ),
)

export const createOperator = operation({
  id: 'createOperator',
  group: 'operators',
  summary: 'Creates an account. Without a password, the response has a one-time setup link.',
  words: { en: 'Create an account', zh: '新建账号' },
  method: 'POST',
  path: `${folder}/create`,
  ...adminOnly,
  asksProof: true,
  body: Type.Object({ name: newName, role, password: optional(password), appIds }),
  data: OperatorWithSetUp,
  refusals: ['operatorNameTaken', 'applicationNotFound'],
  idempotent: true,
  tagged: true,
})

export const updateOperator = operation({
  id: 'updateOperator',
  group: 'operators',
  summary:
    'Updates the fields that you send of an account. Changes apply to its sessions within 1 second. The last active admin must stay an active admin. When you disable an account, `handOverTo` reassigns its keys and saved views; a view whose name is taken gets “(2)”.',
  words: { en: 'Update an account', zh: '修改账号' },
  method: 'POST',
  path: `${folder}/update`,
  ...adminOnly,
  asksProof: true,
  example: { role: 'viewer' },
  body: Type.Object({
    id: integer(),
    name: Type.Optional(newName),
    role: Type.Optional(role),
    status: Type.Optional(described(oneOf(1, 2), '1 active, 2 disabled.')),
    appIds,
    handOverTo,
  }),
  data: OperatorRecord,
  refusals: ['operatorNotFound', 'operatorNameTaken', 'lastAdmin', 'applicationNotFound', 'managedBySignOn'],
  tagged: true,
  conditional: true,
})

export const deleteOperator = operation({
  id: 'deleteOperator',
  group: 'operators',
  summary:
    'Deletes an account and ends its sessions. The audit log keeps its actions. Its keys and saved views are deleted too, or reassigned to `handOverTo`.',
  words: { en: 'Delete an account', zh: '删除账号' },
  method: 'POST',
  path: `${folder}/delete`,
  ...adminOnly,
  asksProof: true,
  body: Type.Object({ id: integer(), handOverTo }),
  data: OperatorRecord,
  refusals: ['operatorNotFound', 'lastAdmin'],
  idempotent: true,
})

export const resetOperator = operation({
  id: 'resetOperator',
  group: 'operators',
  summary:
    'Resets an account: creates a new one-time setup link. The old password stops working and all sessions end immediately.',
  words: { en: 'Reset an account', zh: '重置账号' },
  method: 'POST',
  path: `${folder}/reset`,
  ...adminOnly,
  asksProof: true,
  body: Type.Object({ id: integer() }),
  data: OperatorWithSetUp,
  refusals: ['operatorNotFound', 'lastAdmin', 'managedBySignOn'],
  idempotent: true,
})

export const setUpOperator = operation({
  id: 'setUpOperator',
  group: 'operators',
  summary:
    'Sets the password with a one-time setup link and signs the person in. Accounts with a second factor also need `code`.',
  method: 'POST',
  path: `${folder}/setUp`,
  callers: [],
  body: Type.Object({ setUpToken: text(128), password, name: optional(newName), code: optional(factorCode) }),
  data: SessionRecord,
  refusals: [
    'setUpLinkInvalid',
    'operatorNameTaken',
    'secondFactorRequired',
    'codeInvalid',
    'passwordSignInOff',
    'tooManyRequests',
  ],
})

export const changePassword = operation({
  id: 'changePassword',
  group: 'operators',
  summary: 'Changes your own password and ends your other sessions.',
  words: { en: 'Change a password', zh: '修改密码' },
  method: 'POST',
  path: `${folder}/changePassword`,
  callers: ['operator'],
  roles: everyRole,
  openWithoutFactor: 'toSetUp',
  body: Type.Object({ password: triedPassword, newPassword: password }),
  data: OperatorRecord,
  refusals: ['signInFailed', 'operatorNotFound', 'managedBySignOn'],
})

export const getOperator = operation({
  id: 'getOperator',
  group: 'operators',
  summary: 'Returns one account.',
  method: 'GET',
  path: `${folder}/detail`,
  ...adminOnly,
  query: Type.Object({ id: integer() }),
  data: OperatorRecord,
  refusals: ['operatorNotFound'],
  tagged: true,
})

export const pageOperators = operation({
  id: 'pageOperators',
  group: 'operators',
  summary: 'Lists accounts, newest first.',
  method: 'GET',
  path: `${folder}/page`,
  ...adminOnly,
  query: Type.Object({
    ...pageQuery,
    name: optional(name),
    role: optional(role),
    status: optional(described(oneOf(1, 2), '1 active, 2 disabled.')),
    appId: optional(appId),
  }),
  data: pageOf(OperatorRecord),
  refusals: [],
})

export const OperatorKeyRecord = named(
  'OperatorKey',
  Type.Object({
    id: Type.Integer(),
    name: Type.String(),
    role: Type.String({ description: 'the key’s current role, never higher than its owner’s' }),
    status: Type.Integer({
      [shownKey]: oneOf(1, 2),
      description: '1 active. 2 inactive: expired, or the owner is disabled or a developer.',
    }),
    operatorId: nullable(
      Type.Integer({
        description: 'the account that owns the key; null if it was created with the operator key from the settings',
      }),
    ),
    operatorName: nullable(Type.String({ description: 'The name of the account that owns the key.' })),
    createdBy: Type.String(),
    createTime: moment,
    expireTime: moment,
    lastUseTime: nullable(moment),
  }),
)
export type OperatorKeyRecord = Static<typeof OperatorKeyRecord>

export const keyDays = 180
export const mostKeyDays = 366

const keyExpiry = {
  ...momentText,
  description: `when the key expires, as yyyy-MM-dd HH:mm:ss in the service’s time zone; by default in ${keyDays} days, at most in ${mostKeyDays}`,
}

export const createOperatorKey = operation({
  id: 'createOperatorKey',
  group: 'operatorKeys',
  summary:
    'Creates an operator key and returns it once. The key belongs to the account that creates it and is deleted with that account.',
  words: { en: 'Create an operator key', zh: '新建运营密钥' },
  method: 'POST',
  path: `${keyFolder}/create`,
  ...adminOnly,
  asksProof: true,
  body: Type.Object({ name: newName, role: textOneOf(keyRoles), expireTime: optional(keyExpiry) }),
  data: extended(OperatorKeyRecord, {
    operatorKey: shownOnce('shown only once: the service stores only its SHA-256, so the response to a retry has null'),
  }),
  refusals: ['operatorNameTaken'],
  idempotent: true,
})

export const deleteOperatorKey = operation({
  id: 'deleteOperatorKey',
  group: 'operatorKeys',
  summary: 'Revokes a key: the key and its sessions stop working within 1 second.',
  words: { en: 'Revoke an operator key', zh: '吊销运营密钥' },
  method: 'POST',
  path: `${keyFolder}/delete`,
  ...adminOnly,
  asksProof: true,
  body: Type.Object({ id: integer() }),
  data: OperatorKeyRecord,
  refusals: ['operatorKeyNotFound'],
  idempotent: true,
})

export const handOverOperatorKey = operation({
  id: 'handOverOperatorKey',
  group: 'operatorKeys',
  summary:
    'Reassigns a key to another account, even if the current owner is disabled. The key keeps working, limited to the new owner’s role.',
  words: { en: 'Reassign an operator key', zh: '移交运营密钥' },
  method: 'POST',
  path: `${keyFolder}/handOver`,
  ...adminOnly,
  asksProof: true,
  body: Type.Object({ id: integer(), operatorId: described(integer(), 'The new owner.') }),
  data: OperatorKeyRecord,
  refusals: ['operatorKeyNotFound', 'operatorNotFound'],
  idempotent: true,
})

const KeyPage = pageOf(OperatorKeyRecord)

export const pageOperatorKeys = operation({
  id: 'pageOperatorKeys',
  group: 'operatorKeys',
  summary: 'Lists operator keys, newest first.',
  method: 'GET',
  path: `${keyFolder}/page`,
  ...adminOnly,
  query: Type.Object({ ...pageQuery, operatorId: optional(described(integer(), 'Only the keys of this account.')) }),
  data: KeyPage,
  refusals: [],
})

export const pageOwnOperatorKeys = operation({
  id: 'pageOwnOperatorKeys',
  group: 'operatorKeys',
  summary: 'Lists your own operator keys, newest first, including reassigned ones.',
  method: 'GET',
  path: '/api/platform/v1/ownOperatorKey/page',
  callers: ['operator'],
  roles: everyRole,
  query: Type.Object({ ...pageQuery }),
  data: KeyPage,
  refusals: [],
})
