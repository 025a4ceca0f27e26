import type { ForecourtError } from '../../../../sdk/src/error.ts'
import { Loading } from './loading.tsx'
import { RefusalResult } from './refusal.tsx'

interface UnreadProps {
  error: ForecourtError | null
  refetch?: () => unknown
}

/** In place of what is not read yet, or can’t be: takes what `useRead` returns. */
export function Unread({ error, refetch }: UnreadProps) {
  if (error === null) return <Loading />
  return <RefusalResult error={error} {...(refetch && { retry: () => void refetch() })} />
}
