import { ForecourtError } from '../../../sdk/src/error.ts'
import { refusals } from '../../../src/vocabulary/refusals.ts'
import { useLanguage } from '../language/index.ts'
import { RefusalAlert } from '../ui/refusal.tsx'

/** A refusal of which only the code came, in an address: by its sentence, and what to do. */
export function RefusalWords({ code, requestId }: { code: number; requestId: string }) {
  const language = useLanguage()
  // An address is anybody's to write: of a code that no refusal has, only this much is known.
  const known = Object.values(refusals).find((refusal) => refusal.code === code) ?? refusals.signOnFailed
  const error = new ForecourtError(known[language], {
    code: known.code,
    status: known.status,
    operation: 'finishSignOn',
    requestId: /^[\w-]{1,128}$/.test(requestId) ? requestId : null,
  })
  return <RefusalAlert error={error} todo={known.todo[language].replaceAll('`', '')} />
}
