import { Alert, Button } from 'antd'
import type { ForecourtError } from '../../../sdk/src/error.ts'
import { Result } from './result.tsx'
import { useCommon } from './texts.ts'

interface RefusalProps {
  error: ForecourtError | Error | null | undefined
  /** Repeats the request. */
  retry?: () => void
  /** The form's names of fields; a field without one is shown by its API name. */
  fieldNames?: Record<string, string>
}

function useWords(error: RefusalProps['error']) {
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

/** Shows a refusal: the service's message, what to do, the faulty fields, the code and the request id. */
export function RefusalAlert({ error, retry, todo, fieldNames = {} }: RefusalProps & { todo?: string }) {
  const t = useCommon()
  const { message, details, errors } = useWords(error)
  // Without its proof an operation fails only if the person cancelled it.
  if (error === null || error === undefined || ('code' in error && error.code === 10035)) return null
  return (
    <Alert
      type="error"
      showIcon
      role="alert"
      style={{ marginBottom: 16 }}
      title={message}
      description={
        <>
          {todo && <p style={{ margin: '0 0 4px' }}>{todo}</p>}
          {errors.length > 0 && (
            <ul style={{ margin: '0 0 4px', paddingInlineStart: 20 }}>
              {errors.map(({ field, reason }) => (
                <li key={field}>
                  <strong>{fieldNames[field] ?? field}</strong>: {reason}
                </li>
              ))}
            </ul>
          )}
          <span className="faint">{details}</span>
        </>
      }
      action={retry && <Button onClick={retry}>{t('retry')}</Button>}
    />
  )
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
