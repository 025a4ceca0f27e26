import type { ForecourtError } from '../../../sdk/src/error.ts'
import { useTexts } from './texts.ts'

/** Shared by the forms of accounts and keys: the names of fields, and advice about refusals. */
export function useFrame() {
  const t = useTexts()
  return {
    fieldNames: {
      name: t('name'),
      role: t('role'),
      password: t('password'),
      appIds: t('applications'),
      status: t('status'),
      expireTime: t('expireTime'),
    },
    faultsOf: ({ code, errors }: ForecourtError) =>
      code === 10051 ? [{ field: 'name', reason: t('nameTaken') }] : errors,
    advice: ({ code }: ForecourtError) => code === 10054 && <p>{t('lastAdminWords')}</p>,
  }
}
