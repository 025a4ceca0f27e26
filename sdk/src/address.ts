/** Whether an address leads to this machine, so that nothing it carries can be read on the way. */
function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

/** Whether what is sent there could be read on its way. */
export const travelsOpenly = ({ protocol, hostname }: URL) => protocol === 'http:' && !isLoopback(hostname)

/**
 * The address of a service, without a slash at its end. Throws a `TypeError` that says what is wrong with it: secrets and
 * tokens go in plain text to no other machine unless `allowHttp` says so.
 */
export function readAddress(baseUrl: unknown, allowHttp: boolean): string {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(
      `baseUrl must be an address as https://forecourt.example.com; it is ${JSON.stringify(baseUrl)}.`,
    )
  }
  if (travelsOpenly(url) && !allowHttp) {
    throw new TypeError(
      `baseUrl is ${url.origin}, where secrets would travel in plain text: take https://, or set allowHttp: true where the network is trusted.`,
    )
  }
  return String(baseUrl).replace(/\/+$/, '')
}
