/** Whether the host is this machine, so that no one can read the traffic on its way. */
export function isLoopback(hostname: string): boolean {
  return /^((.+\.)?localhost\.?|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

/** Whether requests to the address could be read on their way: plain HTTP to another machine. */
export const travelsOpenly = ({ protocol, hostname }: URL) => protocol === 'http:' && !isLoopback(hostname)

/**
 * Checks the address of a service, and returns it without a slash at its end. Throws a `TypeError` if it is not an
 * address, or if it would send secrets in plain text to another machine without `allowHttp`.
 */
export function readAddress(baseUrl: unknown, allowHttp: boolean): string {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      `baseUrl must be an address like https://forecourt.example.com, not ${JSON.stringify(baseUrl)}.`,
    )
  }
  // The paths of operations are put behind it.
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError(`baseUrl must not hold a user name, password, query or fragment: ${url.origin} is its address.`)
  }
  if (travelsOpenly(url) && !allowHttp) {
    throw new TypeError(
      `baseUrl is ${url.origin}, where secrets would travel in plain text: use https://, or set allowHttp: true if you trust the network.`,
    )
  }
  return url.origin + url.pathname.replace(/\/+$/, '')
}
