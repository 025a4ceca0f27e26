import Type from 'typebox'
import { limits } from '../../vocabulary/limits.ts'
import { operation } from '../../vocabulary/operation.ts'
import { everyRole } from '../../vocabulary/roles.ts'
import { integer, optional, reasonKey, shownKey, text, textOneOf } from '../../vocabulary/values.ts'
import { OperatorRecord } from '../operators/contract.ts'

const folder = '/api/platform/v1/signOn'

export const getSignOn = operation({
  id: 'getSignOn',
  group: 'signOn',
  summary: 'Returns the available sign-in methods.',
  method: 'GET',
  path: `${folder}/detail`,
  callers: [],
  query: Type.Object({}),
  data: Type.Object({
    enabled: Type.Boolean({ description: 'whether single sign-on is available' }),
    name: Type.String({ description: 'The text on its button.', examples: ['Single sign-on'] }),
    passwords: Type.String({
      [shownKey]: textOneOf(['everyone', 'admins']),
      description: 'Who can sign in with a password.',
    }),
    passkeys: Type.Boolean({ description: 'whether passkeys work at this address' }),
  }),
  refusals: [],
})

const purposes = ['signIn', 'setUp', 'link', 'confirm'] as const
export type Purpose = (typeof purposes)[number]

/** No spelling may lead out of the console: browsers read %2e in a path as a dot. */
export const pathOfConsole = String.raw`^(?!.*(?://|\.\.|\\))(?![^?#]*%2[eE])/console(?=[/?#]|$)[\x21-\x7e]{0,1500}$`

const returnTo = Type.String({
  pattern: pathOfConsole,
  [shownKey]: { type: 'string', pattern: '^/console' },
  description: 'The path of the console to which the browser returns.',
  examples: ['/console/account'],
  [reasonKey]: {
    en: 'must be a path that begins with /console, of visible characters without \\, // or .., and without %2e before ?',
    zh: '必须是以 /console 开头的路径，由可见字符组成，且不含 \\、// 或 ..，? 之前不含 %2e',
  },
})

/** The request may wait for several responses of the provider, and must still respond itself. */
const answerTimeoutMs = limits.signOnAnswerMs

export const startSignOn = operation({
  id: 'startSignOn',
  group: 'signOn',
  summary:
    'Starts single sign-on: returns the URL for the browser and sets a cookie for the way back. `link` and `confirm` need a session, `link` also a recent identity confirmation. `setUp` needs the token of a setup link.',
  words: { en: 'Start single sign-on', zh: '开始单点登录' },
  method: 'POST',
  path: `${folder}/start`,
  callers: [],
  answerTimeoutMs,
  example: { purpose: 'signIn' },
  body: Type.Object({
    purpose: textOneOf(purposes, 'What the sign-on is for.'),
    setUpToken: optional(text(128)),
    returnTo: optional(returnTo),
  }),
  data: Type.Object({
    authorizationUrl: Type.String({
      description: 'The URL at the identity provider.',
      examples: ['https://login.example.com/authorize?client_id=forecourt'],
    }),
  }),
  refusals: [
    'signOnOff',
    'signOnUnavailable',
    'setUpLinkInvalid',
    'secondFactorRequired',
    'tokenInvalid',
    'notPermitted',
    'confirmationRequired',
    'secondFactorSetUpRequired',
    'managedBySignOn',
  ],
})

export const finishSignOn = operation({
  id: 'finishSignOn',
  group: 'signOn',
  summary:
    'Where the identity provider redirects the browser. Always responds with 303 to the console: to the requested page, or with an error code. A link or a confirmation is carried out if the cookie of the session that began it comes with the request; otherwise the account page completes it.',
  method: 'GET',
  path: `${folder}/callback`,
  callers: [],
  answerTimeoutMs,
  takesAnyQuery: true,
  redirects: true,
  data: Type.Object({}),
  refusals: [],
})

export const completeSignOn = operation({
  id: 'completeSignOn',
  group: 'signOn',
  summary:
    'Completes a link or a confirmation that came back from the provider without the cookie of its session, in that session.',
  words: { en: 'Complete single sign-on', zh: '完成单点登录' },
  method: 'POST',
  // A session that lacks its second factor may confirm too: `session/*` is open to it.
  path: '/api/platform/v1/session/completeSignOn',
  callers: ['operator'],
  roles: everyRole,
  openWithoutFactor: 'always',
  body: Type.Object({}),
  data: Type.Object({
    returnTo: Type.String({ description: 'The page that was asked for.', examples: ['/console/account'] }),
  }),
  refusals: [
    'signOnOff',
    'signOnFailed',
    'signOnRefused',
    'signOnLinked',
    'secondFactorRequired',
    'secondFactorSetUpRequired',
    'managedBySignOn',
  ],
})

const OAuthError = Type.Object({
  error: Type.String({ description: 'The error as OAuth libraries read it, for example invalid_client.' }),
  error_description: Type.String({ description: 'The error in words, for people.' }),
})

export const logOutByProvider = operation({
  id: 'logOutByProvider',
  group: 'signOn',
  summary:
    'Ends sessions that ended at the identity provider (OpenID Connect Back-Channel Logout 1.0). The body is a form.',
  method: 'POST',
  path: `${folder}/backchannelLogout`,
  callers: [],
  answerTimeoutMs,
  takesForm: true,
  example: { logout_token: 'a JWT from the identity provider' },
  body: Type.Object({
    logout_token: Type.Optional(
      Type.Unknown({ [shownKey]: Type.String(), description: 'The logout token of the provider; required.' }),
    ),
  }),
  data: Type.Object({}),
  beside: { answer: Type.Object({}), refusal: OAuthError },
  refusals: ['signOnOff'],
})

export const unlinkSignOn = operation({
  id: 'unlinkSignOn',
  group: 'signOn',
  summary: 'Unlinks your own account from the identity provider. Admins can unlink any account.',
  words: { en: 'Unlink single sign-on', zh: '解除单点登录关联' },
  method: 'POST',
  path: `${folder}/unlink`,
  callers: ['operator'],
  roles: everyRole,
  asksProof: true,
  body: Type.Object({ id: optional(integer()) }),
  data: OperatorRecord,
  refusals: ['operatorNotFound', 'managedBySignOn'],
})
