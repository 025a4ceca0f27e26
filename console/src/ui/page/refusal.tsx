import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { ForecourtError } from '../../../../sdk/src/error.ts'
import { isOutage, noteTold, retryFailed } from '../../api/outages.ts'
import { useCommon } from '../../language/index.ts'
import { Button } from './button.tsx'
import { Loading } from './loading.tsx'
import { Result } from './result.tsx'

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
  const { status = 0 } = known ?? {}
  // Every response of the service has a code; one without comes from a program on the way to it.
  const isForeign = status !== 0 && !known?.code
  const details = [
    known?.code ? t('code', { code: known.code }) : '',
    known?.requestId ? t('requestId', { id: known.requestId }) : '',
  ].filter((part) => part !== '')
  return {
    message: status === 0 ? t('noAnswer') : isForeign ? t('foreignAnswer', { status }) : (known?.reason ?? ''),
    details: details.join(' · '),
    errors: known?.errors ?? [],
  }
}

/** Notes that an error is shown, so that it is not told twice. */
export function useTold(error: RefusalProps['error']): void {
  useEffect(() => {
    if (error != null) noteTold(error)
  }, [error])
}

/** A refusal instead of a whole page or table. */
export function RefusalResult({ error, retry }: RefusalProps) {
  const t = useCommon()
  const { message, details } = useWords(error)
  const queries = useQueryClient()
  useTold(error)
  const again = retry ?? (isOutage(error) ? () => void retryFailed(queries) : undefined)
  const isForbidden = (error as Partial<ForecourtError> | null)?.code === 10003
  return (
    <Result
      status={isForbidden ? 'warning' : 'error'}
      title={isForbidden ? t('notPermitted') : message}
      subTitle={details}
      extra={again && <Button onClick={again}>{t('retry')}</Button>}
    />
  )
}

interface UnreadProps {
  error: ForecourtError | null
  refetch?: () => unknown
}

/** In place of what is not read yet, or can’t be: takes what `useRead` returns. */
export function Unread({ error, refetch }: UnreadProps) {
  if (error === null) return <Loading />
  return <RefusalResult error={error} {...(refetch && { retry: () => void refetch() })} />
}
