import Type, { type Static } from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { pageOf, pageQuery } from '../../vocabulary/pages.ts'
import { everyRole } from '../../vocabulary/roles.ts'
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
  reasonKey,
  shownKey,
  text,
  textOneOf,
} from '../../vocabulary/values.ts'

const folder = '/api/platform/v1/session'
const ofEveryone = { callers: ['operator'], roles: everyRole, openWithoutFactor: 'always' } as const

/** Any text: the rules for passwords apply only when one is set. */
export const triedPassword = Type.String({
  minLength: 1,
  maxLength: 256,
  [reasonKey]: { en: 'must be a string of 1 to 256 characters', zh: '必须是 1 至 256 个字符的字符串' },
})

export const factorCode = described(text(64), 'A 6-digit code from the authenticator app, or a recovery code.')

const ticket = Object.assign(text(4096, 'The ticket from the options. Works once, for 5 minutes.'), {
  examples: ['MWU0YWZk'],
})

/** The WebAuthn library checks its members. */
const credential = Type.Unsafe<object>({
  type: 'object',
  description: 'The credential as JSON (`PublicKeyCredential.toJSON()`).',
  examples: [{}],
  [reasonKey]: { en: 'must be a JSON object', zh: '必须是 JSON 对象' },
})

export const passkeyMembers = { ticket, credential }
const byPasskey = { ticket: optional(ticket), credential: optional(credential) }

export const begunPasskey = (call: string) => {
  const description = `The options for \`${call}\`, as JSON.`
  return Type.Object({ options: Type.Unsafe<object>({ type: 'object', description, examples: [{}] }), ticket })
}

const signInMethods = [
  'password',
  'password+code',
  'passkey',
  'signOn',
  'signOn+code',
  'signOn+passkey',
  'operatorKey',
] as const
export type SignInMethod = (typeof signInMethods)[number]

export const SessionRecord = named(
  'Session',
  Type.Object({
    id: nullable(
      Type.Integer({ description: 'the id of the session; null for a caller with a bearer key, who has no session' }),
    ),
    operatorId: nullable(Type.Integer({ description: 'the id of the account; null for a key' })),
    name: Type.String(),
    role: Type.String(),
    appIds: nullable(
      Type.Array(Type.String({ [shownKey]: appId }), {
        description: 'the applications of a developer; null for callers with access to all applications',
      }),
    ),
    userAgent: nullable(Type.String()),
    address: nullable(Type.String({ description: 'the address that the sign-in came from' })),
    createTime: nullable(moment),
    seenTime: nullable(moment),
    expireTime: nullable(moment),
    method: nullable(
      Type.String({
        [shownKey]: textOneOf(signInMethods),
        description: 'How the person signed in; null without a session.',
      }),
    ),
    isLimited: Type.Boolean({
      description: 'whether the session must set up or confirm a second factor before anything else',
    }),
    confirmedUntil: nullable({
      ...moment,
      description: 'until when the last identity confirmation is valid; null for a bearer key, which needs none',
    }),
  }),
)
export type SessionRecord = Static<typeof SessionRecord>

/** With what the account can do, because only admins can read accounts. */
export const OwnSession = extended(SessionRecord, {
  source: nullable(
    Type.Integer({
      [shownKey]: oneOf(1, 2),
      description: 'The account: 1 local, 2 created by single sign-on; null for a key.',
    }),
  ),
  isLinked: Type.Boolean({ description: 'whether the person can sign in with single sign-on' }),
  hasPassword: Type.Boolean({ description: 'whether the person has a password to change' }),
})
export type OwnSession = Static<typeof OwnSession>

export const createSession = operation({
  id: 'createSession',
  group: 'sessions',
  summary:
    'Signs in with name and password (and `code` if the account has a second factor), with a passkey, or with an operator key. The session is a cookie that scripts can’t read. The browser’s previous session ends. If the account has more than 20 sessions, the oldest ends.',
  method: 'POST',
  path: `${folder}/create`,
  callers: [],
  example: { name: 'Wang Fang', password: 'a password of 12 characters or more' },
  body: Type.Object({
    name: optional(name),
    password: optional(triedPassword),
    code: optional(factorCode),
    operatorKey: optional(text(512)),
    ...byPasskey,
  }),
  data: SessionRecord,
  refusals: [
    'signInFailed',
    'secondFactorRequired',
    'codeInvalid',
    'secondFactorSetUpRequired',
    'passwordSignInOff',
    'tooManyRequests',
  ],
})

export const startPasskeySession = operation({
  id: 'startPasskeySession',
  group: 'sessions',
  summary:
    'Starts signing in with a passkey: returns the options for the browser. They don’t reveal whether an account exists.',
  method: 'POST',
  path: `${folder}/startPasskey`,
  callers: [],
  body: Type.Object({}),
  data: begunPasskey('navigator.credentials.get'),
  refusals: [],
})

export const getSession = operation({
  id: 'getSession',
  group: 'sessions',
  summary: 'Returns the current session’s user.',
  method: 'GET',
  path: `${folder}/detail`,
  ...ofEveryone,
  query: Type.Object({}),
  data: OwnSession,
  refusals: [],
})

export const confirmSession = operation({
  id: 'confirmSession',
  group: 'sessions',
  summary:
    'Confirms the user’s identity again, which operations on accounts, secrets and ownership require. Send the password (and `code` if the account has an authenticator app), a passkey, or, in a session started with an operator key, that key.',
  words: { en: 'Confirm identity', zh: '确认身份' },
  method: 'POST',
  path: `${folder}/confirm`,
  ...ofEveryone,
  example: { password: 'a password of 12 characters or more' },
  body: Type.Object({
    password: optional(triedPassword),
    code: optional(factorCode),
    operatorKey: optional(text(512)),
    ...byPasskey,
  }),
  data: SessionRecord,
  refusals: ['signInFailed', 'secondFactorRequired', 'codeInvalid', 'tooManyRequests'],
})

export const getSettings = operation({
  id: 'getSettings',
  group: 'sessions',
  summary: 'Returns the service settings that the console needs.',
  method: 'GET',
  path: `${folder}/settings`,
  ...ofEveryone,
  query: Type.Object({}),
  data: Type.Object({
    timeZone: Type.String(),
    mapTileUrl: nullable(
      Type.String({ description: 'the URL of the map tiles, with {z}, {x} and {y}; null if not set' }),
    ),
    inventoryPolicy: Type.String({ [shownKey]: textOneOf(['open', 'required']) }),
    presenceSeconds: Type.Integer(),
    coordinateSystem: Type.String({ [shownKey]: textOneOf(['gcj02', 'wgs84', 'bd09']) }),
    privateCallbacks: Type.String({ [shownKey]: textOneOf(['refuse', 'allow']) }),
  }),
  refusals: [],
})

export const pageSessions = operation({
  id: 'pageSessions',
  group: 'sessions',
  summary: 'Lists your own sessions, newest first. Admins see all sessions.',
  method: 'GET',
  path: `${folder}/page`,
  ...ofEveryone,
  dependsOnRole: true,
  query: Type.Object({
    ...pageQuery,
    operatorId: optional(described(integer(), 'Only the sessions of this account.')),
  }),
  data: pageOf(SessionRecord),
  refusals: [],
})

export const deleteSession = operation({
  id: 'deleteSession',
  group: 'sessions',
  summary: 'Ends one of your own sessions. Admins can end any session.',
  words: { en: 'End a session', zh: '结束会话' },
  method: 'POST',
  path: `${folder}/delete`,
  ...ofEveryone,
  example: { id: 17 },
  body: Type.Object({ id: optional(integer()) }),
  data: Type.Object({
    ended: Type.Boolean(),
    signOutUrl: nullable(
      Type.String({
        description: 'For your own single sign-on session: the URL for signing out at the identity provider.',
      }),
    ),
  }),
  refusals: ['sessionNotFound'],
  idempotent: true,
})
