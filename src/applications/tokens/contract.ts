import Type from 'typebox'
import { operation } from '../../vocabulary/operation.ts'
import { nullable, shownKey } from '../../vocabulary/values.ts'

const folder = '/api/auth/v1/oauth'

// RFC 6749 and RFC 7009 define these fields and their refusals, so the schema does not require them.
const credentials = {
  client_id: Type.Optional(
    Type.Unknown({ [shownKey]: nullable(Type.String()), description: 'The appId, unless it is sent by HTTP Basic.' }),
  ),
  client_secret: Type.Optional(
    Type.Unknown({
      [shownKey]: nullable(Type.String()),
      description: 'The appSecret, unless it is sent by HTTP Basic.',
    }),
  ),
}

/** The error object of RFC 6749 §5.2. */
const OAuthError = Type.Object({
  error: Type.String({ description: 'The OAuth error code, such as invalid_client.' }),
  error_description: Type.String({ description: 'The error message.' }),
})

export const issueToken = operation({
  id: 'issueToken',
  group: 'tokens',
  summary:
    'Issues an access token by OAuth 2.0 client credentials (RFC 6749 §4.4). The body is JSON or a form; the credentials are in the body or in HTTP Basic.',
  words: { en: 'Issue a token', zh: '签发令牌' },
  method: 'POST',
  path: `${folder}/token`,
  callers: [],
  body: Type.Object({
    grant_type: Type.Optional(
      Type.Unknown({
        [shownKey]: Type.Literal('client_credentials'),
        description: 'Always client_credentials; required.',
      }),
    ),
    ...credentials,
  }),
  example: { grant_type: 'client_credentials', client_id: 'eb5ffaabb88d8c09f000', client_secret: 'the appSecret' },
  data: Type.Object({
    accessToken: Type.String({ description: 'The token, to be sent as `Authorization: Bearer …`.' }),
    tokenType: Type.String({ [shownKey]: Type.Literal('Bearer'), description: 'Always Bearer.' }),
    expiresIn: Type.Integer({ description: 'Seconds until the token expires.' }),
  }),
  beside: {
    answer: Type.Object({
      access_token: Type.String({ description: 'The access token, under the name that OAuth libraries expect.' }),
      token_type: Type.String({ [shownKey]: Type.Literal('Bearer'), description: 'Always Bearer.' }),
      expires_in: Type.Integer({ description: 'Seconds until the token expires.' }),
    }),
    refusal: OAuthError,
  },
  refusals: ['clientInvalid', 'applicationFrozen'],
  takesForm: true,
})

export const revokeToken = operation({
  id: 'revokeToken',
  group: 'tokens',
  summary: 'Revokes an access token of the client (RFC 7009); it stops working within 1 second.',
  words: { en: 'Revoke a token', zh: '吊销令牌' },
  method: 'POST',
  path: `${folder}/revoke`,
  callers: [],
  body: Type.Object({
    token: Type.Optional(
      Type.Unknown({ [shownKey]: Type.String(), description: 'The access token to revoke; required.' }),
    ),
    ...credentials,
  }),
  example: { token: 'the access token', client_id: 'eb5ffaabb88d8c09f000', client_secret: 'the appSecret' },
  data: Type.Object({}),
  beside: { answer: Type.Object({}), refusal: OAuthError },
  refusals: ['clientInvalid'],
  takesForm: true,
})

const authMethods = Type.Array(Type.String({ examples: ['client_secret_basic'] }), {
  description: 'How a client sends its secret to the endpoint.',
})

export const getAuthorizationServer = operation({
  id: 'getAuthorizationServer',
  group: 'service',
  summary: 'Returns the OAuth authorization server metadata (RFC 8414).',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  callers: [],
  data: Type.Object({
    issuer: Type.String({
      description: 'The service’s address: from its settings, otherwise the one in the request.',
    }),
    token_endpoint: Type.String({ description: 'Where tokens are issued.' }),
    token_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint: Type.String({ description: 'Where tokens are revoked.' }),
    revocation_endpoint_auth_methods_supported: authMethods,
    grant_types_supported: Type.Array(Type.String({ examples: ['client_credentials'] }), {
      description: 'Always client_credentials.',
    }),
    response_types_supported: Type.Array(Type.String(), {
      examples: [[]],
      description: 'Always empty, because there is no sign-in by redirect.',
    }),
  }),
  refusals: [],
  answers: 'application/json',
})
