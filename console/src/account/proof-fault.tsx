import { ForecourtError } from '../../../sdk/src/error.ts'
import { Note } from '../ui/page/note.tsx'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { useTexts } from './texts.ts'

interface ProofFaultProps {
  error: Error | null | undefined
  fieldNames?: Record<string, string>
}

/** Shows why a proof was not accepted: the service's refusal, or the browser's error about a passkey. */
export function ProofFault({ error, fieldNames = {} }: ProofFaultProps) {
  const t = useTexts()
  if (error === null || error === undefined || error instanceof ForecourtError) {
    return <RefusalAlert error={error} fieldNames={fieldNames} />
  }
  const words =
    error.name === 'InvalidStateError'
      ? t('passkeyKnown')
      : error.name === 'SecurityError'
        ? t('passkeyNotHere', { host: location.host })
        : t('passkeyFailed')
  return <Note type="warning" words={words} />
}

/** Whether a refusal asks for the code of a second factor: it was not sent (10032), or is wrong (10033). */
export function asksForCode(refusal: unknown): boolean {
  return refusal instanceof ForecourtError && (refusal.code === 10032 || refusal.code === 10033)
}
