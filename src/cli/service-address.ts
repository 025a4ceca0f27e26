import { isLoopback } from '#sdk/address'
import { usageError } from '../runtime/user-error.ts'

/** What follows the address of the service in that of a page or an operation. A gateway may have its own `/api/…`. */
const ownPath = /\/+(console|docs|api\/(auth|bulk|charging|device|event|platform|region))(\/.*)?$|\/+api\/*$/

/** As people paste it, for example without `http://`. Removes a slash at the end. Throws `UserError`. */
export function readServiceAddress(given: string): string {
  const url = parse(given.trim())
  if (url.username !== '' || url.password !== '') {
    throw usageError('the address of the service must not hold a user name or password')
  }
  const prefix = url.pathname.replace(ownPath, '')
  const isPage = prefix !== url.pathname
  if (!isPage && (url.search !== '' || url.hash !== '')) {
    throw usageError(
      `the address of the service must not hold a query or fragment: ${url.origin}${url.pathname} is meant?`,
    )
  }
  return url.origin + prefix.replace(/\/+$/, '')
}

function parse(text: string): URL {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return new URL(text)
  const isBare = /^[^\s/:@?#[\]\\]+(:\d+)?([/?#].*)?$|^\[[\da-f:.]+\](:\d+)?([/?#].*)?$/i.test(text)
  if (isBare && URL.canParse(`https://${text}`)) {
    const secure = new URL(`https://${text}`)
    if (isLoopback(secure.hostname)) return new URL(`http://${text}`)
    // A name with dots and letters, not an address of a private network, which has no certificate as a rule.
    if (/\.[a-z][\w-]*\.?$/i.test(secure.hostname)) return secure
  }
  const shown = text.includes('@') ? 'The address of the service' : `"${text}"`
  throw usageError(
    `${shown} isn’t a valid address; it must begin with http:// or https://, such as http://127.0.0.1:8080`,
  )
}
