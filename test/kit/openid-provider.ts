/// <reference path="./oidc-provider.d.ts" />
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenIdProvider from 'oidc-provider'
import { finishSignOn, logOutByProvider } from '../../src/people/sign-on/contract.ts'

// An independent provider (oidc-provider). It accepts everybody under the name that they enter, in the group `duty`.

async function listening(): Promise<{ server: Server; port: number }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, port: (server.address() as AddressInfo).port }
}

export interface OwnProvider {
  /** The address at which the service is to be reached. */
  publicUrl: string
  /** The service's settings. */
  env: Record<string, string>
  stop(): void
}

const secret = 'a secret of the client: with signs + and %'

/** Starts a provider, and finds a free port of this host for the service that signs people on there. */
export async function startOpenIdProvider(host = '127.0.0.1'): Promise<OwnProvider> {
  const [{ server, port }, own] = await Promise.all([listening(), listening()])
  own.server.close()
  const publicUrl = `http://${host}:${own.port}`
  const issuer = `http://127.0.0.1:${port}`
  const provider = new OpenIdProvider(issuer, {
    clients: [
      {
        client_id: 'forecourt',
        client_secret: secret,
        redirect_uris: [publicUrl + finishSignOn.path],
        backchannel_logout_uri: `http://127.0.0.1:${own.port}${logOutByProvider.path}`,
        backchannel_logout_session_required: true,
      },
    ],
    claims: { openid: ['sub'], profile: ['name', 'groups'] },
    cookies: { keys: ['a key of the cookies'] },
    features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true } },
    pkce: { required: () => true },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, name: `Person ${id}`, groups: [id.startsWith('stranger') ? 'none' : 'duty'] }),
    }),
  })
  server.on('request', provider.callback())
  return {
    publicUrl,
    env: {
      FORECOURT_PORT: String(own.port),
      FORECOURT_PUBLIC_URL: publicUrl,
      FORECOURT_OIDC_ISSUER: issuer,
      FORECOURT_OIDC_CLIENT_ID: 'forecourt',
      FORECOURT_OIDC_CLIENT_SECRET: secret,
      FORECOURT_OIDC_ROLES: 'operator=ops,duty',
    },
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
