import * as oauth from 'oauth4webapi'
import { faultKind } from '../../vocabulary/faults.ts'

/** The provider does not respond, or not as a provider must. The message is for the log. */
export const providerAway = faultKind('providerAway')

/** The browser or the provider returned what does not belong to the request. The message is for the log. */
export const signOnFault = faultKind('signOn')

const notConform: unknown[] = [oauth.PARSE_ERROR, oauth.RESPONSE_IS_NOT_JSON, oauth.RESPONSE_IS_NOT_CONFORM]

export function faultOf(error: unknown): Error {
  const { name, message, code } = error as Error & { code?: unknown }
  const words =
    error instanceof oauth.AuthorizationResponseError ? ` (${error.error}: ${error.error_description ?? ''})` : ''
  return notConform.includes(code) ? providerAway(message) : signOnFault(`${name}: ${message}${words}`)
}

/** The issuer that discovery names, if it is another one. */
export function otherIssuerOf(error: unknown): string | undefined {
  const { code, cause } = error as { code?: unknown; cause?: { body?: { issuer?: unknown } } }
  return code === oauth.JSON_ATTRIBUTE_COMPARISON ? String(cause?.body?.issuer) : undefined
}

export async function away<Answer>(run: () => Promise<Answer>): Promise<Answer> {
  try {
    return await run()
  } catch (error) {
    const cause = error instanceof Error ? error : new Error(String(error))
    throw providerAway(`${cause.message}${cause.cause instanceof Error ? ` (${cause.cause.message})` : ''}`)
  }
}

/** The time is for all responses of the provider together. Throws `providerAway`. */
export async function within<Answer>(milliseconds: number, asked: Promise<Answer>): Promise<Answer> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(providerAway('the provider has not answered in time')), milliseconds)
  })
  try {
    return await Promise.race([asked, late])
  } finally {
    clearTimeout(timer)
  }
}
