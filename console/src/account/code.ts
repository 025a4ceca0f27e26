import { ForecourtError } from '../../../sdk/src/error.ts'

/** Whether a refusal asks for the code of a second factor: it was not sent (10032), or is wrong (10033). */
export function asksForCode(refusal: unknown): boolean {
  return refusal instanceof ForecourtError && (refusal.code === 10032 || refusal.code === 10033)
}
