import { useCommon } from '../../language/index.ts'
import { Button } from './button.tsx'
import { Note } from './note.tsx'
import { type RefusalProps, useTold, useWords } from './refusal.tsx'

/** Shows a refusal: the service's message, what to do, the faulty fields, the code and the request id. */
export function RefusalAlert({ error, retry, todo, fieldNames = {} }: RefusalProps & { todo?: string }) {
  const t = useCommon()
  const { message, details, errors } = useWords(error)
  useTold(error)
  // Without its proof an operation fails only if the person cancelled it.
  if (error === null || error === undefined || ('code' in error && error.code === 10035)) return null
  return (
    <Note type="error" words={message} action={retry && <Button onClick={retry}>{t('retry')}</Button>}>
      {todo && <p className="flush-above spaced-little">{todo}</p>}
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
    </Note>
  )
}
