// The service's clock. A computer's own may be wrong by a day, and what the console shows and sends as “now” is compared
// with what the service wrote.

let offsetMs = 0

/** What a header in seconds and the way of the response leave open. Within it, the computer's own clock is finer. */
const exactToMs = 2_000

/** Notes the service's time from a response that has just arrived. */
export function noteTime({ headers }: Response): void {
  const sent = Date.parse(headers.get('date') ?? '')
  // A response without a request id comes from another program, whose clock may be another.
  if (Number.isNaN(sent) || !headers.has('x-request-id')) return
  const ahead = sent + 500 - Date.now()
  offsetMs = Math.abs(ahead) <= exactToMs ? 0 : ahead
}

/** The service's present time, in milliseconds since 1970, by a time of this computer or by its present one. */
export const serviceTime = (ofComputer = Date.now()): number => ofComputer + offsetMs

/** The service's present time. */
export const serviceNow = (): Date => new Date(serviceTime())
