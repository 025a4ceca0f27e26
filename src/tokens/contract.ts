import Type from 'typebox'
import { operation } from '../http/operation.ts'

const folder = '/api/auth/v1/oauth'

// RFC 6749 and RFC 7009 name these members, so what is missing is told by their own refusals, not by the schema.
const credentials = {
  client_id: Type.Optional(Type.Unknown({ description: 'the appId; or by HTTP Basic' })),
  client_secret: Type.Optional(Type.Unknown({ description: 'the appSecret; or by HTTP Basic' })),
}

export const issueToken = operation({
  id: 'issueToken',
  summary: 'Issues an access token: OAuth 2.0 client credentials (RFC 6749 §4.4), JSON or form, body or HTTP Basic.',
  method: 'POST',
  path: `${folder}/token`,
  callers: [],
  body: Type.Object({ grant_type: Type.Optional(Type.Unknown({ description: 'client_credentials' })), ...credentials }),
  data: Type.Object({ accessToken: Type.String(), tokenType: Type.String(), expiresIn: Type.Integer() }),
  refusals: ['clientInvalid', 'applicationFrozen'],
  takesForm: true,
})

export const revokeToken = operation({
  id: 'revokeToken',
  summary: 'Revokes an access token of the client (RFC 7009); it stops working within 1 second.',
  method: 'POST',
  path: `${folder}/revoke`,
  callers: [],
  body: Type.Object({ token: Type.Optional(Type.Unknown()), ...credentials }),
  data: Type.Object({}),
  refusals: ['clientInvalid'],
  takesForm: true,
})

const authMethods = Type.Array(Type.String())

export const getAuthorizationServer = operation({
  id: 'getAuthorizationServer',
  summary: 'Answers where and how tokens are obtained (RFC 8414), with the address that the caller used.',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  callers: [],
  data: Type.Object({
    issuer: Type.String(),
    token_endpoint: Type.String(),
    token_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint: Type.String(),
    revocation_endpoint_auth_methods_supported: authMethods,
    grant_types_supported: Type.Array(Type.String()),
    response_types_supported: Type.Array(Type.String()),
  }),
  refusals: [],
  answers: 'application/json',
})
