import { Link } from 'react-router'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { paths } from '../paths.ts'
import { RefusalAlert } from '../ui/page/refusal-alert.tsx'
import { useTexts } from './texts.ts'

interface Props {
  appId: string
  error: ForecourtError | null | undefined
  fieldNames?: Record<string, string>
}

/** The refusal of a replay; if the application has no callback, with a link to its configuration. */
export function ReplayRefusal({ appId, error, fieldNames }: Props) {
  const t = useTexts()
  return (
    <>
      <RefusalAlert error={error} {...(fieldNames && { fieldNames })} />
      {error?.code === 10042 && (
        <p>
          {t('callbackMissing')} <Link to={paths.application(appId, 'callback')}>{t('toCallback')}</Link>
        </p>
      )}
    </>
  )
}
