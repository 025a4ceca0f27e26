import { Button } from 'antd'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { Result } from './result.tsx'
import { useCommon } from './texts.ts'

export interface RefusalProps {
  error: ForecourtError | Error | null | undefined
  /** Repeats the request. */
  retry?: () => void
  /** The form's names of fields; a field without one is shown by its API name. */
  fieldNames?: Record<string, string>
}

/** The words of a refusal, and what identifies it. */
export function useWords(error: RefusalProps['error']) {
  const t = useCommon()
  const known = error as Partial<ForecourtError> | null | undefined
  const hasAnswer = known?.status !== undefined && known.status !== 0
  const details = [
    known?.code ? t('code', { code: known.code }) : '',
    known?.requestId ? t('requestId', { id: known.requestId }) : '',
  ].filter((part) => part !== '')
  return {
    message: hasAnswer ? (known?.reason ?? '') : t('noAnswer'),
    details: details.join(' · '),
    errors: known?.errors ?? [],
  }
}

/** A refusal instead of a whole page or table. */
export function RefusalResult({ error, retry }: RefusalProps) {
  const t = useCommon()
  const { message, details } = useWords(error)
  const isForbidden = (error as Partial<ForecourtError> | null)?.code === 10003
  return (
    <Result
      status={isForbidden ? 'warning' : 'error'}
      title={isForbidden ? t('notPermitted') : message}
      subTitle={details}
      extra={retry && <Button onClick={retry}>{t('retry')}</Button>}
    />
  )
}
