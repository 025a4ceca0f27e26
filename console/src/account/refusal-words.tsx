import { ForecourtError } from '../../../sdk/src/error.ts'
import { refusals } from '../../../src/vocabulary/refusals.ts'
import { useLanguage } from '../language/index.ts'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'

/** Shows a refusal of which only the code is known, from an address: its sentence, and what to do. */
export function RefusalWords({ code, requestId }: { code: number; requestId: string }) {
  const language = useLanguage()
  // Anybody can write an address, so a code that no refusal has is shown as a sign-on that failed.
  const known = Object.values(refusals).find((refusal) => refusal.code === code) ?? refusals.signOnFailed
  const error = new ForecourtError(known[language], {
    code: known.code,
    status: known.status,
    operation: 'finishSignOn',
    requestId: /^[\w-]{1,128}$/.test(requestId) ? requestId : null,
  })
  return <RefusalAlert error={error} todo={known.todo[language].replaceAll('`', '')} />
}
