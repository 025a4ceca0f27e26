// As much of oidc-provider as the tests use: the package brings no types.
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  export default class Provider {
    constructor(issuer: string, options: object)
    callback(): RequestListener
  }
}
