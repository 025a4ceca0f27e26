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
      handOverTo: t('newOwner'),
    },
    faultsOf: ({ code, errors }: ForecourtError) =>
      code === 10051 ? [{ field: 'name', reason: t('nameTaken') }] : errors,
    advice: ({ code }: ForecourtError) => {
      if (code === 10054) return <p>{t('lastAdminWords')}</p>
      return code === 10065 && <p>{t('managedWords')}</p>
    },
  }
}
