import type { FormInstance } from 'antd'
import type { ForecourtError } from '../../../src/sdk/client.ts'
import { RefusalAlert } from '../ui/refusal.tsx'
import { useTexts } from './texts.ts'

/** A refusal with what one can do about it, where its own words leave that open. */
export function Refused({ error }: { error: ForecourtError | null }) {
  const t = useTexts()
  const fieldNames = { name: t('name'), role: t('role'), password: t('password'), appIds: t('applications') }
  return (
    <>
      <RefusalAlert error={error} fieldNames={{ ...fieldNames, status: t('status'), expireTime: t('expireTime') }} />
      {error?.code === 10054 && <p>{t('lastAdminWords')}</p>}
    </>
  )
}

/** Marks the fields that a refusal is about. */
export function useMarking<Entered extends { name: string }>(form: FormInstance<Entered>): (refusal: unknown) => void {
  const t = useTexts()
  return (refusal) => {
    const { code, errors = [] } = refusal as ForecourtError
    const faults = code === 10051 ? [{ field: 'name', reason: t('nameTaken') }] : errors
    form.setFields(
      // A fault of a list's member is marked at the list.
      faults.map(({ field, reason }) => ({ name: field.replace(/\[.*/, ''), errors: [reason] })) as never,
    )
  }
}
