import * as oauth from 'oauth4webapi'

/** The provider does not respond, or not as a provider must. The message is for the log. */
export class ProviderAway extends Error {}

/**
 * The browser or the provider brought back something that does not belong to the request. The message is for the log.
 */
export class SignOnFault extends Error {}

/** The libraries' errors for a response that no provider may send. */
const notConform: unknown[] = [oauth.PARSE_ERROR, oauth.RESPONSE_IS_NOT_JSON, oauth.RESPONSE_IS_NOT_CONFORM]

/** What an error of the libraries means: `ProviderAway` or `SignOnFault`. */
export function faultOf(error: unknown): Error {
  const { name, message, code } = error as Error & { code?: unknown }
  const words =
    error instanceof oauth.AuthorizationResponseError ? ` (${error.error}: ${error.error_description ?? ''})` : ''
  return notConform.includes(code) ? new ProviderAway(message) : new SignOnFault(`${name}: ${message}${words}`)
}

/** What a provider calls itself whose discovery names another issuer. */
export function otherIssuerOf(error: unknown): string | undefined {
  const { code, cause } = error as { code?: unknown; cause?: { body?: { issuer?: unknown } } }
  return code === oauth.JSON_ATTRIBUTE_COMPARISON ? String(cause?.body?.issuer) : undefined
}

/** Runs a request to the provider; turns every failure into the provider's fault. */
export async function away<Answer>(run: () => Promise<Answer>): Promise<Answer> {
  try {
    return await run()
  } catch (error) {
    const cause = error instanceof Error ? error : new Error(String(error))
    throw new ProviderAway(`${cause.message}${cause.cause instanceof Error ? ` (${cause.cause.message})` : ''}`)
  }
}

/** Waits so long for what the provider is asked, all its answers together. Throws `ProviderAway` after that. */
export async function within<Answer>(milliseconds: number, asked: Promise<Answer>): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ProviderAway('the provider has not answered in time')), milliseconds)
  })
  try {
    return await Promise.race([asked, late])
  } finally {
    clearTimeout(timer)
  }
}
